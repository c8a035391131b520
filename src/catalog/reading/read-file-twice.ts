import { createHash } from 'node:crypto';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';

/** The bytes of a stored file, as one read returned them. */
export interface FileRead<T> {
  /** Hex. */
  readonly sha256: string;
  readonly etag: string;
  /** The result of the caller's function for these bytes. */
  readonly value: T;
}

/**
 * Reads a stored file whose hash a manifest states. One wrong answer proves nothing: after a flipped bit or half a body,
 * it reads the file again over a new connection. The bytes are wrong only when both reads returned the same bytes.
 *
 * @param expected SHA-256 in hex
 * @param consume reads all chunks. It is called again for the second read, and begins anew
 * @returns undefined when the file is missing
 * @throws AppError `store_unavailable`, also when the two reads differ; `store_denied`; errors of `consume`
 */
export async function readFileTwice<T>(
  store: Pick<ObjectStore, 'read'>,
  { key, expected, signal }: { key: string; expected: string; signal?: AbortSignal },
  consume: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<FileRead<T> | undefined> {
  const readOnce = async (fresh: boolean): Promise<FileRead<T> | undefined> => {
    const object = await store.read(key, { fresh, signal });
    if (object === undefined) return undefined;
    const hash = createHash('sha256');
    const value = await consume(hashing(object.stream, hash));
    return { sha256: hash.digest('hex'), etag: object.etag, value };
  };
  const first = await readOnce(false).catch((error: unknown) => {
    if (signal?.aborted === true || !isAppError(error, 'store_unavailable')) throw error;
    return 'broken' as const;
  });
  if (first !== 'broken' && (first === undefined || first.sha256 === expected)) return first;
  const second = await readOnce(true);
  if (second === undefined || second.sha256 === expected) return second;
  if (first !== 'broken' && second.sha256 === first.sha256 && second.etag === first.etag) {
    return second;
  }
  throw new AppError(
    'store_unavailable',
    `Two reads of ${key} returned different bytes, so neither is used.`,
  );
}

async function* hashing(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}
