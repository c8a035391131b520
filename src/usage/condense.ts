import type { Steps } from '../core/steps.ts';
import {
  DAY_MS,
  dayOf,
  EARLIER_DAYS,
  getOrCreate,
  OTHER,
  type Row,
  sumRows,
  sumRowsInSteps,
} from './counts.ts';

/** The number of days whose rows keep their versions, platforms and channels. */
export const DETAIL_DAYS = 90;
/** The number of days that keep at least one row for each application. */
export const DAILY_DAYS = 400;
/**
 * The most rows in a total. Writing or reading so many rows takes about 100 ms of processor time, in steps, at most once
 * an hour.
 */
const ROWS_MAX = 10_000;

/**
 * Sums rows, with less detail for old days. Days keep their detail for 90 days, and then one row for each application
 * until they are 400 days old. For all earlier days together, one row for each application has the sum ({@link
 * EARLIER_DAYS}).
 *
 * @param now milliseconds since the Unix epoch
 * @param rowsMax when there are more rows, the oldest days lose their detail sooner, and then their rows
 */
export function* condenseInSteps(
  rows: Iterable<Row>,
  now: number,
  rowsMax = ROWS_MAX,
): Steps<Row[]> {
  const detailedFrom = dayOf(now - (DETAIL_DAYS - 1) * DAY_MS);
  const keptFrom = dayOf(now - (DAILY_DAYS - 1) * DAY_MS);
  const days = new Map<string, Row[]>();
  for (const row of yield* sumRowsInSteps(rows)) getOrCreate(days, row.day, () => []).push(row);
  const oldestFirst = [...days.keys()].filter((day) => day !== EARLIER_DAYS).sort();
  yield;
  let size = [...days.values()].reduce((sum, of) => sum + of.length, 0);
  const replace = (day: string, by: Row[]): void => {
    size += by.length - (days.get(day)?.length ?? 0);
    days.set(day, by);
  };
  for (const day of oldestFirst) {
    yield;
    if (day < detailedFrom || size > rowsMax) replace(day, sumApplications(days.get(day) ?? []));
  }
  for (const day of oldestFirst) {
    yield;
    if (day >= keptFrom && size <= rowsMax) break;
    const earlier = (days.get(day) ?? []).map((row) => ({ ...row, day: EARLIER_DAYS }));
    replace(EARLIER_DAYS, sumApplications([...(days.get(EARLIER_DAYS) ?? []), ...earlier]));
    replace(day, []);
  }
  return [...days.values()].flat();
}

/** Sums the rows of one day to one row for each application. */
function sumApplications(rows: readonly Row[]): Row[] {
  return sumRows(rows.map((row) => ({ ...row, channel: OTHER, platform: OTHER, version: OTHER })));
}
