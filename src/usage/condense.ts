import { DAY_MS, dayOf, EARLIER_DAYS, getOrCreate, OTHER, type Row, sumRows } from './counts.ts';

/** Days that keep their versions, platforms and channels. */
const DETAIL_DAYS = 90;
/** Days that keep one row for each application. */
const DAILY_DAYS = 400;
/** To write or read a total of so many rows takes some 100 ms of the processor, at most once an hour. */
const ROWS_MAX = 10_000;

/**
 * Sums rows, those of old days together: 90 days of detail, 400 days of one row for each application, and
 * one row for each application of all days before ({@link EARLIER_DAYS}).
 *
 * @param now milliseconds since the Unix epoch
 * @param rowsMax above it the oldest days lose their detail sooner, and then their rows
 */
export function condense(rows: Iterable<Row>, now: number, rowsMax = ROWS_MAX): Row[] {
  const detailedFrom = dayOf(now - (DETAIL_DAYS - 1) * DAY_MS);
  const keptFrom = dayOf(now - (DAILY_DAYS - 1) * DAY_MS);
  const days = new Map<string, Row[]>();
  for (const row of sumRows(rows)) getOrCreate(days, row.day, () => []).push(row);
  const oldestFirst = [...days.keys()].filter((day) => day !== EARLIER_DAYS).sort();
  let size = [...days.values()].reduce((sum, of) => sum + of.length, 0);
  const replace = (day: string, by: Row[]): void => {
    size += by.length - (days.get(day)?.length ?? 0);
    days.set(day, by);
  };
  for (const day of oldestFirst) {
    if (day < detailedFrom || size > rowsMax) replace(day, sumApplications(days.get(day) ?? []));
  }
  for (const day of oldestFirst) {
    if (day >= keptFrom && size <= rowsMax) break;
    const earlier = (days.get(day) ?? []).map((row) => ({ ...row, day: EARLIER_DAYS }));
    replace(EARLIER_DAYS, sumApplications([...(days.get(EARLIER_DAYS) ?? []), ...earlier]));
    replace(day, []);
  }
  return [...days.values()].flat();
}

/** One row for each application, of rows of one day. */
function sumApplications(rows: readonly Row[]): Row[] {
  return sumRows(rows.map((row) => ({ ...row, channel: OTHER, platform: OTHER, version: OTHER })));
}
