import { counted } from '../../core/counted.ts';
import { didYouMean } from '../../core/name-hint.ts';
import type { ChannelEffect } from '../../releases/channels/change-channel.ts';
import type { ShownSettings } from '../../releases/channels/channel-settings.ts';
import type { ChannelStates } from '../../releases/forecast/compare-channels.ts';
import type { CommandConfig } from '../facts.ts';
import { alignColumns } from '../output.ts';

/** The sentences of commands about channels, and about the effect of a change on clients. */

export function settingsJson(settings: ShownSettings | null): object | null {
  if (settings === null) return null;
  return {
    inherits: settings.inherits,
    keep: settings.keep,
    expect: settings.expect,
    early_access: settings.givesEarlyAccess,
    allow_downgrade: settings.allowsDowngrade,
  };
}

/**
 * Describes the effect on clients, in lines. There is no line when every client gets the same release as before.
 *
 * @param isMade true when the change was made; otherwise it is planned
 */
export function clientEffects(effect: ChannelEffect, isMade: boolean): readonly string[] {
  const { channel, settingsBefore: before, settings: after, dropped, clients } = effect;
  const isDowngrading = after?.allowsDowngrade === true && before?.allowsDowngrade === false;
  const isEarly = after?.givesEarlyAccess === true && before?.givesEarlyAccess === false;
  return [
    ...(after === null && before !== null
      ? [`Clients that ask for ${channel} get the error unknown_channel, and no updates.`]
      : []),
    ...(clients.length === 0 || after === null || before === null
      ? []
      : ['The newest release for new clients:', ...newestTable(clients)]),
    ...(dropped.length === 0 ? [] : [lossOf(effect, isMade)]),
    ...(isDowngrading
      ? [`Clients of ${channel} that send "allow_downgrade" may go back to an older version.`]
      : []),
    ...(isEarly
      ? [
          `Clients of ${channel} that send "manual" may get a release before its rollout reaches them.`,
        ]
      : []),
  ];
}

/** One sentence for each channel that the command's setting `TIERS` restricts to some tiers. */
export function restrictedSentences(
  { accounts }: Pick<CommandConfig, 'accounts'>,
  application: string,
  channels: readonly string[],
): readonly string[] {
  const { tiers } = accounts;
  return channels
    .filter((channel) => tiers.restricts(application, channel))
    .map((channel) => {
      const open = tiers.names.filter((tier) => tiers.opensChannel(tier, application, channel));
      return `${channel} is restricted by TIERS: only accounts of the tier ${open.join(' or ')} are offered its releases.`;
    });
}

/** Warns a publisher who may have mistyped the name of a new channel. Undefined when no channel has a similar name. */
export function mistypedChannel(
  channel: string,
  version: string,
  before: ChannelStates['before'],
): string | undefined {
  if (Object.hasOwn(before, channel)) return undefined;
  const hint = didYouMean(channel, Object.keys(before)).trimEnd();
  if (hint === '') return undefined;
  return `${channel} is a new channel. ${hint} Only clients that ask for ${channel} are offered ${version}.`;
}

function lossOf({ channel, settings, dropped }: ChannelEffect, isMade: boolean): string {
  if (settings === null) {
    return `It ${isMade ? 'listed' : 'lists'} ${droppedText(dropped)}, which cannot be published again.`;
  }
  return `${channel} ${isMade ? 'dropped' : 'drops'} ${droppedText(dropped)}, which no client is offered. Downloads by version answer 410. This cannot be undone.`;
}

function newestTable(clients: ChannelEffect['clients']): readonly string[] {
  return alignColumns([
    ['CHANNEL', 'TARGET', 'BEFORE', 'AFTER'],
    ...clients.map(({ channel, target, before, after }) => [
      channel,
      target,
      before ?? '',
      after ?? '',
    ]),
  ]);
}

/** Names the releases that a channel dropped because it keeps only its newest releases. */
export function droppedSentence(channel: string, dropped: readonly string[]): string {
  return `${channel} keeps only its newest releases, and dropped ${droppedText(dropped)}.`;
}

const NAMED_MAX = 8;

/** The releases that a channel dropped, newest first: `2 releases (1.1.0, 1.0.0)`. */
function droppedText(dropped: readonly string[]): string {
  const more = dropped.length > NAMED_MAX ? ', …' : '';
  return `${counted(dropped.length, 'release')} (${dropped.slice(0, NAMED_MAX).join(', ')}${more})`;
}
