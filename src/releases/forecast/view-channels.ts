import { viewsOf } from '../../catalog/live/snapshot.ts';
import { type ChannelView, inheritedNames } from '../../domain/channel.ts';
import type { ChannelStates } from './compare-channels.ts';

/** The channels of an application after a change, by name. */
export type ChangedChannels = ChannelStates['after'];

/** The named channels, and the channels from which they inherit. The views of the named channels need no others. */
export function withInherited(channels: ChangedChannels, names: Iterable<string>): ChangedChannels {
  const needed = new Set<string>();
  for (const name of names) {
    needed.add(name);
    for (const each of inheritedNames(name, (of) => channels[of]?.inherits)) needed.add(each);
  }
  return Object.fromEntries(Object.entries(channels).filter(([name]) => needed.has(name)));
}

/** The view that clients of each channel have, for decisions outside of the service. */
export function viewChannels(channels: ChangedChannels): ReadonlyMap<string, ChannelView> {
  return viewsOf(channels);
}
