import { runAtOnce, type Steps } from '../../core/steps.ts';
import {
  type Channel,
  type ChannelView,
  createChannelViewInSteps,
  inheritedNames,
} from '../../domain/channel.ts';
import { newestFor } from '../../domain/decide-update.ts';
import { newestFirst, type Offer } from '../../domain/offer.ts';
import { indexForOneUse } from '../../domain/offers-by-machine.ts';
import { ARCHES, PLATFORMS } from '../../domain/platform.ts';
import { visitorOn } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import { channelsInSteps, type RevisionJson } from '../documents/revision-document.ts';
import type { LiveRevision } from '../following/live-revision.ts';

/** One revision of an application, parsed and indexed for answering. Immutable. */
export interface Snapshot {
  readonly revision: LiveRevision;
  /** The channels as clients see them: without the offers in `leftOut`. */
  readonly channels: ReadonlyMap<string, ChannelView>;
  /** Every offer of the revision, newest first. It includes the offers in `leftOut`. */
  readonly offers: readonly Offer[];
  /** The names of the offers whose releases could not be verified; see {@link releaseNameOf}. */
  readonly leftOut: ReadonlySet<string>;
}

/** Names, as a `Set` or as the keys of a `Map`. */
type Names = Pick<ReadonlySet<string>, 'has' | 'size'>;

/**
 * Creates a snapshot in steps, so the process can answer requests in between. Thousands of offers take longer than a
 * request may wait.
 *
 * @param faulty the names of the releases whose offers the snapshot leaves out
 */
export function* createSnapshotInSteps(revision: LiveRevision, faulty: Names): Steps<Snapshot> {
  const all = [...revision.channels.values()].flatMap((channel) => channel.offers);
  const offers = all.sort(newestFirst);
  yield;
  return yield* createViewsWithout({ revision, offers }, faulty);
}

/** Leaves out the faulty offers, and restores the offers that are no longer faulty. */
export function leaveOut(snapshot: Snapshot, faulty: Names): Snapshot {
  return runAtOnce(leaveOutInSteps(snapshot, faulty));
}

/** Like {@link leaveOut}, in steps: creating the views of thousands of offers takes long. */
export function* leaveOutInSteps(snapshot: Snapshot, faulty: Names): Steps<Snapshot> {
  if (isSame(namesIn(snapshot.offers, faulty), snapshot.leftOut)) return snapshot;
  return yield* createViewsWithout(snapshot, faulty);
}

function* createViewsWithout(
  { revision, offers }: Pick<Snapshot, 'revision' | 'offers'>,
  faulty: Names,
): Steps<Snapshot> {
  const leftOut = namesIn(offers, faulty);
  const isUsable = (offer: Offer): boolean =>
    leftOut.size === 0 || !leftOut.has(releaseNameOf(offer));
  const usable = new Map<string, Channel>();
  for (const [name, channel] of revision.channels) {
    yield;
    usable.set(name, { ...channel, offers: channel.offers.filter(isUsable) });
  }
  return { revision, offers, leftOut, channels: yield* createViewsInSteps(usable) };
}

function namesIn(offers: readonly Offer[], faulty: Names): ReadonlySet<string> {
  if (faulty.size === 0) return new Set();
  return new Set(offers.map(releaseNameOf).filter((name) => faulty.has(name)));
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
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

/** A time at which every rollout has reached its last share. */
const AT_THE_END = Number.POSITIVE_INFINITY;

/** The offers that most clients get: on each channel, the newest for each platform and architecture. */
export function headOffers(snapshot: Snapshot): readonly Offer[] {
  const heads = new Set<Offer>();
  for (const each of snapshot.channels.values()) {
    const channel = { ...each, offersFor: indexForOneUse(each.offers, each.offersFor) };
    for (const platform of PLATFORMS) {
      for (const arch of [...ARCHES, null]) {
        const offer = newestFor(channel, visitorOn(platform, arch), AT_THE_END);
        if (offer !== undefined) heads.add(offer);
      }
    }
  }
  return [...heads];
}

/** Each poll needs the names of thousands of offers, so the process builds each name only once. */
const nameByOffer = new WeakMap<Offer, string>();

/** The name of the release to which an offer refers. It distinguishes two manifests of one version. */
export function releaseNameOf(offer: Offer): string {
  const known = nameByOffer.get(offer);
  if (known !== undefined) return known;
  const { version, manifest } = offer;
  const name = releaseName(versionText(version), manifest.number, manifest.digest);
  nameByOffer.set(offer, name);
  return name;
}

export function releaseName(version: string, manifestNumber: number, digest: string): string {
  return `${version} ${manifestNumber} ${digest}`;
}
