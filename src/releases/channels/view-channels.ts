import { viewsOf } from '../../catalog/memory/snapshot.ts';
import type { ChannelView } from '../../domain/channel.ts';
import type { ChannelStates } from '../forecast/compare-channels.ts';

/** The channels of an application after a change, by name. */
export type ChangedChannels = ChannelStates['after'];

/** The view that clients of each channel have, for decisions outside of the service. */
export function viewChannels(channels: ChangedChannels): ReadonlyMap<string, ChannelView> {
  return viewsOf(channels);
}
