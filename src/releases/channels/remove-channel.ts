import {
  type ChannelJson,
  type Channels,
  channelEntries,
} from '../../catalog/documents/revision-document.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { refuseForgottenYank } from '../offer/channel-rules.ts';
import type { ChannelEdit } from './channel-settings.ts';

/** The number of versions that a refusal names. */
const NAMED_MAX = 5;

/**
 * Removes a channel. The revision remembers the versions of the removed channel, because clients may have their files.
 *
 * @param force true to retire the releases that the channel still offers
 * @throws AppError `status_forbids` when another channel inherits from the channel, when it is the only channel, and
 *   when it still lists releases (for the default channel, even with `force`)
 */
export function removeChannel(
  application: string,
  channels: Channels,
  name: string,
  force: boolean,
): ChannelEdit {
  const { [name]: removed, ...left } = channels;
  if (removed === undefined) return { channels, dropped: [] };
  const inheriting = Object.keys(left).filter((other) => left[other]?.inherits === name);
  const [first] = inheriting;
  if (first !== undefined) {
    const parent = removed.inherits ?? 'none';
    throw refusal(
      `${inheriting.join(', ')} ${inheriting.length === 1 ? 'inherits' : 'inherit'} from ${name}, and clients would lose its releases. First run slipway channels set ${first} --inherits ${parent}.`,
    );
  }
  if (Object.keys(left).length === 0) {
    throw refusal(`${name} is the only channel of ${application}, so it cannot be removed.`);
  }
  const [draft] = removed.drafts ?? [];
  if (draft !== undefined) {
    throw refusal(
      `${name} has the draft ${draft.version}. Discard it first: slipway retire ${draft.version}${optionOf(name)}.`,
    );
  }
  const listed = removed.offers.filter(({ status }) => status !== 'yanked');
  if (listed.length > 0 && (!force || name === DEFAULT_CHANNEL)) {
    throw refusal(stillLists(name, listed));
  }
  refuseForgottenYank(name, removed.offers, left);
  const versions = [...removed.offers.map(({ version }) => version), ...removed.retired];
  return {
    channels: withDiscarded(left, removed.discarded ?? []),
    dropped: listed.map(({ version }) => version),
    removedVersions: versions,
  };
}

/** Makes another channel remember the discarded drafts, so that no channel uses the manifests of these drafts. */
function withDiscarded(left: Channels, discarded: NonNullable<ChannelJson['discarded']>): Channels {
  const [heir] = channelEntries(left);
  if (heir === undefined || discarded.length === 0) return left;
  const [name, channel] = heir;
  return {
    ...left,
    [name]: { ...channel, discarded: [...(channel.discarded ?? []), ...discarded] },
  };
}

function stillLists(name: string, listed: ChannelJson['offers']): string {
  const versions = listed.map(({ version }) => version);
  const more = versions.length > NAMED_MAX ? ', …' : '';
  const lists = `${name} still lists ${counted(listed.length, 'release')}: ${versions.slice(0, NAMED_MAX).join(', ')}${more}.`;
  const retire = `slipway retire VERSION --channel ${name}`;
  return name === DEFAULT_CHANNEL
    ? `${lists} Clients that name no channel ask for ${name}. To remove it all the same, retire each release first: ${retire}.`
    : `${lists} Its clients would get no more updates. Retire each release first (${retire}), or add --force to retire all of them now.`;
}

function refusal(message: string): AppError {
  return new AppError('status_forbids', message);
}
