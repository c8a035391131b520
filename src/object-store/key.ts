import { AppError, isAppError } from '../errors.ts';

const KEY_BYTES_MAX = 1024;
const SEGMENT_BYTES_MAX = 255;

/** Names of unfinished files in a directory store begin with it, so no key may have such a segment. */
export const TEMPORARY_PREFIX = '.slipway-tmp-';

/**
 * Control characters (NUL ends a path, newlines split log lines and listings), lone surrogates and
 * U+FFFD (two keys would become one in UTF-8), U+FFFE and U+FFFF (not XML, so no bucket could list
 * them), line separators and bidirectional controls (a key could show itself as another).
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\\\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd-\uffff]/u;

/**
 * The key itself when every backend can hold it, else `invalid_key`.
 *
 * At most 1,024 bytes of UTF-8 in segments of 1 to 255 bytes separated by `/`; no `.` or `..` segment,
 * backslash or invisible character: a key from a request must not leave the directory or alias another.
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

/** Like {@link parseKey} for what a listing starts with: may be empty, end in `/` or inside a segment. */
export function parsePrefix(prefix: string): string {
  checkText(prefix);
  for (const segment of prefix.split('/').slice(0, -1)) {
    checkSegment(prefix, segment);
  }
  return prefix;
}

/** True for what {@link parseKey} accepts; for names that others may have put into a store. */
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
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function checkText(key: string): void {
  if (FORBIDDEN.test(key)) {
    throw invalidKey(key, 'it contains a backslash, a control character or an invisible one');
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
