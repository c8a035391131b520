import { type Channels, channelEntries } from '../../catalog/documents/revision-document.ts';
import { draftIn } from '../../catalog/reading/list-drafts.ts';
import type { ListedRequest } from '../list/listed-release.ts';
import { withoutDraft } from '../offer/draft-rules.ts';

/** Drafts that were removed from their channels. */
export interface Discarded {
  /** The names of the channels, in the order of display. */
  readonly names: readonly string[];
  readonly channels: Channels;
}

/**
 * Removes the draft of a version from the channel that a command names, or from all channels. No client saw the draft,
 * so its version is free again. The channels remember the revision, because manifests from before this revision have
 * the discarded files.
 *
 * @param at the number of the catalog revision that discards the draft, and the time by the store's clock in
 *   milliseconds since the epoch
 */
export function discardDrafts(
  channels: Channels,
  { version, channel: only }: Pick<ListedRequest, 'version' | 'channel'>,
  at: { readonly revision: number; readonly now: number },
): Discarded {
  const discarding = channelEntries(channels)
    .filter(([name]) => only === undefined || name === only)
    .filter(([, channel]) => draftIn(channel, version) !== undefined);
  const changed = discarding.map(([name, channel]) => {
    const others = (channel.discarded ?? []).filter((entry) => entry.version !== version);
    const discarded = [
      ...others,
      { version, revision: at.revision, at: new Date(at.now).toISOString() },
    ];
    return [name, { ...withoutDraft(channel, version), discarded }] as const;
  });
  return {
    names: discarding.map(([name]) => name),
    channels: { ...channels, ...Object.fromEntries(changed) },
  };
}
