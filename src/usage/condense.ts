import {
  add,
  type Counts,
  DAY_MS,
  dayOf,
  getOrCreate,
  OTHER,
  type Row,
  sumRows,
  type Writable,
} from './counts.ts';

/** What is kept of the past: detail for a season, a row a day for a year, then a sum. */

/** Days that keep their versions, platforms and channels. */
export const DETAIL_DAYS = 90;
/** Days that keep a row for each application. */
export const DAILY_DAYS = 400;
/** Making and reading a compaction of so many holds up answers for some 100 ms, once an hour. */
export const ROWS_MAX = 10_000;

export interface Condensed {
  readonly rows: readonly Row[];
  /** By application: of all days that have no row any more. */
  readonly earlier: ReadonlyMap<string, Counts>;
}

/** @param rowsMax above it, the oldest days lose their detail sooner, and then their rows */
export function condense(
  counted: { readonly rows: Iterable<Row>; readonly earlier: ReadonlyMap<string, Counts> },
  now: number,
  rowsMax = ROWS_MAX,
): Condensed {
  const days = groupByDay(counted.rows);
  const earlier = new Map([...counted.earlier].map(([name, counts]) => [name, { ...counts }]));
  const oldestFirst = [...days.keys()].sort();
  const detailedFrom = dayOf(now - (DETAIL_DAYS - 1) * DAY_MS);
  const keptFrom = dayOf(now - (DAILY_DAYS - 1) * DAY_MS);
  let size = [...days.values()].reduce((sum, rows) => sum + rows.length, 0);
  const replace = (day: string, rows: Row[]): void => {
    size += rows.length - (days.get(day)?.length ?? 0);
    days.set(day, rows);
  };
  for (const day of oldestFirst) {
    if (day < detailedFrom || size > rowsMax) replace(day, collapse(days.get(day) ?? []));
  }
  for (const day of oldestFirst) {
    if (day >= keptFrom && size <= rowsMax) break;
    for (const row of days.get(day) ?? []) addTotal(earlier, row);
    replace(day, []);
  }
  return { rows: [...days.values()].flat(), earlier };
}

function groupByDay(rows: Iterable<Row>): Map<string, Row[]> {
  const days = new Map<string, Row[]>();
  for (const row of sumRows(rows)) getOrCreate(days, row.day, () => []).push(row);
  return days;
}

/** A row for each application. */
function collapse(rows: readonly Row[]): Row[] {
  return sumRows(rows.map((row) => ({ ...row, channel: OTHER, platform: OTHER, version: OTHER })));
}

function addTotal(totals: Map<string, Writable<Counts>>, row: Row): void {
  add(
    getOrCreate(totals, row.application, () => ({ checks: 0, offers: 0, links: 0 })),
    row,
  );
}
