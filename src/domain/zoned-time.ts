import { DateTime } from 'luxon';

// Without a zone, the time would mean another moment on another machine.
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * A date and time with a zone, in ISO 8601: `2026-12-01T09:00:00Z`, `2026-12-01T10:00+01:00`.
 *
 * @returns milliseconds since the epoch; undefined for any other text
 */
export function parseZonedTime(text: string): number | undefined {
  if (!ZONED.test(text)) return undefined;
  // Unlike Date.parse, this function refuses February 30.
  const at = DateTime.fromISO(text).toMillis();
  return Number.isNaN(at) ? undefined : at;
}
