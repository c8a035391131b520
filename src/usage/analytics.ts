import { type Row, sumRows } from './counts.ts';

/** The exact counts of one day, version, platform and channel, for the publisher of an application. */
export type AnalyticsRow = Omit<Row, 'application'>;

export interface AnalyticsQuery {
  readonly application: string;
  /** UTC days, `2026-11-21`, both included. */
  readonly from: string;
  readonly to: string;
}

/** Sorted by day, version, platform and channel. Old days have one row, with "other" for each name. */
export function makeAnalytics(
  rows: Iterable<Row>,
  { application, from, to }: AnalyticsQuery,
): AnalyticsRow[] {
  const asked: Row[] = [];
  for (const row of rows) {
    if (row.application === application && row.day >= from && row.day <= to) asked.push(row);
  }
  return sumRows(asked)
    .map(({ application: _, ...row }) => ({ row, order: orderOf(row) }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ row }) => row);
}

function orderOf({ day, version, platform, channel }: AnalyticsRow): string {
  return [day, version, platform, channel].join('\n');
}
