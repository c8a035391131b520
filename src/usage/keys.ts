/** Every key of the usage counts. No other file builds such keys. */

export const USAGE_ROOT = 'usage/';

/** @param number from 1; readers use the highest number of a counter */
export function snapshotKey(counter: string, number: number): string {
  return `${USAGE_ROOT}counters/${counter}/${String(number).padStart(8, '0')}.json`;
}

/** @param number from 1; readers use the highest number */
export function totalKey(number: number): string {
  return `${USAGE_ROOT}totals/${String(number).padStart(8, '0')}.json`;
}

interface DocumentName {
  /** The id of the counter; undefined for a total. */
  readonly counter: string | undefined;
  readonly number: number;
}

/** The parts of the key of a snapshot or a total; undefined for any other key. */
export function parseUsageKey(key: string): DocumentName | undefined {
  const match = /^usage\/(?:totals|counters\/([0-9a-f-]{36}))\/(\d{8,15})\.json$/.exec(key);
  return match === null ? undefined : { counter: match[1], number: Number(match[2]) };
}
