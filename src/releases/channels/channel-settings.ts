import {
  type ChannelJson,
  type Channels,
  channelIn,
  isHidden,
} from '../../catalog/documents/revision-document.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { AppError } from '../../core/errors.ts';
import { CHAIN_CHANNELS_MAX, findCircle, longestChain } from '../../domain/channel-chain.ts';
import { type Target, targetName } from '../../domain/target.ts';
import { targetsJson } from '../offer/draft-rules.ts';

/** The settings of a channel, as its publisher states them. A setting that is undefined stays as it is. */
export interface ChannelSettings {
  /** Null: none. */
  readonly inherits?: string | null | undefined;
  /** The number of newest active offers that the channel keeps; null: all. */
  readonly keep?: number | null | undefined;
  /** The targets that a release must have before it is offered; empty: none. */
  readonly expect?: readonly Target[] | undefined;
  readonly givesEarlyAccess?: boolean | undefined;
  readonly allowsDowngrade?: boolean | undefined;
}

/** The channels after a change of one of them. */
export interface ChannelEdit {
  readonly channels: Channels;
  /** The versions that the changed channel lists no longer. */
  readonly dropped: readonly string[];
  /** The versions that the revision has to remember, because their channel was removed. */
  readonly removedVersions?: readonly string[];
}

/** The channel with the stated settings. Its other settings stay as they are. */
export function withSettings(channel: ChannelJson, stated: ChannelSettings): ChannelJson {
  const { early_access: early, allow_downgrade: downgrade, expect, keep, ...rest } = channel;
  const changed = {
    early_access: stated.givesEarlyAccess ?? early,
    allow_downgrade: stated.allowsDowngrade ?? downgrade,
    expect: stated.expect === undefined ? expect : targetsJson(stated.expect),
    keep: stated.keep === undefined ? keep : (stated.keep ?? undefined),
  };
  const inherits = stated.inherits === undefined ? channel.inherits : stated.inherits;
  return {
    ...rest,
    inherits,
    // The stored document leaves out settings that are not set.
    ...(changed.early_access === true && { early_access: true }),
    ...(changed.allow_downgrade === true && { allow_downgrade: true }),
    ...(changed.expect !== undefined && changed.expect.length > 0 && { expect: changed.expect }),
    ...(changed.keep !== undefined && { keep: changed.keep }),
  };
}

/** The settings of a channel, for operators. */
export interface ShownSettings {
  readonly inherits: string | null;
  /** Null: it keeps all offers. */
  readonly keep: number | null;
  /** `windows-x64`, …; empty: none. */
  readonly expect: readonly string[];
  readonly givesEarlyAccess: boolean;
  readonly allowsDowngrade: boolean;
}

export function settingsOf(channel: ChannelJson): ShownSettings {
  return {
    inherits: channel.inherits,
    keep: channel.keep ?? null,
    expect: (channel.expect ?? []).map(({ os, arch }) => targetName({ platform: os, arch })),
    givesEarlyAccess: channel.early_access === true,
    allowsDowngrade: channel.allow_downgrade === true,
  };
}

/** The texts of the settings, by the names of the options that change them. */
export function settingTexts(settings: ShownSettings): Readonly<Record<string, string>> {
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off');
  return {
    inherits: settings.inherits ?? 'none',
    keep: settings.keep === null ? 'all' : String(settings.keep),
    expect: settings.expect.length === 0 ? 'none' : settings.expect.join(','),
    'early access': onOff(settings.givesEarlyAccess),
    downgrade: onOff(settings.allowsDowngrade),
  };
}

/** The settings that differ, with their values before and after. */
export function changedSettings(
  before: ShownSettings,
  after: ShownSettings,
): readonly (readonly [name: string, before: string, after: string])[] {
  const old = settingTexts(before);
  const next = settingTexts(after);
  return Object.keys(next)
    .filter((name) => old[name] !== next[name])
    .map((name) => [name, old[name] ?? '', next[name] ?? '']);
}

/**
 * Refuses a channel that inherits from itself, directly or through others, or that makes a chain too long.
 *
 * @param channels the channels with the new settings
 * @throws AppError `unknown_channel`, `invalid_request`
 */
export function refuseChain(application: string, channels: Channels, name: string): void {
  const inheritsOf = (each: string): string | null | undefined => channels[each]?.inherits;
  const inherits = inheritsOf(name) ?? null;
  if (inherits === null) return;
  if (inherits === name) {
    throw refusal(`${name} cannot inherit from itself. Name another channel, or none.`);
  }
  const inherited = channelIn(channels, inherits);
  if (inherited === undefined) {
    const { [name]: _own, ...others } = channels;
    throw unknownChannel(application, inherits, others);
  }
  if (isHidden(inherited)) {
    throw refusal(
      `${inherits} has only drafts so far, and no client sees it or what it inherits. First run slipway channels create ${inherits}.`,
    );
  }
  const circle = findCircle(name, inheritsOf);
  if (circle !== undefined) {
    throw refusal(
      `${name} cannot inherit from ${inherits}, because that would be a circle: ${circle.join(' → ')}. First run slipway channels set ${circle.at(-2)} --inherits none.`,
    );
  }
  const chain = longestChain(name, Object.keys(channels), inheritsOf);
  if (chain.length > CHAIN_CHANNELS_MAX) {
    throw refusal(
      `${name} cannot inherit from ${inherits}, because the chain would have ${chain.length} channels, and at most ${CHAIN_CHANNELS_MAX} are allowed: ${chain.join(' → ')}.`,
    );
  }
}

function refusal(detail: string): AppError {
  return new AppError('invalid_request', detail, { issues: [{ pointer: '/inherits', detail }] });
}
