import { runAtOnce, type Steps } from '../../core/steps.ts';
import {
  type Channel,
  type ChannelView,
  createChannelViewInSteps,
  inheritedNames,
} from '../../domain/channel.ts';
import { newestFirst, type Offer } from '../../domain/offer.ts';
import { channelsInSteps, type RevisionJson } from '../documents/revision-document.ts';
import type { LiveRevision } from './live-revision.ts';

/** One revision of an application, parsed and indexed for answering. Immutable. */
export interface Snapshot {
  readonly revision: LiveRevision;
  /** The channels as clients see them: without the offers in `leftOut`. */
  readonly channels: ReadonlyMap<string, ChannelView>;
  /** Every offer of the revision, newest first. It includes the offers in `leftOut`. */
  readonly offers: readonly Offer[];
  /** The offers whose releases could not be verified, by the digests of their manifests. */
  readonly leftOut: ReadonlySet<string>;
}

/** The digests of manifests, as a `Set` or as the keys of a `Map`. */
type Digests = Pick<ReadonlySet<string>, 'has' | 'size'>;

/**
 * Creates a snapshot in steps, so the process can answer requests in between. Thousands of offers take longer than a
 * request may wait.
 *
 * @param faulty the releases whose offers the snapshot leaves out
 */
export function* createSnapshotInSteps(revision: LiveRevision, faulty: Digests): Steps<Snapshot> {
  const all = [...revision.channels.values()].flatMap((channel) => channel.offers);
  const offers = all.sort(newestFirst);
  yield;
  return yield* createViewsWithout({ revision, offers }, faulty);
}

/** Leaves out the faulty offers, and restores the offers that are no longer faulty. */
export function leaveOut(snapshot: Snapshot, faulty: Digests): Snapshot {
  return runAtOnce(leaveOutInSteps(snapshot, faulty));
}

/** Like {@link leaveOut}, in steps: creating the views of thousands of offers takes long. */
export function* leaveOutInSteps(snapshot: Snapshot, faulty: Digests): Steps<Snapshot> {
  if (isSame(digestsIn(snapshot.offers, faulty), snapshot.leftOut)) return snapshot;
  return yield* createViewsWithout(snapshot, faulty);
}

function* createViewsWithout(
  { revision, offers }: Pick<Snapshot, 'revision' | 'offers'>,
  faulty: Digests,
): Steps<Snapshot> {
  const leftOut = digestsIn(offers, faulty);
  const isUsable = (offer: Offer): boolean =>
    leftOut.size === 0 || !leftOut.has(offer.manifest.digest);
  const usable = new Map<string, Channel>();
  for (const [name, channel] of revision.channels) {
    yield;
    usable.set(name, { ...channel, offers: channel.offers.filter(isUsable) });
  }
  return { revision, offers, leftOut, channels: yield* createViewsInSteps(usable) };
}

function digestsIn(offers: readonly Offer[], faulty: Digests): ReadonlySet<string> {
  if (faulty.size === 0) return new Set();
  return new Set(
    offers.map((offer) => offer.manifest.digest).filter((digest) => faulty.has(digest)),
  );
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((digest) => b.has(digest));
}

/** The channels as their clients see them. */
export function viewsOf(channels: RevisionJson['channels']): ReadonlyMap<string, ChannelView> {
  return runAtOnce(viewsInSteps(channels));
}

/** Like {@link viewsOf}, in steps, for a process that answers requests. */
export function* viewsInSteps(
  channels: RevisionJson['channels'],
): Steps<ReadonlyMap<string, ChannelView>> {
  return yield* createViewsInSteps(yield* channelsInSteps({ channels }));
}

function* createViewsInSteps(
  channels: ReadonlyMap<string, Channel>,
): Steps<ReadonlyMap<string, ChannelView>> {
  const views = new Map<string, ChannelView>();
  for (const [name, channel] of channels) {
    const inherited = inheritedNames(name, (each) => channels.get(each)?.inherits)
      .map((each) => channels.get(each))
      .filter((each) => each !== undefined);
    views.set(name, yield* createChannelViewInSteps(channel, inherited));
  }
  return views;
}

/** The offers that most clients get: on each channel, the newest active offer for each platform and architecture. */
export function headOffers(snapshot: Snapshot): readonly Offer[] {
  const heads = new Set<Offer>();
  for (const { offers } of snapshot.channels.values()) {
    const targets = new Set<string>();
    // Thousands of offers share a few lists.
    const lists = new Set<Offer['artifacts']>();
    for (const offer of offers) {
      if (offer.status !== 'active' || lists.has(offer.artifacts)) continue;
      lists.add(offer.artifacts);
      for (const { platform, arch } of offer.artifacts) {
        const target = `${platform} ${arch}`;
        if (!targets.has(target)) heads.add(offer);
        targets.add(target);
      }
    }
  }
  return [...heads];
}
