import type { Catalog } from '../../catalog/live/catalog.ts';
import type { Snapshot } from '../../catalog/live/snapshot.ts';
import type { Clock } from '../../core/clock.ts';
import type { Steps } from '../../core/steps.ts';
import { newestFirst, type Offer } from '../../domain/offer.ts';
import { ALL_CLIENTS, type Share, shareAt } from '../../domain/rollout.ts';
import { versionText } from '../../domain/version.ts';
import { usableSnapshots } from './usable-snapshots.ts';

/** An offer that not every client gets: its rollout is not complete, or it is paused. */
export interface UnfinishedOffer {
  readonly application: string;
  /** The channel that has the offer itself, and not a channel that inherits the offer. */
  readonly channel: string;
  readonly version: string;
  readonly status: 'active' | 'paused';
  /** The share that the rollout has reached. A paused offer goes to no client, whatever its share is. */
  readonly share: Share;
}

/** The list has at most this number of offers of a channel, and leaves out older offers. */
const PER_CHANNEL_MAX = 10;
const TOTAL_MAX = 1_000;

/**
 * Creates a function that lists the unfinished offers of all channels, also of restricted channels. The function reads
 * memory only.
 *
 * @returns a function in steps that never throws. It orders the offers by application, and leaves out an application
 *   whose catalog cannot be used
 */
export function createRolloutLister(deps: {
  readonly catalog: Pick<Catalog, 'health' | 'application'>;
  /** The store's time, because rollouts advance by it. */
  readonly clock: Pick<Clock, 'now'>;
}): () => Steps<readonly UnfinishedOffer[]> {
  // The candidates are cached, because a search through thousands of offers takes longer than rendering the other
  // metrics.
  const bySnapshot = new WeakMap<Snapshot, ReadonlyMap<string, readonly Offer[]>>();
  const listOf = function* (
    application: string,
    snapshot: Snapshot,
    now: number,
  ): Steps<readonly UnfinishedOffer[]> {
    const channels = bySnapshot.get(snapshot) ?? (yield* candidatesInSteps(snapshot));
    bySnapshot.set(snapshot, channels);
    return [...channels].flatMap(([channel, offers]) =>
      offers
        .map((offer) => describe(application, channel, offer, now))
        .filter(({ status, share }) => status === 'paused' || share < ALL_CLIENTS)
        .slice(0, PER_CHANNEL_MAX),
    );
  };
  return function* () {
    const now = deps.clock.now();
    const listed: UnfinishedOffer[] = [];
    const applications = Object.keys(deps.catalog.health().applications).sort();
    for (const [application, snapshot] of usableSnapshots(deps.catalog, applications)) {
      yield;
      listed.push(...(yield* listOf(application, snapshot, now)));
    }
    return listed.slice(0, TOTAL_MAX);
  };
}

/** The offers that are paused, or have a rollout (complete or not), by channel, the newest first. */
function* candidatesInSteps({
  revision,
  leftOut,
}: Snapshot): Steps<ReadonlyMap<string, readonly Offer[]>> {
  const isCandidate = ({ status, rollout }: Offer): boolean =>
    status === 'paused' || (status === 'active' && rollout !== null);
  const candidates = new Map<string, readonly Offer[]>();
  for (const [name, { offers }] of revision.channels) {
    yield;
    const found = offers.filter(
      (offer) => isCandidate(offer) && !leftOut.has(offer.manifest.digest),
    );
    candidates.set(name, found.sort(newestFirst));
  }
  return candidates;
}

function describe(
  application: string,
  channel: string,
  { version, status, rollout }: Offer,
  now: number,
): UnfinishedOffer {
  return {
    application,
    channel,
    version: versionText(version),
    status: status === 'paused' ? 'paused' : 'active',
    share: rollout === null ? ALL_CLIENTS : shareAt(rollout.ramp, now),
  };
}
