import {
  type Channel,
  type ChannelView,
  createChannelView,
  DEFAULT_CHANNEL,
} from '../domain/channel.ts';
import { newestFor } from '../domain/decide-update.ts';
import type { Offer } from '../domain/offer.ts';
import { ARCHES, PLATFORMS } from '../domain/platform.ts';
import { compareVersions } from '../domain/version.ts';
import { channelsOf } from './revision-document.ts';
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
  const stated = channelsOf(revision.signed);
  const usable = new Map(
    [...stated].map(([name, channel]): [string, Channel] => [
      name,
      { ...channel, offers: channel.offers.filter((offer) => !isFaulty(offer)) },
    ]),
  );
  const stable = usable.get(DEFAULT_CHANNEL);
  return {
    revision,
    channels: new Map(
      [...usable].map(([name, channel]) => [name, createChannelView(channel, stable)]),
    ),
    offers: [...stated.values()]
      .flatMap((channel) => channel.offers)
      .sort((a, b) => compareVersions(b.version, a.version)),
  };
}

/** The offers that most clients get: of each channel, the newest for each kind of machine. */
export function headOffers(snapshot: Snapshot): readonly Offer[] {
  const heads = new Set<Offer>();
  for (const channel of snapshot.channels.values()) {
    for (const platform of PLATFORMS) {
      for (const arch of [...ARCHES, null]) {
        const offer = newestFor(channel, platform, arch);
        if (offer !== undefined) heads.add(offer);
      }
    }
  }
  return [...heads];
}
