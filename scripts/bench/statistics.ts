/** What measurements say, and how sure it is. Pure. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1
    ? upper
    : ((sorted[(sorted.length >> 1) - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value for which at least the part `share` of all values is smaller or equal. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/**
 * The interval that contains the true median with at least this confidence, whatever the distribution. Each value is
 * below the true median with a probability of one half. So the function cuts off values at each end, as long as the
 * probability that the median is among them stays small enough.
 *
 * @param confidence such as 0.95, which needs at least 6 values. With fewer values the interval is infinite
 */
export function medianInterval(values: readonly number[], confidence: number): Interval {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  // The logarithm of the probability that exactly `rank + 1` values are below the median.
  let [rank, log] = [-1, count * Math.log(0.5)];
  for (let atMost = Math.exp(log); 2 * atMost <= 1 - confidence; atMost += Math.exp(log)) {
    rank++;
    log += Math.log((count - rank) / (rank + 1));
  }
  return {
    low: sorted[rank] ?? Number.NEGATIVE_INFINITY,
    high: sorted[count - 1 - rank] ?? Number.POSITIVE_INFINITY,
  };
}
