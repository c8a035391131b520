import { AppError, isAppError } from '../core/errors.ts';

const KEY_BYTES_MAX = 1024;
const SEGMENT_BYTES_MAX = 255;

/** A directory store names unfinished files with this prefix, so no segment of a key may begin with it. */
export const TEMPORARY_PREFIX = '.slipway-tmp-';

/**
 * Characters that a key must not have:
 * - control characters: NUL ends a path, and newlines split log lines and listings
 * - lone surrogates and U+FFFD: two different keys would have the same bytes in UTF-8
 * - U+FFFE and U+FFFF: XML does not allow them, so a bucket could not list the key
 * - line separators and bidirectional controls: the key could look like another one
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\\\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd-\uffff]/u;

/**
 * Returns the key when every backend can store it; throws `invalid_key` otherwise.
 *
 * A key has at most 1,024 bytes of UTF-8 in segments of 1 to 255 bytes separated by `/`. It has no `.` or `..` segment,
 * backslash or invisible character: a key from a request must not lead out of the directory, or to the object of
 * another key.
 */
export function parseKey(key: string): string {
  if (key === '') {
    throw invalidKey(key, 'it is empty');
  }
  checkText(key);
  for (const segment of key.split('/')) {
    checkSegment(key, segment);
  }
  return key;
}

/**
 * Like {@link parseKey}, for the prefix of a listing: the prefix may be empty, and may end in `/` or inside a segment.
 */
export function parsePrefix(prefix: string): string {
  checkText(prefix);
  for (const segment of prefix.split('/').slice(0, -1)) {
    checkSegment(prefix, segment);
  }
  return prefix;
}

/**
 * True when {@link parseKey} accepts the key. Callers use it to check names that other programs may have put into a
 * store.
 */
export function isKey(key: string): boolean {
  try {
    parseKey(key);
    return true;
  } catch (error) {
    if (isAppError(error, 'invalid_key')) {
      return false;
    }
    throw error;
  }
}

/** Orders keys as object stores list them: by their UTF-8 bytes, not by UTF-16 units as `<` does. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [unitA, unitB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitA !== unitB) return rankOf(unitA) - rankOf(unitB);
  }
  return a.length - b.length;
}

/** UTF-8 orders surrogate pairs after all other characters. UTF-16 orders them before U+E000. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function checkText(key: string): void {
  if (FORBIDDEN.test(key)) {
    throw invalidKey(key, 'it contains a backslash, a control character or an invisible character');
  }
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw invalidKey(key, `it is longer than ${KEY_BYTES_MAX} bytes`);
  }
}

function checkSegment(key: string, segment: string): void {
  if (segment === '') {
    throw invalidKey(key, 'it has an empty segment or begins or ends with a slash');
  }
  if (segment === '.' || segment === '..') {
    throw invalidKey(key, `it has the segment "${segment}"`);
  }
  if (segment.startsWith(TEMPORARY_PREFIX)) {
    throw invalidKey(key, `"${TEMPORARY_PREFIX}" is reserved for unfinished files`);
  }
  if (Buffer.byteLength(segment) > SEGMENT_BYTES_MAX) {
    throw invalidKey(key, `it has a segment longer than ${SEGMENT_BYTES_MAX} bytes`);
  }
}

function invalidKey(key: string, reason: string): AppError {
  const shown = JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key);
  return new AppError('invalid_key', `${shown} cannot be an object key: ${reason}.`);
}
