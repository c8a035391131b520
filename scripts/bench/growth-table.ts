import { type Compared, intervalText } from './compare.ts';
import { offersMax } from './content.ts';
import type { BenchContext } from './context.ts';
import { median } from './statistics.ts';
import type { Row, Table } from './table.ts';

/** The measured values of the growth benchmark, and its table. */

export const CHANNELS = 10;
export const CHECKS_PER_SECOND = 500;
/** The first of many applications has more releases than the others. */
export const FIRST_RELEASES = 1_000;
export const RESTING_SECONDS = 30;

interface Measure {
  readonly text: string;
  readonly digits?: number;
  readonly max?: number;
  /** True when the limit applies to the difference from the value with ten releases. */
  readonly isBeyondTen?: boolean;
  /** True when the row shows the longest of all measurements, and not their median. */
  readonly isLongest?: boolean;
}

const MEASURES = {
  memory: { text: `memory ${RESTING_SECONDS} s after the start, MiB`, max: 300 },
  empty: { text: 'memory of a service without releases, MiB', max: 110 },
  fresh: { text: 'first answer after a start, ms', max: 500, isBeyondTen: true },
  restarted: { text: 'first answer after a restart, ms', max: 500, isBeyondTen: true },
  read: { text: 'bytes read a second at rest', max: 10_000 },
  p99: { text: 'check-update p99, new revision, ms', digits: 1 },
  refused: { text: 'checks refused as overload', isLongest: true },
  revision: { text: 'longest turn, new revision, ms', digits: 1, max: 10, isLongest: true },
  full: { text: 'longest turn, most offers, ms', digits: 1, max: 50, isLongest: true },
  scrape: { text: 'longest turn, /metrics, ms', digits: 1, max: 10, isLongest: true },
  rollUp: { text: 'longest turn, rolling up, ms', digits: 1, max: 10, isLongest: true },
  publish: { text: 'publish a small release, ms', max: 1_000 },
  stats: { text: 'slipway stats, ms', max: 2_000 },
  explain: { text: 'slipway explain, ms', max: 2_000 },
} as const satisfies Readonly<Record<string, Measure>>;
export type Figure = keyof typeof MEASURES;

/** A column of the table. */
export interface Column {
  readonly name: string;
  readonly measured: ReadonlyMap<Figure, readonly number[]>;
  /** Its checks, compared with checks of ten releases; undefined for these. */
  readonly checks: Compared | undefined;
}

/** @param columns the first is for ten releases, the last for many applications */
export function growthTable({ releases }: BenchContext, columns: readonly Column[]): Table {
  return {
    title: 'Growth: releases of one application, and applications × releases',
    heading: ['', ...columns.map(({ name }) => name)],
    rows: [
      checksRow(columns),
      ...Object.keys(MEASURES).map((key) => rowOf(key as Figure, columns)),
    ],
    notes: [
      `Directory store, ${CHANNELS} channels. The application with ${releases} releases has the most offers that a catalog can hold, about ${offersMax(releases)}; its other releases are retired. The first of the many applications has ${FIRST_RELEASES} releases.`,
      'check-update: the median of the ratios of pairs, with its 95 % interval; two processes of each service in turn, clients of every application.',
      'A longest turn is the longest processor time of one round of the event loop. /metrics is scraped once in each round; rolling up adds the counts of another process for every application.',
      'Commands: a whole run in its own process, without the time of `slipway --version`. Starts: without a saved state, and with it.',
      'After a restart with 1000 applications, a service verifies the files of all releases for some minutes. The rows on checks and on bytes read begin after this work. The rows on memory and turns may include it.',
    ],
  };
}

function checksRow(columns: readonly Column[]): Row {
  const compared = columns.flatMap(({ checks }) => checks ?? []);
  const cells = columns.map(({ checks }) =>
    checks === undefined ? '1' : `${checks.ratio.toFixed(2)} × (${intervalText(checks.interval)})`,
  );
  const target = {
    value: Math.max(...compared.map(({ ratio }) => ratio)),
    // The worst column decides.
    interval: {
      low: Math.max(...compared.map(({ interval }) => interval.low)),
      high: Math.max(...compared.map(({ interval }) => interval.high)),
    },
    limit: CHECKS_MAX,
    unit: ' ×',
  };
  return { cells: ['check-update ÷ with 10 releases', ...cells], target };
}

export const CHECKS_MAX = { max: 1.1 };

function rowOf(figure: Figure, columns: readonly Column[]): Row {
  const { text, digits = 0, max, isBeyondTen, isLongest }: Measure = MEASURES[figure];
  const values = columns.map(({ measured }) => {
    const all = measured.get(figure);
    if (all === undefined) return undefined;
    return isLongest ? Math.max(...all) : median(all);
  });
  const cells = [text, ...values.map((value) => value?.toFixed(digits) ?? '')];
  if (max === undefined) return { cells };
  const worst = Math.max(...values.map((value) => value ?? Number.NEGATIVE_INFINITY));
  const value = isBeyondTen ? worst - (values[0] ?? 0) : worst;
  return { cells, target: { value, limit: { max }, unit: isBeyondTen ? ' more' : '' } };
}
