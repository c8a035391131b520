/** Every key this room stores under; nobody else builds them. */

/** Below it: what processes counted, an object for every flush. */
export const FLUSHES_PREFIX = 'events/flushes/';
export const COMPACTIONS_PREFIX = 'events/compactions/';

/** In its key is the hour of a flush, so that the new ones are found without listing all. */
export function flushHourPrefix(ms: number): string {
  return `${FLUSHES_PREFIX}${new Date(ms).toISOString().slice(0, 13)}/`;
}

/** @param ms when it was taken; fixed, so that every retry is of the same key */
export function flushKey(ms: number, instance: string, number: number): string {
  return `${flushHourPrefix(ms)}${instance}.${String(number).padStart(8, '0')}.json`;
}

export interface FlushName {
  readonly key: string;
  readonly instance: string;
  readonly number: number;
}

/** Whose flush a key names, and which; undefined for any other key. */
export function parseFlushKey(key: string): FlushName | undefined {
  const match = /^[^/]+\/([0-9a-f-]{36})\.(\d{8,15})\.json$/.exec(key.slice(FLUSHES_PREFIX.length));
  if (match === null || !key.startsWith(FLUSHES_PREFIX)) return undefined;
  return { key, instance: String(match[1]), number: Number(match[2]) };
}

export function compactionKey(number: number): string {
  return `${COMPACTIONS_PREFIX}${String(number).padStart(10, '0')}.json`;
}

/** The number of the compaction that a key names; undefined for any other key. */
export function parseCompactionKey(key: string): number | undefined {
  const match = /^(\d{10,15})\.json$/.exec(key.slice(COMPACTIONS_PREFIX.length));
  return match === null || !key.startsWith(COMPACTIONS_PREFIX) ? undefined : Number(match[1]);
}
