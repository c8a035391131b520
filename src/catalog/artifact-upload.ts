import { createHash } from 'node:crypto';
import type { Artifact } from '../domain/release.ts';
import { AppError, isAppError } from '../errors.ts';
import { createFileSource } from '../object-store/file-source.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { artifactKey, artifactObject, clockKey } from './keys.ts';
import type { ReaderDeps } from './read.ts';

/** Bytes into the store, by content; and what of them may be relied on. */

/** A publisher relies on an upload that no manifest names only while `gc` is a week from touching it. */
export const REUSE_AGE_MAX_MS = 24 * 3_600_000;

export interface UploadedFile {
  /** Where it is on disk. */
  readonly path: string;
  /** The name it is published under. */
  readonly filename: string;
  /** Hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Makes sure that a file's bytes are in the store, and names the object.
 *
 * An object that a manifest names is never removed and is used again. One that none names is used only
 * while it is young: an older one may be on its way out, so the bytes go under a fresh key.
 *
 * @param named objects that a manifest of the release names
 */
export async function ensureUploaded(
  deps: AppendDeps,
  application: string,
  file: UploadedFile,
  named: readonly Pick<Artifact, 'filename' | 'sha256' | 'object'>[],
  onProgress: (bytesDone: number) => void,
): Promise<{ readonly object: string; readonly uploaded: boolean }> {
  const known = named.find((a) => a.sha256 === file.sha256 && a.filename === file.filename);
  const object = known?.object ?? artifactObject(file.sha256, file.filename);
  const stored = await deps.store.head(artifactKey(application, object));
  if (stored === undefined) {
    return upload(deps, application, object, file, onProgress);
  }
  if (stored.size === file.size) {
    const reusable =
      known !== undefined ||
      (await readStoreTime(deps)) - stored.lastModified.getTime() < REUSE_AGE_MAX_MS;
    // A file of the right size may have been altered: publishing again replaces it.
    if (reusable && (await isIntact(deps, artifactKey(application, object), file.sha256))) {
      onProgress(file.size);
      return { object, uploaded: false };
    }
  }
  const fresh = deps.randomness.id().replaceAll('-', '').slice(0, 8);
  return upload(
    deps,
    application,
    artifactObject(file.sha256, file.filename, fresh),
    file,
    onProgress,
  );
}

async function upload(
  deps: AppendDeps,
  application: string,
  object: string,
  file: UploadedFile,
  onProgress: (bytesDone: number) => void,
): Promise<{ readonly object: string; readonly uploaded: boolean }> {
  const key = artifactKey(application, object);
  const outcome = await deps.store.upload(key, createFileSource(file), { onProgress });
  // Another publisher of the same bytes may have been quicker.
  const stored = outcome === 'created' ? undefined : await deps.store.head(key);
  if (stored !== undefined && stored.size !== file.size) {
    throw new AppError(
      'artifact_mismatch',
      `${key} holds ${stored.size} bytes where ${file.size} belong. Publish again to upload under a fresh key.`,
    );
  }
  return { object, uploaded: outcome === 'created' };
}

/** False also when it was removed at this moment: a gc has come to it first. */
async function isIntact(deps: ReaderDeps, key: string, sha256: string): Promise<boolean> {
  return hashObject(deps, key).then(
    (stored) => stored === sha256,
    (error: unknown) => {
      if (isAppError(error, 'artifact_mismatch')) return false;
      throw error;
    },
  );
}

/**
 * The SHA-256 of a stored object's bytes, in hex, read in bounded memory.
 *
 * @throws AppError `artifact_mismatch` when it is missing
 */
export async function hashObject({ store }: ReaderDeps, key: string): Promise<string> {
  const object = await store.read(key);
  if (object === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  const hash = createHash('sha256');
  for await (const chunk of object.stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/**
 * The store's time, in milliseconds since the epoch: ages of objects are told by its clock, since a
 * publisher's own may be wrong.
 */
export async function readStoreTime(deps: AppendDeps): Promise<number> {
  const key = clockKey(deps.randomness.id());
  await deps.store.create(key, new Uint8Array([0]));
  const info = await deps.store.head(key);
  await deps.store.delete(key);
  if (info === undefined) {
    throw new AppError('store_unavailable', `${key} was written and then not found.`);
  }
  return info.lastModified.getTime();
}
