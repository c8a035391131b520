import { AppError, isAppError } from '../errors.ts';
import type { ObjectInfo } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { readDocument } from '../sequence/sequence.ts';
import { readStoreTime } from './artifact-upload.ts';
import { artifactKey, artifactsPrefix, parseManifestKey, releasesPrefix } from './keys.ts';
import { manifestSequence } from './sequences.ts';

/** Artifacts that no manifest names: what interrupted publishes leave behind. */

/** A publisher may still commit an upload for a day; the rest is margin. */
export const GARBAGE_AGE_MIN_MS = 7 * 24 * 3_600_000;

/**
 * The application's unnamed artifacts older than `ageMinMs` by the store's clock.
 *
 * Artifacts are listed before manifests are read, so that a manifest made meanwhile can only name more.
 *
 * @throws AppError `document_corrupt` when a manifest cannot be read: what it names is then unknown, and
 *   nothing may be removed
 */
export async function findGarbage(
  deps: AppendDeps,
  application: string,
  ageMinMs = GARBAGE_AGE_MIN_MS,
): Promise<readonly ObjectInfo[]> {
  const before = (await readStoreTime(deps)) - ageMinMs;
  const old: ObjectInfo[] = [];
  for await (const object of deps.store.list(artifactsPrefix(application))) {
    if (object.lastModified.getTime() < before) old.push(object);
  }
  if (old.length === 0) return [];
  const named = await findNamed(deps, application);
  return old.filter((object) => !named.has(object.key));
}

async function findNamed(deps: AppendDeps, application: string): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for await (const { key } of deps.store.list(releasesPrefix(application))) {
    const at = parseManifestKey(application, key);
    if (at === undefined) continue;
    const manifest = await readManifestOrStop(deps, application, at);
    for (const artifact of manifest.signed.artifacts) {
      for (const file of [artifact, ...artifact.companions]) {
        named.add(artifactKey(application, file.object));
      }
    }
  }
  return named;
}

async function readManifestOrStop(
  deps: AppendDeps,
  application: string,
  at: { version: string; number: number },
) {
  const sequence = manifestSequence(application, at.version);
  try {
    const manifest = await readDocument(deps.store, sequence, at.number);
    if (manifest !== undefined) return manifest;
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    throw new AppError(
      'document_corrupt',
      `${error.message} What it names cannot be known, so nothing of ${application} is removed.`,
      { cause: error },
    );
  }
  throw new AppError('document_corrupt', `${sequence.key(at.number)} vanished while it was read.`);
}
