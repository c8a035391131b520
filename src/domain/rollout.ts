import { BUCKETS, bucketOf } from './installation-bucket.ts';

/** Staged rollouts: the share of installations that is offered a release, as a function of time. */

/** A share of the installations, in buckets of 1/100 %: from 0 to {@link BUCKETS}. */
export type Share = number;

export const NO_CLIENTS: Share = 0;
export const ALL_CLIENTS: Share = BUCKETS;

/** From the time `at` on, the share is `share`; a linear ramp grows evenly from one point to the next. */
export interface RampPoint {
  readonly at: number;
  readonly share: Share;
}

/** The share as a function of time. */
export interface Ramp {
  /** In the order of time; at least one. */
  readonly points: readonly RampPoint[];
  readonly isLinear: boolean;
}

/** The rollout of an offer. */
export interface Rollout {
  /** See {@link bucketOf}. */
  readonly seed: number;
  readonly ramp: Ramp;
}

/** The share at a time. It never shrinks. */
export function shareAt({ points, isLinear }: Ramp, now: number): Share {
  let [from, to] = [points[0], points[1]];
  for (let next = 2; to !== undefined && to.at <= now; next++) [from, to] = [to, points[next]];
  if (from === undefined) return NO_CLIENTS;
  if (!isLinear || to === undefined || now <= from.at) return from.share;
  return Math.floor(from.share + ((to.share - from.share) * (now - from.at)) / (to.at - from.at));
}

/** True when the service may offer the release to some client. A null rollout offers the release to all clients. */
export function hasBegun(rollout: Rollout | null, now: number): boolean {
  return rollout === null || shareAt(rollout.ramp, now) > NO_CLIENTS;
}

/** The share at the end of the ramp, which is the largest. */
export function lastShare({ ramp }: Rollout): Share {
  return ramp.points.at(-1)?.share ?? NO_CLIENTS;
}

/** The time at which the share first is at least this one; infinite when the ramp never reaches this share. */
export function reachedAt({ points, isLinear }: Ramp, share: Share): number {
  const index = points.findIndex((point) => point.share >= share);
  const from = points[index - 1];
  const to = points[index];
  if (to === undefined) return Number.POSITIVE_INFINITY;
  // At any time before its first point, the ramp has the share of the first point.
  if (from === undefined) return Number.NEGATIVE_INFINITY;
  if (!isLinear) return to.at;
  return from.at + ((share - from.share) * (to.at - from.at)) / (to.share - from.share);
}

/** The progress of the rollouts of a channel. */
export interface RolloutStage {
  /** True when two clients on equal machines may get different answers. */
  readonly isPartial: boolean;
  /**
   * The number of rollouts that have reached every client. While it stays the same, the releases that are offered to
   * every client stay the same.
   */
  readonly completed: number;
}

/**
 * @returns a function that gives the stage at a time, and computes the stage again only when it changes. Callers keep
 *   answers while they get the same object, so each view of each revision must have a function of its own
 */
export function createRolloutStages(
  rollouts: readonly (Rollout | null)[],
): (now: number) => RolloutStage {
  const spans = rollouts
    .filter((rollout) => rollout !== null)
    .map(({ ramp }) => ({ start: reachedAt(ramp, 1), end: reachedAt(ramp, ALL_CLIENTS) }));
  let from = Number.NEGATIVE_INFINITY;
  let until = Number.NEGATIVE_INFINITY;
  let stage: RolloutStage = { isPartial: false, completed: 0 };
  return (now) => {
    if (spans.length === 0 || (from <= now && now < until)) return stage;
    const changes = spans.flatMap(({ start, end }) => [start, end]);
    from = Math.max(...changes.filter((at) => at <= now), Number.NEGATIVE_INFINITY);
    until = Math.min(...changes.filter((at) => at > now), Number.POSITIVE_INFINITY);
    stage = {
      isPartial: spans.some(({ start, end }) => start <= now && now < end),
      completed: spans.filter(({ end }) => end <= now).length,
    };
    return stage;
  };
}

/**
 * True when an installation is offered the release.
 *
 * @param installation see `installationHash`; null when the client states no id: such a client is offered the
 *   release only when the share is 100 %
 */
export function admits({ seed, ramp }: Rollout, installation: number | null, now: number): boolean {
  const share = shareAt(ramp, now);
  if (share >= ALL_CLIENTS) return true;
  return installation !== null && share > NO_CLIENTS && bucketOf(seed, installation) < share;
}
