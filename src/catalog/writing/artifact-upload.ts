import { AppError, isAppError } from '../../core/errors.ts';
import type { Artifact } from '../../domain/release.ts';
import { createBytesSource, createFileSource } from '../../store/file-source.ts';
import type { UploadOptions } from '../../store/object-store.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { artifactKey, artifactObject, clockKey } from '../documents/keys.ts';
import type { ReaderDeps } from '../reading/read.ts';
import { readFileTwice } from '../reading/read-file-twice.ts';

/** Uploads artifacts. It stores them by content, and uses a stored artifact again where that is safe. */

/** A publisher reuses an upload that no manifest names only within this time: `gc` deletes it after a week. */
export const REUSE_AGE_MAX_MS = 24 * 3_600_000;

interface UploadedFile {
  /** The path of the file on disk, or its bytes when they are in no file. */
  readonly content: string | Uint8Array;
  /** The name under which the file is published. */
  readonly filename: string;
  /** Hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

interface Uploaded {
  /** Relative to the application. */
  readonly object: string;
  /** True when this call uploaded it. */
  readonly uploaded: boolean;
}

/**
 * Uploads a file unless its bytes are in the store.
 *
 * `gc` never deletes an object that a manifest names, so the publisher reuses such an object. The publisher reuses an
 * object that no manifest names only while the object is young: `gc` may be deleting an older object, so the publisher
 * uploads the bytes under a fresh key.
 *
 * @param named the artifacts that a manifest of the release names
 * @throws AppError `artifact_mismatch`, `store_unavailable`, `store_denied`
 */
export async function ensureUploaded(
  deps: AppendDeps,
  application: string,
  file: UploadedFile,
  named: readonly Pick<Artifact, 'filename' | 'sha256' | 'object'>[],
  options: UploadOptions,
): Promise<Uploaded> {
  const known = named.find((a) => a.sha256 === file.sha256 && a.filename === file.filename);
  const object = known?.object ?? artifactObject(file.sha256, file.filename);
  // A named object is usually in the store, so the publisher looks for it first. Any other object is usually missing, so
  // the publisher uploads at once. The upload creates nothing when the object exists.
  if (known === undefined && (await send(deps, application, object, file, options)) === 'created') {
    return { object, uploaded: true };
  }
  const stored = await deps.store.head(artifactKey(application, object));
  // An object that the upload has just met and that is missing now is being deleted: a fresh key is safe.
  if (stored === undefined && known !== undefined) {
    return upload(deps, application, object, file, options);
  }
  if (stored?.size === file.size) {
    const reusable =
      known !== undefined ||
      (await readStoreTime(deps)) - stored.lastModified.getTime() < REUSE_AGE_MAX_MS;
    // Someone may have altered a file and kept its size: then this publish uploads the file anew.
    if (reusable && (await isIntact(deps, artifactKey(application, object), file.sha256))) {
      options.onProgress?.(file.size);
      return { object, uploaded: false };
    }
  }
  const fresh = deps.randomness.id().replaceAll('-', '').slice(0, 8);
  return upload(
    deps,
    application,
    artifactObject(file.sha256, file.filename, fresh),
    file,
    options,
  );
}

async function upload(
  deps: AppendDeps,
  application: string,
  object: string,
  file: UploadedFile,
  options: UploadOptions,
): Promise<Uploaded> {
  const key = artifactKey(application, object);
  const outcome = await send(deps, application, object, file, options);
  // Another publisher of the same bytes may have been first, or the store's answer to this upload was lost.
  if (outcome === 'exists' && !(await isIntact(deps, key, file.sha256))) {
    throw new AppError(
      'artifact_mismatch',
      `${key} has other bytes than the file. Publish again to upload under a fresh key.`,
    );
  }
  return { object, uploaded: outcome === 'created' };
}

function send(
  { store }: ReaderDeps,
  application: string,
  object: string,
  { content, size, sha256 }: UploadedFile,
  options: UploadOptions,
): Promise<'created' | 'exists'> {
  const source =
    typeof content === 'string'
      ? createFileSource({ path: content, size, sha256 })
      : createBytesSource(content, sha256);
  return store.upload(artifactKey(application, object), source, options);
}

/** False also when `gc` has just deleted the object. */
async function isIntact(deps: ReaderDeps, key: string, sha256: string): Promise<boolean> {
  return hashObject(deps, key, sha256).then(
    (stored) => stored === sha256,
    (error: unknown) => {
      if (isAppError(error, 'artifact_mismatch')) return false;
      throw error;
    },
  );
}

interface Hasher {
  update(chunk: Uint8Array): unknown;
}

/**
 * Computes the SHA-256 of a stored file, in hex. Reads it in pieces, so it needs little memory, and again when the bytes
 * are not the expected ones: see {@link readFileTwice}.
 *
 * @param expected SHA-256 in hex, as a manifest states it
 * @param makeOthers makes further hashes, which get the same bytes. Each read of the file begins with new
 *   hashes, and only the hashes of the last read count
 * @throws AppError `artifact_mismatch` when the object is missing; `store_unavailable`, `store_denied`
 */
export async function hashObject(
  { store }: ReaderDeps,
  key: string,
  expected: string,
  makeOthers: () => readonly Hasher[] = () => [],
): Promise<string> {
  const read = await readFileTwice(store, { key, expected }, async (chunks) => {
    const others = makeOthers();
    for await (const chunk of chunks) for (const each of others) each.update(chunk);
  });
  if (read === undefined) throw new AppError('artifact_mismatch', `${key} is missing.`);
  return read.sha256;
}

/**
 * Reads the store's clock, in milliseconds since the epoch. Publishers measure the ages of objects by the store's
 * clock, because their own clock may be wrong.
 */
export async function readStoreTime(deps: AppendDeps): Promise<number> {
  const key = clockKey(deps.randomness.id());
  await deps.store.create(key, new Uint8Array([0]));
  const info = await deps.store.head(key);
  await deps.store.delete(key);
  if (info === undefined) {
    throw new AppError('store_unavailable', `${key} was written, and then not found.`);
  }
  return info.lastModified.getTime();
}
