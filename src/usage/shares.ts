import { OTHER } from './counts.ts';

/** Shares of groups that strangers may see. */

export interface Share {
  readonly name: string;
  /** Whole percents. */
  readonly percent: number;
}

/**
 * The groups' shares of the whole, the largest first and "other" last; empty when the whole is smaller
 * than `groupMin`.
 *
 * Each rule stops one way of counting a few people:
 * - A group below `groupMin` is not named, but part of "other": the plain look at a rare version.
 * - When "other" itself stays below it, the smallest named group joins it: else 100 % less the named
 *   ones would be that group. A remainder that rounds to 0 % is left out instead, for it does not show.
 * - Shares are whole percents, and no group's count is public: shares of two moments, or of one
 *   application and all of them, do not subtract to single checks.
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
