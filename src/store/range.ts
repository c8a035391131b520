import { AppError } from '../core/errors.ts';
import type { ByteRange } from './object-store.ts';

/** First and last byte, inclusive. For a whole empty object, `end` is `start - 1`. */
interface ResolvedRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Fits a range to an object's size. Lowers an `end` beyond the last byte; a `start` beyond the last byte is
 * `invalid_range`.
 */
export function resolveRange(range: ByteRange | undefined, size: number): ResolvedRange {
  if (range === undefined) {
    return { start: 0, end: size - 1 };
  }
  checkRange(range);
  if (range.start >= size) {
    throw unsatisfiableRange(range, size);
  }
  return { start: range.start, end: Math.min(range.end ?? size - 1, size - 1) };
}

/** Throws `invalid_range` unless both positions are non-negative integers in ascending order. */
export function checkRange({ start, end }: ByteRange): void {
  const isPosition = (value: number) => Number.isSafeInteger(value) && value >= 0;
  if (!isPosition(start) || (end !== undefined && (!isPosition(end) || end < start))) {
    throw new AppError('invalid_range', `Bytes ${start} to ${end ?? 'the end'} are not a range.`);
  }
}

export function unsatisfiableRange(range: ByteRange, size: number | undefined): AppError {
  const length = size === undefined ? '' : ` of ${size} bytes`;
  return new AppError(
    'invalid_range',
    `The range starts at byte ${range.start}, beyond the end of the object${length}.`,
  );
}

/** Throws `invalid_range` unless an object of `size` bytes has `length` bytes from `start` on. */
export function checkWithin(start: number, length: number, size: number): void {
  if (Number.isSafeInteger(start) && start >= 0 && start + length <= size) return;
  throw new AppError(
    'invalid_range',
    `An object of ${size} bytes has no ${length} bytes from byte ${start} on.`,
  );
}

/** Throws `document_too_large` when `bytes` is more than `bytesMax`. */
export function checkCeiling(key: string, bytes: number, bytesMax: number | undefined): void {
  if (bytesMax !== undefined && bytes > bytesMax) {
    throw new AppError(
      'document_too_large',
      `${key} has ${bytes} bytes, more than the limit of ${bytesMax}.`,
    );
  }
}
