import { createHash } from 'node:crypto';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectInfo, ObjectStore } from '../object-store/object-store.ts';

/** Reading one document. One wrong answer does not make it corrupt: corruption must be proven. */

export interface CorruptBytes {
  readonly error: AppError;
  /** Hex; null when the object is too large to be read. */
  readonly sha256: string | null;
  readonly etag: string;
}

/** What reading one document needs of a sequence. */
export interface ReadableSequence<T> {
  key(number: number): string;
  /** Returns a promise for large documents. @throws AppError `document_corrupt`, `document_newer` */
  parse(bytes: Uint8Array, number: number): T | Promise<T>;
  readonly documentBytesMax: number;
}

type Read<T> = { readonly document: T } | { readonly corrupt: CorruptBytes };

/** The bytes of one answer, and their problem. */
interface Suspect {
  readonly error: AppError;
  readonly etag: string | undefined;
  readonly size: number | undefined;
  readonly sha256: string | null;
}

/** Reads over new connections, on which a flipped bit or a truncated answer does not repeat. */
const READS_AGAIN = 2;

/**
 * Reads the document of a number; undefined when the number is free.
 *
 * @param provenEtag the ETag of bytes that were proven corrupt before
 * @returns `corrupt` only when two answers agree and the store's listing names the same object
 * @throws AppError `document_newer`; `store_unavailable` when the store's answers contradict each other
 */
export async function readChecked<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  provenEtag?: string,
): Promise<Read<T> | undefined> {
  const first = await readOnce(store, sequence, number, false);
  if (first === undefined || 'document' in first) return first;
  if (provenEtag !== undefined && first.etag === provenEtag) {
    return { corrupt: { ...first, etag: provenEtag } };
  }
  let suspect = first;
  for (let again = 1; again <= READS_AGAIN; again++) {
    const next = await readOnce(store, sequence, number, true);
    if (next === undefined) throw contradiction(sequence, number);
    if ('document' in next) return next;
    if (isSame(next, suspect)) return prove(store, sequence, number, next);
    suspect = next;
  }
  throw contradiction(sequence, number);
}

async function readOnce<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  fresh: boolean,
): Promise<{ readonly document: T } | Suspect | undefined> {
  const key = sequence.key(number);
  let object: Awaited<ReturnType<ObjectStore['get']>>;
  try {
    object = await store.get(key, { bytesMax: sequence.documentBytesMax, fresh });
  } catch (error) {
    if (!isAppError(error, 'document_too_large')) throw error;
    const reason = `${key} is larger than the limit for its kind.`;
    const corrupt = new AppError('document_corrupt', reason, { cause: error });
    return { error: corrupt, etag: undefined, size: undefined, sha256: null };
  }
  if (object === undefined) return undefined;
  try {
    return { document: await sequence.parse(object.body, number) };
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    const { etag, body } = object;
    const sha256 = createHash('sha256').update(body).digest('hex');
    return { error, etag, size: body.length, sha256 };
  }
}

function isSame(a: Suspect, b: Suspect): boolean {
  return a.sha256 === b.sha256 && a.etag === b.etag && a.size === b.size;
}

/** Compares the bytes with the store's listing, which is another answer about the same object. */
async function prove<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  { error, etag, size, sha256 }: Suspect,
): Promise<Read<T>> {
  const listed = await findListed(store, sequence.key(number));
  const agrees =
    listed !== undefined &&
    (size === undefined
      ? listed.size > sequence.documentBytesMax
      : listed.size === size && listed.etag === etag);
  if (!agrees) throw contradiction(sequence, number);
  return { corrupt: { error, sha256, etag: listed.etag } };
}

async function findListed(store: ObjectStore, key: string): Promise<ObjectInfo | undefined> {
  for await (const info of store.list(key)) {
    if (info.key === key) return info;
  }
  return undefined;
}

function contradiction<T>(sequence: ReadableSequence<T>, number: number): AppError {
  return new AppError(
    'store_unavailable',
    `The store's answers about ${sequence.key(number)} contradict each other, so they are not used. Try again. If this continues, look for a proxy or a cache between this process and the store.`,
  );
}
