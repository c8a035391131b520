import { type Limit, median, type Row, type Table } from './table.ts';

/**
 * Compares two subjects. They alternate in many short turns, because other programs always use a part of the machine.
 */

export interface Pair {
  readonly name: string;
  /** Each call takes one measurement. */
  readonly service: () => Promise<number>;
  readonly baseline: () => Promise<number>;
  /** The limit of the ratio of the two measurements. */
  readonly limit?: Limit | undefined;
}

interface Compared {
  readonly limit: Limit | undefined;
  readonly rounds: { readonly service: number; readonly baseline: number }[];
}

/** For each name of a pair, its measurements. */
export type Results = Map<string, Compared>;

/** Measures one round of a pair, and adds it to the results. */
export async function compareRound(results: Results, pair: Pair, turns: number): Promise<void> {
  const { name, service, baseline, limit } = pair;
  const sums = { service: 0, baseline: 0 };
  for (let turn = 0; turn < turns; turn++) {
    // The two subjects take turns to be first, so that the order has no effect.
    if (turn % 2 === 0) sums.service += await service();
    sums.baseline += await baseline();
    if (turn % 2 === 1) sums.service += await service();
  }
  const compared = results.get(name) ?? { limit, rounds: [] };
  compared.rounds.push({ service: sums.service / turns, baseline: sums.baseline / turns });
  results.set(name, compared);
}

/** @param unit the unit of the measurements */
export function comparedTable(
  title: string,
  unit: string,
  results: Results,
  notes: readonly string[],
  digits = 1,
): Table {
  const heading = ['', unit, `baseline ${unit}`, 'ratio', 'min–max'];
  return { title, heading, rows: comparedRows(results, digits), notes };
}

/**
 * The ratio is the median of the ratios of all rounds. Other load on the machine slows both subjects of a round, so it
 * hardly changes the ratio of the round.
 */
function comparedRows(results: Results, digits: number): readonly Row[] {
  return [...results].map(([name, { limit, rounds }]) => {
    const ratios = rounds.map(({ service, baseline }) => service / baseline);
    const value = median(ratios);
    const cells = [
      name,
      median(rounds.map(({ service }) => service)).toFixed(digits),
      median(rounds.map(({ baseline }) => baseline)).toFixed(digits),
      `${value.toFixed(2)} ×`,
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    ];
    return limit === undefined ? { cells } : { cells, target: { value, limit, unit: ' ×' } };
  });
}
