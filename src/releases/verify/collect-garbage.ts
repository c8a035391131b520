import { artifactsPrefix } from '../../catalog/documents/keys.ts';
import { type ReaderDeps, readApplications, readRevision } from '../../catalog/reading/read.ts';
import { unknownApplication } from '../../catalog/reading/unknown-release.ts';
import { readStoreTime } from '../../catalog/writing/artifact-upload.ts';
import { refuseWithoutRoot } from '../../catalog/writing/change.ts';
import {
  findGarbage,
  GARBAGE_AGE_MIN_MS,
  KEPT_OUT_AGE_MIN_MS,
} from '../../catalog/writing/garbage.ts';
import { isAppError } from '../../core/errors.ts';
import type { ObjectInfo } from '../../store/object-store.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';

type GarbageDeps = AppendDeps & Pick<ReaderDeps, 'trust'>;

interface GarbageResult {
  readonly application: string;
  readonly objects: readonly ObjectInfo[];
  readonly bytes: number;
  /** Says why nothing was removed, and what to do; undefined when the unused objects are known. */
  readonly refusal: string | undefined;
}

interface GarbageRequest {
  /** Undefined: every application. */
  readonly application: string | undefined;
  /** Default: a week. Only tests set a shorter age, because publishers rely on their uploads for a day. */
  readonly ageMinMs?: number;
}

/**
 * Removes artifacts that no manifest names and that are so old that no running publish will name them. Also removes the
 * artifacts of releases that every channel kept out long ago.
 *
 * When an application has a corrupt document, or is signed and its root of trust is not installed here, the command
 * removes nothing of it, and continues with the next application.
 *
 * @throws AppError `unknown_application`
 */
export async function collectGarbage(
  deps: GarbageDeps,
  request: GarbageRequest,
): Promise<{ readonly results: readonly GarbageResult[]; readonly abandonedUploads: number }> {
  const applications =
    request.application === undefined
      ? await readApplications(deps)
      : [await knownApplication(deps, request.application)];
  const ageMinMs = request.ageMinMs ?? GARBAGE_AGE_MIN_MS;
  // Uses the store's clock, because the clock of this machine may be wrong.
  const now = await readStoreTime(deps);
  const limits = {
    storedBefore: new Date(now - ageMinMs),
    keptOutBefore: new Date(now - KEPT_OUT_AGE_MIN_MS),
  };
  const results: GarbageResult[] = [];
  for (const application of applications) {
    results.push(await collectOf(deps, application, limits));
  }
  const abandonedUploads = await deps.store.removeAbandonedUploads(limits.storedBefore);
  return { results, abandonedUploads };
}

/** Also accepts an application that is not listed and has uploads: its first publish may have been interrupted. */
async function knownApplication(deps: GarbageDeps, application: string): Promise<string> {
  if ((await readApplications(deps)).includes(application)) return application;
  for await (const _ of deps.store.list(artifactsPrefix(application))) return application;
  throw await unknownApplication(deps, application);
}

async function collectOf(
  deps: GarbageDeps,
  application: string,
  limits: Parameters<typeof findGarbage>[2],
): Promise<GarbageResult> {
  try {
    if (deps.trust?.withoutRoot(application) !== undefined) {
      await refuseWithoutRoot(deps, application, await readRevision(deps, application));
    }
    const objects = await findGarbage(deps, application, limits);
    for (const object of objects) await remove(deps, object);
    const bytes = objects.reduce((sum, { size }) => sum + size, 0);
    return { application, objects, bytes, refusal: undefined };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return { application, objects: [], bytes: 0, refusal };
  }
}

function refusalOf(error: unknown): string | undefined {
  if (isAppError(error, 'root_missing')) return error.message;
  if (isAppError(error) && error.kind === 'corrupt')
    return `${error.message} Run "slipway verify".`;
  return undefined;
}

/**
 * Keeps an object that changed after the search: another gc may have removed it, and a publisher may have uploaded it
 * again.
 */
async function remove({ store }: AppendDeps, found: ObjectInfo): Promise<void> {
  const stored = await store.head(found.key);
  if (stored?.lastModified.getTime() !== found.lastModified.getTime()) return;
  await store.delete(found.key);
}
