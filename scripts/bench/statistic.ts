/** Figures that survive a noisy machine: medians, and ratios within a round. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The median of each round's own ratio: what slows the machine down for a while slows both sides of a
 * round, so it cancels out here, and would not in a ratio of two medians.
 */
export function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  return median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)));
}

/**
 * Measures every subject once a round, A B C A B C …, each round beginning with another one, so that
 * no subject always follows the same neighbour.
 *
 * @returns what was measured of each subject, in the order of the rounds
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
