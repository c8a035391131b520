import type { ChannelView } from '../../../domain/channel.ts';
import { isForAllClients } from '../../../domain/decide-update.ts';
import type { Offer } from '../../../domain/offer.ts';
import { type ChangedChannels, viewChannels } from '../../../releases/channels/view-channels.ts';

/** What the clients of each channel see: its own offers and the inherited ones. To parse thousands takes a while. */
const shown = new WeakMap<ChangedChannels, ReadonlyMap<string, ChannelView>>();

export function channelViews(channels: ChangedChannels): ReadonlyMap<string, ChannelView> {
  const views = shown.get(channels) ?? viewChannels(channels);
  shown.set(channels, views);
  return views;
}

/** The offers of a channel that every client gets, newest first. @param now milliseconds since the epoch */
export function offersForAll(
  channels: ChangedChannels,
  name: string,
  now: number,
): readonly Offer[] {
  const offers = channelViews(channels).get(name)?.offers ?? [];
  return offers.filter((offer) => isForAllClients(offer, now));
}
