import { findGarbage, GARBAGE_AGE_MIN_MS } from '../catalog/garbage.ts';
import { readApplications } from '../catalog/read.ts';
import type { ObjectInfo } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';

export interface GarbageResult {
  readonly application: string;
  readonly objects: readonly ObjectInfo[];
  readonly bytes: number;
}

export interface GarbageRequest {
  /** Undefined: every application. */
  readonly application: string | undefined;
  /** Only says what would be removed. */
  readonly dryRun: boolean;
  /** Shorter than a week in tests only: publishers count on it. */
  readonly ageMinMs?: number;
}

/**
 * Removes artifacts that no manifest names and that are old enough for no publisher to be about to.
 *
 * @throws AppError `document_corrupt` when a manifest is unreadable; nothing of its application is removed
 */
export async function collectGarbage(
  deps: AppendDeps,
  request: GarbageRequest,
): Promise<{ readonly results: readonly GarbageResult[]; readonly abandonedUploads: number }> {
  const applications =
    request.application === undefined ? await readApplications(deps) : [request.application];
  const ageMinMs = request.ageMinMs ?? GARBAGE_AGE_MIN_MS;
  const results: GarbageResult[] = [];
  for (const application of applications) {
    const objects = await findGarbage(deps, application, ageMinMs);
    if (!request.dryRun) for (const object of objects) await remove(deps, object);
    const bytes = objects.reduce((sum, { size }) => sum + size, 0);
    results.push({ application, objects, bytes });
  }
  const before = new Date(deps.clock.now() - ageMinMs);
  const abandonedUploads = request.dryRun ? 0 : await deps.store.removeAbandonedUploads(before);
  return { results, abandonedUploads };
}

/** Unless it is not the object that was found any more: another gc removed that, a publisher came back. */
async function remove({ store }: AppendDeps, found: ObjectInfo): Promise<void> {
  const stored = await store.head(found.key);
  if (stored?.lastModified.getTime() !== found.lastModified.getTime()) return;
  await store.delete(found.key);
}
