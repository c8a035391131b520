/** Statistics that are robust on a noisy machine: medians, and ratios within a round. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The ratio of each round. Other load on the machine slows both sides of a round, so it cancels out within the
 * round; in a ratio of two medians it would not.
 */
export function ratios(values: readonly number[], baselines: readonly number[]): readonly number[] {
  return values.map((value, round) => value / (baselines[round] ?? Number.NaN));
}

/** The smallest value that at least `share` of all values do not exceed; 0.5 gives the lower median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** How well a measured time reveals which of two groups it belongs to. */
interface RankSum {
  /**
   * The share of pairs in which the first group's value is higher; ties count half. 0.5 reveals nothing,
   * 0 or 1 reveals the group.
   */
  readonly share: number;
  /** The Mann-Whitney statistic in standard deviations; without a difference within ±1.96 in 95 of 100 runs. */
  readonly z: number;
}

/** The Mann-Whitney test by its normal approximation: needs tens of values in each group. */
export function rankSum(first: readonly number[], second: readonly number[]): RankSum {
  const above = first
    .flatMap((a) => second.map((b) => (Math.sign(a - b) + 1) / 2))
    .reduce((sum, value) => sum + value, 0);
  const pairs = first.length * second.length;
  const deviation = Math.sqrt((pairs * (first.length + second.length + 1)) / 12);
  return { share: above / pairs, z: (above - pairs / 2) / deviation };
}
