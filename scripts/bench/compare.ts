import type { BenchContext } from './context.ts';
import { type Interval, median, medianInterval } from './statistics.ts';
import { type Limit, type Row, type Table, verdictOf } from './table.ts';

/**
 * Compares two subjects in pairs of short slices, one after the other, because other programs always use a part of the
 * machine: what slows both slices of a pair hardly changes their ratio.
 */

/** A comparison ends when half of its interval is at most this share of the ratio. */
const EXACT_SHARE = 0.03;
/** The same, when the verdict is sure. */
const EXACT_ENOUGH_SHARE = 0.1;
/** Stated beside the ratio. */
const CONFIDENCE = 0.95;
/** A verdict that ends a comparison early needs more, because the interval is examined after every pair. */
const CONFIDENCE_TO_END = 0.99;

export interface Pair {
  readonly name: string;
  /** Each call measures one slice. `pair` counts from 0. */
  readonly service: (pair: number) => Promise<number>;
  readonly baseline: (pair: number) => Promise<number>;
  /** The limit of the ratio of the two measurements. */
  readonly limit?: Limit | undefined;
}

export interface Compared {
  readonly name: string;
  /** Medians. */
  readonly service: number;
  readonly baseline: number;
  /** The median of the ratios of the pairs. */
  readonly ratio: number;
  readonly interval: Interval;
  readonly pairs: number;
  readonly limit: Limit | undefined;
}

/** Measures pairs until the result is sure, or until the time is over. The interval then says how sure it is. */
export async function compare(
  { seconds, progress }: Pick<BenchContext, 'seconds' | 'progress'>,
  { name, service, baseline, limit }: Pair,
): Promise<Compared> {
  const taken: { readonly service: number; readonly baseline: number }[] = [];
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const pair = taken.length;
    progress(`${name}, pair ${pair + 1}`);
    // The two subjects take turns to be first, so that the order has no effect.
    const first = pair % 2 === 0 ? await service(pair) : await baseline(pair);
    const second = pair % 2 === 0 ? await baseline(pair) : await service(pair);
    taken.push(
      pair % 2 === 0 ? { service: first, baseline: second } : { service: second, baseline: first },
    );
    const ratios = taken.map((one) => one.service / one.baseline);
    const interval = medianInterval(ratios, CONFIDENCE);
    const isLate = performance.now() > end && Number.isFinite(interval.high);
    if (!isLate && !isSure(ratios, interval, limit)) continue;
    return {
      name,
      service: median(taken.map((one) => one.service)),
      baseline: median(taken.map((one) => one.baseline)),
      ratio: median(ratios),
      interval,
      pairs: taken.length,
      limit,
    };
  }
}

function isSure(ratios: readonly number[], { low, high }: Interval, limit?: Limit): boolean {
  const share = (high - low) / 2 / median(ratios);
  if (share <= EXACT_SHARE) return true;
  if (limit === undefined || share > EXACT_ENOUGH_SHARE) return false;
  return verdictOf(medianInterval(ratios, CONFIDENCE_TO_END), limit) !== 'not sure';
}

/** @param unit the unit of the measurements */
export function comparedTable(
  title: string,
  unit: string,
  results: readonly Compared[],
  notes: readonly string[],
  digits = 1,
): Table {
  const heading = ['', unit, `baseline ${unit}`, 'ratio', '95 % interval', 'pairs'];
  return { title, heading, rows: results.map((one) => comparedRow(one, digits)), notes };
}

/** @param digits decimal digits of the measurements */
export function comparedRow(compared: Compared, digits: number): Row {
  const { name, service, baseline, ratio, interval, pairs, limit } = compared;
  const cells = [
    name,
    service.toFixed(digits),
    baseline.toFixed(digits),
    `${ratio.toFixed(2)} ×`,
    intervalText(interval),
    String(pairs),
  ];
  if (limit === undefined) return { cells };
  return { cells, target: { value: ratio, interval, limit, unit: ' ×' } };
}

export function intervalText({ low, high }: Interval): string {
  return `${low.toFixed(2)}–${high.toFixed(2)}`;
}
