import { OTHER } from './counts.ts';

/** A group's share of the whole, for public metrics. */
export interface Share {
  readonly name: string;
  /** Whole percents. */
  readonly percent: number;
}

/**
 * The groups' shares of the whole, the largest first and "other" last; empty when the whole is smaller
 * than `groupMin`.
 *
 * Each rule prevents one way to count a few people:
 * - A group below `groupMin` has no name, and becomes part of "other". Otherwise a rare version would show these
 *   people.
 * - If "other" itself is below `groupMin`, the smallest named group joins it. Otherwise 100 % minus the named groups
 *   would show these people. An "other" that rounds to 0 % is left out instead, because it reveals nothing.
 * - Shares are whole percents, and the count of a group is not public. So a visitor cannot find single checks by
 *   subtracting the shares of two times, or of one application and of all applications.
 */
export function publicShares(
  groups: Iterable<readonly [name: string, count: number]>,
  groupMin: number,
): Share[] {
  const named: { name: string; count: number }[] = [];
  let whole = 0;
  let other = 0;
  for (const [name, count] of groups) {
    whole += count;
    if (name === OTHER || count < groupMin) other += count;
    else named.push({ name, count });
  }
  if (whole < groupMin || whole === 0) return [];
  named.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const percent = (count: number): number => Math.round((100 * count) / whole);
  if (other > 0 && other < groupMin && percent(other) > 0) other += named.pop()?.count ?? 0;
  const shares = named.map(({ name, count }) => ({ name, percent: percent(count) }));
  return other >= groupMin ? [...shares, { name: OTHER, percent: percent(other) }] : shares;
}
