import { isDeepStrictEqual } from 'node:util';
import type { Channels } from '../../catalog/change.ts';
import type { ChannelJson } from '../../catalog/documents/revision-document.ts';

/**
 * The channels of a revision with the objects of the one before it wherever they are equal. Two revisions that were
 * read share no object, and a comparison of them would then make a decision for every offer of every channel.
 */
export function shareChannels(before: Channels, after: Channels): Channels {
  return Object.fromEntries(
    Object.entries(after).map(([name, channel]) => [name, shareChannel(before[name], channel)]),
  );
}

function shareChannel(before: ChannelJson | undefined, after: ChannelJson): ChannelJson {
  if (before === undefined) return after;
  const known = new Map(before.offers.map((offer) => [offer.version, offer]));
  const offers = after.offers.map((offer) => {
    const same = known.get(offer.version);
    return same !== undefined && isDeepStrictEqual(same, offer) ? same : offer;
  });
  const isSame =
    offers.length === before.offers.length &&
    offers.every((offer, index) => offer === before.offers[index]) &&
    isDeepStrictEqual({ ...before, offers: [] }, { ...after, offers: [] });
  return isSame ? before : { ...after, offers };
}
