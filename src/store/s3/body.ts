import { Readable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { checkCeiling } from '../range.ts';

/** Reads a body of at most `bytesMax` bytes into memory. @param progressMs the longest pause between two chunks */
export async function readBody(
  body: unknown,
  key: string,
  length: number | undefined,
  bytesMax: number | undefined,
  progressMs: number,
): Promise<Uint8Array> {
  const source = asReadable(body);
  const stream = guardBody(source, progressMs, (error) => error);
  try {
    checkCeiling(key, length ?? 0, bytesMax);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of stream) {
      chunks.push(chunk);
      bytes += chunk.length;
      checkCeiling(key, bytes, bytesMax);
    }
    if (length !== undefined && bytes !== length) {
      throw new AppError('store_unavailable', `${key} ended after ${bytes} of ${length} bytes.`);
    }
    return Buffer.concat(chunks, bytes);
  } finally {
    // Destroys a body that is not read to its end: the connection cannot be reused.
    stream.destroy();
  }
}

/**
 * Fills `target` with a body of exactly that length.
 *
 * @param signal after its abort, this function writes nothing more: the caller may use `target` for something else
 */
export async function fillFromBody(
  body: unknown,
  target: Uint8Array,
  facts: { readonly key: string; readonly progressMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { key, progressMs, signal } = facts;
  const stream = guardBody(asReadable(body), progressMs, (error) => error);
  try {
    let bytes = 0;
    for await (const chunk of stream) {
      signal.throwIfAborted();
      if (bytes + chunk.length > target.length) {
        throw new AppError('store_unavailable', `${key}: the store sent more than the range.`);
      }
      target.set(chunk, bytes);
      bytes += chunk.length;
    }
    if (bytes === target.length) return;
    const detail = `${key} ended after ${bytes} of the ${target.length} bytes of a range.`;
    throw new AppError('store_unavailable', detail);
  } finally {
    // Destroys a body that is not read to its end: the connection cannot be reused.
    stream.destroy();
  }
}

/**
 * Wraps the body in a stream that fails when the store sends nothing for `stallMs`.
 *
 * The time counts only while the reader waits for the store, so a slow reader does not cause a failure.
 */
export function guardBody(
  body: unknown,
  stallMs: number,
  toError: (error: unknown) => unknown,
): Readable {
  const source = asReadable(body);
  const chunks = source[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  const fail = (error: unknown) => {
    const reason = toError(error);
    guarded.destroy(reason instanceof Error ? reason : new Error(String(reason)));
  };
  const guarded = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      timer = setTimeout(() => fail(new Error(`nothing was sent for ${stallMs} ms`)), stallMs);
      chunks.next().then(
        ({ value, done }) => {
          clearTimeout(timer);
          guarded.push(done === true ? null : value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          fail(error);
        },
      );
    },
    destroy(error, callback) {
      clearTimeout(timer);
      source.destroy();
      callback(error);
    },
  });
  return guarded;
}

function asReadable(body: unknown): Readable {
  if (!(body instanceof Readable)) {
    throw new AppError('internal', 'The S3 client returned no body.');
  }
  return body;
}
