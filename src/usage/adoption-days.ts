import { type AdoptionQuery, daysFrom, selectRows } from './adoption.ts';
import { addCounts, type Counts, noCounts, type Row } from './counts.ts';

/** Counts by day, for a chart. Pure. */

export interface AdoptionDays {
  /** Every day of the period, the oldest first. */
  readonly days: readonly string[];
  /** The counts of all versions, by day. */
  readonly totals: readonly Counts[];
  /** The checks of each version, by day. */
  readonly checks: ReadonlyMap<string, readonly number[]>;
}

/** Counts by day. A day of which only the sum was kept has no counts here. */
export function countByDay(rows: Iterable<Row>, query: AdoptionQuery): AdoptionDays {
  const days = daysFrom(query);
  const places = new Map(days.map((day, index) => [day, index]));
  const totals = days.map(noCounts);
  const checks = new Map<string, number[]>();
  for (const row of selectRows(rows, query).detailed) {
    const index = places.get(row.day);
    const total = index === undefined ? undefined : totals[index];
    if (index === undefined || total === undefined) continue;
    addCounts(total, row);
    const own = checks.get(row.version) ?? days.map(() => 0);
    own[index] = (own[index] ?? 0) + row.checks;
    checks.set(row.version, own);
  }
  return { days, totals, checks };
}
