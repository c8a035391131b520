import {
  type Channel,
  type ChannelView,
  createChannelViewInSteps,
  DEFAULT_CHANNEL,
} from '../domain/channel.ts';
import { newestFor } from '../domain/decide-update.ts';
import type { Offer } from '../domain/offer.ts';
import { ARCHES, PLATFORMS } from '../domain/platform.ts';
import { visitorOn } from '../domain/update-query.ts';
import { compareVersions } from '../domain/version.ts';
import { runAtOnce, type Steps } from '../steps.ts';
import { channelsInSteps, type RevisionJson } from './revision-document.ts';
import type { Revision } from './sequences.ts';

/** One revision of an application, ready to answer from. Immutable: a change makes another. */
export interface Snapshot {
  readonly revision: Revision;
  readonly channels: ReadonlyMap<string, ChannelView>;
  /** Every offer of the revision, faulty ones included, newest first. */
  readonly offers: readonly Offer[];
}

/** @param isFaulty offers to leave out: their releases could not be verified */
export function createSnapshot(revision: Revision, isFaulty: (offer: Offer) => boolean): Snapshot {
  return runAtOnce(createSnapshotInSteps(revision, isFaulty));
}

/** As {@link createSnapshot}, in steps: thousands of offers take a while. */
export function* createSnapshotInSteps(
  revision: Revision,
  isFaulty: (offer: Offer) => boolean,
): Steps<Snapshot> {
  const stated = yield* channelsInSteps(revision.signed);
  const usable = new Map<string, Channel>();
  for (const [name, channel] of stated) {
    yield;
    usable.set(name, { ...channel, offers: channel.offers.filter((offer) => !isFaulty(offer)) });
  }
  const channels = yield* createViewsInSteps(usable);
  yield;
  const offers = [...stated.values()]
    .flatMap((channel) => channel.offers)
    .sort((a, b) => compareVersions(b.version, a.version));
  return { revision, channels, offers };
}

/** What clients of each channel see, once these are the channels' states. */
export function viewsOf(channels: RevisionJson['channels']): ReadonlyMap<string, ChannelView> {
  return runAtOnce(createViewsInSteps(runAtOnce(channelsInSteps({ channels }))));
}

function* createViewsInSteps(
  channels: ReadonlyMap<string, Channel>,
): Steps<ReadonlyMap<string, ChannelView>> {
  const stable = channels.get(DEFAULT_CHANNEL);
  const views = new Map<string, ChannelView>();
  for (const [name, channel] of channels) {
    views.set(name, yield* createChannelViewInSteps(channel, stable));
  }
  return views;
}

/** The offers that most clients get: of each channel, the newest for each kind of machine. */
export function headOffers(snapshot: Snapshot): readonly Offer[] {
  const heads = new Set<Offer>();
  for (const channel of snapshot.channels.values()) {
    for (const platform of PLATFORMS) {
      for (const arch of [...ARCHES, null]) {
        const offer = newestFor(channel, visitorOn(platform, arch));
        if (offer !== undefined) heads.add(offer);
      }
    }
  }
  return [...heads];
}
