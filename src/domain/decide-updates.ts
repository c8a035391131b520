import type { ChannelView } from './channel.ts';
import { chooserFor, decideUpdate, obstacleFor, reachedBy, takesOf } from './decide-update.ts';
import type { Offer } from './offer.ts';
import { nextWhole } from './offers-by-machine.ts';
import type { Answer } from './shared-decisions.ts';
import type { UpdateQuery } from './update-query.ts';
import { spansIn, type Version } from './version.ts';

/**
 * Decides for many versions of a channel at once. A single decision looks at every offer that a rule refuses. When a
 * channel lists thousands of versions, and a rule refuses thousands of offers, a search for each version takes minutes.
 * So one search over all offers finds the results of all versions.
 */

/**
 * The decisions of `decideUpdate` for clients that differ only in their version.
 *
 * @param versions newest first
 * @param now by the store's clock; milliseconds since the epoch
 */
export function decideUpdates(
  query: UpdateQuery,
  channel: ChannelView,
  versions: readonly Version[],
  now: number,
): readonly Answer[] {
  let admitted: readonly number[] | undefined;
  return versions.map((version, at) => {
    const decision = decideUpdate({ ...query, currentVersion: version }, channel, now, () => {
      admitted ??= findAdmitted(query, channel, versions, now);
      return admitted[at] ?? Number.POSITIVE_INFINITY;
    });
    return { version, decision };
  });
}

/** For each version, the index of the first offer that every rule admits; infinite when there is none. */
function findAdmitted(
  query: UpdateQuery,
  channel: ChannelView,
  versions: readonly Version[],
  now: number,
): readonly number[] {
  const machine = channel.offersFor(query.platform, query.arch);
  const takes = takesOf(query);
  const choose = chooserFor(query);
  const isReached = reachedBy(query, channel, now);
  const isAdmitted = (offer: Offer): boolean =>
    !('refused' in choose(offer)) &&
    // The loop below finds the versions that meet the requirement, for all versions at once.
    obstacleFor({ ...offer, requires: null }, query, isReached) === undefined;
  const found = versions.map(() => Number.POSITIVE_INFINITY);
  const { first, take } = createRemaining(versions.length);
  const { offers } = machine;
  let index = -1;
  for (;;) {
    index = nextWhole(machine, index, takes);
    const offer = offers[index];
    if (offer === undefined) return found;
    if (!isAdmitted(offer)) continue;
    const { requires } = offer;
    const isForAll = requires === null || query.purpose !== 'update';
    const spans = isForAll ? [{ from: 0, to: versions.length }] : spansIn(versions, requires);
    for (const { from, to } of spans) {
      for (let at = first(from); at < to; at = first(at)) {
        found[at] = index;
        take(at);
      }
    }
  }
}

/**
 * The numbers below `count`. The caller takes numbers, and finds the next number that remains. Each search shortens the
 * path of later searches.
 */
function createRemaining(count: number) {
  const next = Array.from({ length: count + 1 }, (_, at) => at);
  const after = (at: number): number => next[at] ?? count;
  return {
    /** The first remaining number that is not below `at`; `count` when there is none. */
    first: (at: number): number => {
      let found = at;
      while (after(found) !== found) {
        next[found] = after(after(found));
        found = after(found);
      }
      return found;
    },
    take: (at: number): void => {
      next[at] = at + 1;
    },
  };
}
