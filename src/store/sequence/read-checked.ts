import { createHash } from 'node:crypto';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectInfo, ObjectStore } from '../object-store.ts';

/** Reads one document. One wrong answer does not make the document corrupt: the corruption must be proven. */

export interface CorruptBytes {
  readonly error: AppError;
  /** SHA-256 of the bytes, in hex; null when the object is too large to be read. */
  readonly sha256: string | null;
  readonly etag: string;
}

/** The part of a sequence that reading one document needs. */
export interface ReadableSequence<T> {
  key(number: number): string;
  /** Returns a promise for large documents. @throws AppError `document_corrupt`, `document_newer` */
  parse(bytes: Uint8Array, number: number): T | Promise<T>;
  readonly documentBytesMax: number;
  /**
   * How far a document may be above the document from which it was made. A corrupt object that is further above the newest
   * readable document counts as garbage: an attacker can store an object under the highest number there is. Undefined:
   * no limit.
   */
  readonly reach?: number | undefined;
}

type Read<T> = { readonly document: T; readonly etag: string } | { readonly corrupt: CorruptBytes };

/** An object that the process has read. */
export interface ReadObject {
  readonly key: string;
  readonly etag: string;
}

interface RefusedDocument {
  readonly corrupt: CorruptBytes;
  /**
   * The refused document first, then other documents that led to its refusal. The refusal lasts until one of these
   * objects changes.
   */
  readonly objects: readonly ReadObject[];
  /** True when each document is sound by itself, but the documents do not continue the documents before them. */
  readonly isChain?: boolean;
}

/**
 * The documents that a process has refused, by key. A service reads a sequence every two seconds: a hostile document
 * of the largest size must cost one reading, and not one reading for each poll.
 */
export interface Refusals {
  get(key: string): RefusedDocument | undefined;
  note(refusal: RefusedDocument): void;
  /** Notes documents that do not continue the documents before them. */
  noteChain(objects: readonly ReadObject[], error: AppError): void;
}

/** No application uses more documents. Beyond this number, the process forgets the oldest refusal. */
const REFUSALS_MAX = 16_384;

export function createRefusals(): Refusals {
  const refusals = new Map<string, RefusedDocument>();
  const note: Refusals['note'] = (refusal) => {
    const [{ key } = { key: '' }] = refusal.objects;
    // Stores the error without its cause, because the cause may keep a part of the document in memory.
    const { code, message } = refusal.corrupt.error;
    const corrupt = { ...refusal.corrupt, error: new AppError(code, message) };
    refusals.delete(key);
    refusals.set(key, { ...refusal, corrupt });
    const [oldest] = refusals.keys();
    if (refusals.size > REFUSALS_MAX && oldest !== undefined) refusals.delete(oldest);
  };
  return {
    get: (key) => refusals.get(key),
    note,
    noteChain: (objects, error) => {
      const etag = objects[0]?.etag ?? '';
      note({ corrupt: { error, sha256: null, etag }, objects, isChain: true });
    },
  };
}

/** The bytes of one answer, and their problem. */
interface Suspect {
  readonly error: AppError;
  readonly etag: string | undefined;
  readonly size: number | undefined;
  readonly sha256: string | null;
}

/**
 * The number of further reads. They use new connections, on which a flipped bit or a truncated answer does not repeat.
 */
const READS_AGAIN = 2;

/**
 * Reads the document of a number; undefined when the number is free.
 *
 * @param refusals documents that the process refused before: it does not read them again while their ETag is the same
 * @returns `corrupt` only when two answers agree and the store's listing names the same object
 * @throws AppError `document_newer`, `root_missing`; `store_unavailable` when the store's answers contradict
 *   each other
 */
export async function readChecked<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  refusals?: Refusals,
): Promise<Read<T> | undefined> {
  const key = sequence.key(number);
  const known = refusals?.get(key);
  if (known !== undefined && (await isUnchanged(store, known))) return refused(known);
  const noted = (corrupt: CorruptBytes) => {
    const refusal = { corrupt, objects: [{ key, etag: corrupt.etag }] };
    refusals?.note(refusal);
    return refused(refusal);
  };
  const first = await readOnce(store, sequence, number);
  if (first === undefined || 'document' in first) return first;
  if ('unusable' in first) return noted({ error: first.unusable, sha256: null, etag: first.etag });
  let suspect = first;
  for (let again = 1; again <= READS_AGAIN; again++) {
    const next = await readOnce(store, sequence, number, suspect);
    if (next === undefined) throw contradiction(sequence, number);
    if ('document' in next) return next;
    if ('unusable' in next) return noted({ error: next.unusable, sha256: null, etag: next.etag });
    if (isSame(next, suspect)) return noted(await prove(store, sequence, number, next));
    suspect = next;
  }
  throw contradiction(sequence, number);
}

async function isUnchanged(store: ObjectStore, { objects }: RefusedDocument): Promise<boolean> {
  for (const { key, etag } of objects) {
    if ((await store.head(key))?.etag !== etag) return false;
  }
  return true;
}

/** @throws AppError the error of the refusal, unless the error proves that the document itself is corrupt */
function refused({ corrupt, isChain }: RefusedDocument): { readonly corrupt: CorruptBytes } {
  if (corrupt.error.code !== 'document_corrupt' || isChain === true) throw corrupt.error;
  return { corrupt };
}

/** @param before the previous answer; this call reads over a new connection, to confirm it */
async function readOnce<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  before?: Suspect,
): Promise<
  | { readonly document: T; readonly etag: string }
  | { readonly unusable: AppError; readonly etag: string }
  | Suspect
  | undefined
> {
  const key = sequence.key(number);
  let object: Awaited<ReturnType<ObjectStore['get']>>;
  try {
    const fresh = before !== undefined;
    object = await store.get(key, { bytesMax: sequence.documentBytesMax, fresh });
  } catch (error) {
    if (!isAppError(error, 'document_too_large')) throw error;
    const reason = `${key} is larger than the limit for its kind.`;
    const corrupt = new AppError('document_corrupt', reason, { cause: error });
    return { error: corrupt, etag: undefined, size: undefined, sha256: null };
  }
  if (object === undefined) return undefined;
  const { etag, body } = object;
  const suspect = (error: AppError) => {
    const sha256 = createHash('sha256').update(body).digest('hex');
    return { error, etag, size: body.length, sha256 };
  };
  // Does not parse equal bytes again, because parsing may take tenths of a second.
  if (before !== undefined && before.sha256 !== null) {
    const again = suspect(before.error);
    if (isSame(again, before)) return again;
  }
  try {
    return { document: await sequence.parse(body, number), etag };
  } catch (error) {
    if (isAppError(error) && isUnusable(error)) return { unusable: error, etag };
    if (!isAppError(error, 'document_corrupt')) throw error;
    return suspect(error);
  }
}

/**
 * True for the refusal of a sound document: this version of Slipway cannot read it, or the process lacks the root of
 * trust that verifies it.
 */
export function isUnusable(error: unknown): boolean {
  return isAppError(error, 'document_newer') || isAppError(error, 'root_missing');
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
): Promise<CorruptBytes> {
  const listed = await findListed(store, sequence.key(number));
  const agrees =
    listed !== undefined &&
    (size === undefined
      ? listed.size > sequence.documentBytesMax
      : listed.size === size && listed.etag === etag);
  if (!agrees) throw contradiction(sequence, number);
  return { error, sha256, etag: listed.etag };
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
