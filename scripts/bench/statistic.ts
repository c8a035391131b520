/** Statistics that are robust on a noisy machine: medians, and ratios within a round. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The median of the ratios of each round. Other load on the machine slows both sides of a round, so it
 * cancels out within the round; in a ratio of two medians it would not.
 */
export function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  return median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)));
}

/**
 * Measures every subject once per round. Each round begins with the next subject (A B C, B C A, …), so
 * that no subject is always the first.
 *
 * @returns the measurements of each subject, in the order of the rounds
 */
export async function interleave<S extends string, M>(
  subjects: readonly S[],
  rounds: number,
  measure: (subject: S, round: number) => Promise<M>,
): Promise<Readonly<Record<S, readonly M[]>>> {
  const measured = Object.fromEntries(subjects.map((subject) => [subject, []])) as unknown as {
    [K in S]: M[];
  };
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const subject = subjects[(turn + round) % subjects.length] as S;
      measured[subject].push(await measure(subject, round));
    }
  }
  return measured;
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

/** The Mann-Whitney test by its normal approximation: needs tens of values in each group, and few ties. */
export function rankSum(first: readonly number[], second: readonly number[]): RankSum {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].sort((a, b) => a.value - b.value);
  let ranks = 0;
  for (let start = 0; start < all.length; ) {
    let end = start;
    while (all[end]?.value === all[start]?.value && end < all.length) end++;
    // Equal values share the mean of their ranks, which count from 1.
    const rank = (start + 1 + end) / 2;
    ranks += rank * all.slice(start, end).filter(({ isFirst }) => isFirst).length;
    start = end;
  }
  const pairs = first.length * second.length;
  const above = ranks - (first.length * (first.length + 1)) / 2;
  const deviation = Math.sqrt((pairs * (all.length + 1)) / 12);
  return { share: above / pairs, z: (above - pairs / 2) / deviation };
}
