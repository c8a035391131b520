import { isRecord, type JsonRecord } from '../sources/json-index.ts';

/** Reads single values of configurations, without checking the rest. */

/** The value as a record; an empty one for anything else. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** The text of a value; undefined for anything else, and for empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
