import { createHash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { CARRIED_BYTES_MAX, type CarriedDocument } from '../../domain/carried-document.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { createRetrying } from '../../store/sequence/create-settled.ts';
import type { Refusals } from '../../store/sequence/read-checked.ts';
import { readDocument } from '../../store/sequence/sequence.ts';
import { artifactKey, carriedObject } from '../documents/keys.ts';
import { hashObject, REUSE_AGE_MAX_MS, readStoreTime } from './artifact-upload.ts';

/** Stores and reads the documents that publishers signed. */

/** A document that a publisher wants to store. */
export interface SignedDocument extends Pick<CarriedDocument, 'name' | 'size' | 'sha256'> {
  readonly bytes: Uint8Array;
}

/** The most uploads under one name. Each upload of other bytes takes one number. */
const UPLOADS_MAX = 1_000;

/**
 * Stores a document unless its bytes are in the store. As with artifacts, the publisher reuses an object that no
 * manifest names only while the object is young: `gc` may be deleting an older object.
 *
 * @param named the documents that manifests of the version name
 * @returns the object, relative to the application
 * @throws AppError `store_unavailable`, `store_denied`, `store_full`
 */
export async function ensureCarried(
  deps: AppendDeps,
  application: string,
  version: string,
  document: SignedDocument,
  named: readonly CarriedDocument[],
): Promise<string> {
  const { name, bytes, sha256 } = document;
  const known = new Set(named.map(({ object }) => object));
  for (let n = 1; n <= UPLOADS_MAX; n++) {
    const object = carriedObject(version, n, name);
    const key = artifactKey(application, object);
    if ((await createRetrying(deps, key, bytes)) === 'created') return object;
    const stored = await deps.store.head(key);
    if (stored === undefined) continue;
    const isSafe =
      known.has(object) ||
      (await readStoreTime(deps)) - stored.lastModified.getTime() < REUSE_AGE_MAX_MS;
    if (isSafe && (await hashObject(deps, key, sha256)) === sha256) return object;
  }
  throw new AppError(
    'store_unavailable',
    `${application} ${version} has ${UPLOADS_MAX} uploads of ${name}. gc deletes unused uploads after 7 days: run "slipway gc" then, or publish a new version.`,
  );
}

/**
 * Reads a document that a manifest names, and checks its bytes.
 *
 * @throws AppError `document_corrupt` when the document is missing or has other bytes; `store_unavailable`,
 *   `store_denied`
 */
export async function readCarried(
  store: ObjectStore,
  application: string,
  { object, sha256 }: Pick<CarriedDocument, 'object' | 'sha256'>,
  refusals?: Refusals,
): Promise<Uint8Array> {
  const key = artifactKey(application, object);
  const parse = (bytes: Uint8Array): Uint8Array => {
    if (isCarriedDocument(bytes, sha256)) return bytes;
    throw new AppError('document_corrupt', `${key} has other bytes than its manifest states.`);
  };
  const readable = { key: () => key, documentBytesMax: CARRIED_BYTES_MAX, parse };
  // Ignores a refusal of bytes that have the hash stated here: they were refused for a manifest that states another
  // hash.
  const isOther = refusals?.get(key)?.corrupt.sha256 !== sha256;
  const stored = await readDocument(store, readable, 1, isOther ? refusals : undefined);
  if (stored === undefined) throw new AppError('document_corrupt', `${key} is missing.`);
  return stored;
}

/** @param sha256 hex */
export function isCarriedDocument(bytes: Uint8Array, sha256: string): boolean {
  return createHash('sha256').update(bytes).digest('hex') === sha256;
}
