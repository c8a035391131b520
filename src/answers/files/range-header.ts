/** The Range header of requests for files (RFC 9110, section 14). */

/** Bytes of a file. */
export interface Span {
  readonly start: number;
  /** At least 1. */
  readonly length: number;
}

/** The part of a file that a Range header selects. */
export type Selection =
  /** The header does not count: the client gets the whole file. */
  | { readonly kind: 'all' }
  /** No range has a byte of the file: 416. */
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly span: Span }
  /**
   * The client asks for several ranges. `spans` has the order of the header, and leaves out ranges without a byte of
   * the file.
   */
  | { readonly kind: 'several'; readonly spans: readonly Span[] };

/** electron-updater sends at most 1,000 ranges. Each range costs memory, and a request to the store. */
const RANGES_MAX = 1_024;
/** The ranges of a real client do not overlap, and never select more bytes than the file has. */
const BYTES_FACTOR_MAX = 2;

const RANGE = /^(?:(\d+)-(\d*)|-(\d+))$/;

/**
 * Parses a Range header for a file of `size` bytes.
 *
 * The result keeps the order of the ranges and joins no ranges, because clients match the parts of the answer with
 * their ranges.
 *
 * The function ignores a header that has another unit, is malformed, or would multiply the bytes to send: more than
 * 1,024 ranges, or together more than twice the file. Section 14.2 allows this. The whole file is a valid answer for
 * every client, but after a 416 the client would give up its download.
 */
export function parseRangeHeader(header: string | undefined, size: number): Selection {
  const ranges = header === undefined ? undefined : /^bytes=(.*)$/i.exec(header)?.[1];
  if (ranges === undefined) return ALL;
  // Section 5.6.1: a list may have empty elements.
  const elements = ranges.split(',', RANGES_MAX * 2).map((element) => element.trim());
  const texts = elements.filter((element) => element !== '');
  if (texts.length === 0 || texts.length > RANGES_MAX) return ALL;
  const spans: Span[] = [];
  let bytes = 0;
  for (const text of texts) {
    const span = parseSpan(text, size);
    if (span === 'invalid') return ALL;
    if (span === undefined) continue;
    spans.push(span);
    bytes += span.length;
  }
  const [first] = spans;
  if (first === undefined) return { kind: 'none' };
  if (texts.length === 1) return { kind: 'one', span: first };
  return bytes > size * BYTES_FACTOR_MAX ? ALL : { kind: 'several', spans };
}

const ALL: Selection = { kind: 'all' };

/** @returns undefined for a range without a byte of the file */
function parseSpan(text: string, size: number): Span | undefined | 'invalid' {
  const match = RANGE.exec(text);
  if (match === null) return 'invalid';
  const [, first, last, suffix] = match;
  if (first === undefined) {
    // A suffix that is longer than the file selects the whole file.
    const length = Math.min(Number(suffix), size);
    return length === 0 ? undefined : { start: size - length, length };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return 'invalid';
  return start >= size ? undefined : { start, length: Math.min(end, size - 1) - start + 1 };
}
