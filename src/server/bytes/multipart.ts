import type { Span } from '../../answers/files/range-header.ts';

/** The body of an answer with bytes of a file: texts and spans in turn. */
export type BodyPart = string | Span;

interface Multipart {
  /** The value of Content-Type. */
  readonly type: string;
  /**
   * Each iteration makes the parts anew instead of keeping them, because the heads of a thousand parts take as much
   * memory as the parts themselves.
   */
  readonly parts: Iterable<BodyPart>;
}

/**
 * A body of several ranges (RFC 9110, section 14.6).
 *
 * zsync needs the line break before the first boundary. Old versions of electron-updater match the content type with
 * a regular expression, which accepts this spelling only.
 *
 * @param file `type`: its media type; `size`: in bytes
 * @param boundary letters, digits, `-` and `_`; a text that the file does not contain
 */
export function composeMultipart(
  spans: readonly Span[],
  file: { readonly type: string; readonly size: number },
  boundary: string,
): Multipart {
  function* compose(): Generator<BodyPart> {
    for (const span of spans) {
      const range = contentRange(span, file.size);
      yield `\r\n--${boundary}\r\nContent-Type: ${file.type}\r\nContent-Range: ${range}\r\n\r\n`;
      yield span;
    }
    yield `\r\n--${boundary}--\r\n`;
  }
  return {
    type: `multipart/byteranges; boundary=${boundary}`,
    parts: { [Symbol.iterator]: compose },
  };
}

/** The value of Content-Range for a part of a file. */
export function contentRange({ start, length }: Span, size: number): string {
  return `bytes ${start}-${start + length - 1}/${size}`;
}

export function lengthOf(parts: Iterable<BodyPart>): number {
  let sum = 0;
  for (const { length } of parts) sum += length;
  return sum;
}

/** A piece of a body, small enough for one buffer. */
export interface Batch {
  /** In bytes. */
  readonly length: number;
  /** ASCII. `at`: the position in the buffer. */
  readonly texts: readonly { readonly at: number; readonly text: string }[];
  /** `at`: the position in the buffer; `start`: the position in the file. */
  readonly reads: readonly (Span & { readonly at: number })[];
}

/**
 * Packs a body into batches: many small parts make one write, and a large range becomes several reads. A range that
 * fits into one batch becomes one read.
 *
 * @param bytesMaxOfNext returns the size limit of the next batch, in bytes; it is larger than any text
 */
export function* packBatches(
  parts: Iterable<BodyPart>,
  bytesMaxOfNext: () => number,
): Generator<Batch> {
  let batch = emptyBatch();
  let bytesMax = bytesMaxOfNext();
  for (const part of parts) {
    if (typeof part === 'string') {
      if (batch.length + part.length > bytesMax) {
        yield batch;
        batch = emptyBatch();
        bytesMax = bytesMaxOfNext();
      }
      batch.texts.push({ at: batch.length, text: part });
      batch.length += part.length;
      continue;
    }
    for (let done = 0; done < part.length; ) {
      const left = part.length - done;
      const room = bytesMax - batch.length;
      if (room < Math.min(left, bytesMax) && batch.length > 0) {
        yield batch;
        batch = emptyBatch();
        bytesMax = bytesMaxOfNext();
        continue;
      }
      const length = Math.min(left, room);
      batch.reads.push({ at: batch.length, start: part.start + done, length });
      batch.length += length;
      done += length;
    }
  }
  if (batch.length > 0) yield batch;
}

function emptyBatch(): {
  length: number;
  texts: Batch['texts'][number][];
  reads: Batch['reads'][number][];
} {
  return { length: 0, texts: [], reads: [] };
}
