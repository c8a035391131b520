import { isRecord, type JsonRecord } from '../../core/json-record.ts';

/** Reads single values of configurations, without checking the rest. */

/** The value as a record; an empty record for any other value. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Names, versions and paths are shorter. The limit bounds the time of a search in a text. */
const TEXT_LENGTH_MAX = 1_000;

/** The text of a value; undefined for anything else, for empty text, and for a text that is too long for a name. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > TEXT_LENGTH_MAX ? undefined : text;
}
