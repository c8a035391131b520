import type { Channels } from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { nativeArches } from '../../domain/compatible-arches.ts';
import { apportion, type FleetGroup, joinGroups } from '../../domain/fleet.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import { type Platform, platformOf } from '../../domain/platform.ts';
import { ALL_CLIENTS, type Rollout, shareAt } from '../../domain/rollout.ts';
import { type Target, targetName } from '../../domain/target.ts';
import {
  OLDEST_VERSION,
  parseVersion,
  tryParseVersion,
  type Version,
  versionText,
} from '../../domain/version.ts';
import { runnableVersions, versionsOf } from './foresee-updates.ts';
import { countsOf, isUnlisted, type SeenChecks } from './seen-checks.ts';

/** Fleets for simulations: made up from a channel, or from counts of checks. */

/** A fleet, and what an operator should know about it. */
export interface DescribedFleet {
  readonly groups: readonly FleetGroup[];
  readonly description: string;
}

/**
 * Spreads installations evenly over the versions that a channel shows or showed, and over the targets of each version.
 * A retired version counts for all targets. A version whose rollout is under way has no installations yet. Some
 * installations run versions that the channel never listed: older versions, and versions at which a rule of a release
 * begins or ends.
 *
 * @param now by the store's clock; milliseconds since the epoch
 * @throws AppError `unknown_channel`; `no_release` for a channel without versions
 */
export function spreadFleet(
  application: string,
  channels: Channels,
  channel: string,
  count: number,
  now: number,
): DescribedFleet {
  const view = viewsOf(channels).get(channel);
  if (view === undefined) throw unknownChannel(application, channel, channels);
  const versions = shownVersions(channels, view);
  const reached = versions.filter(({ rollout }) => isComplete(rollout, now));
  const used = reached.length > 0 ? reached : versions;
  const targets = joinTargets(versions.flatMap((version) => version.targets));
  const unlisted = unlistedVersions(channels, view);
  const places = [...used, ...unlisted].flatMap(({ version, targets: own }) =>
    (own.length > 0 ? own : targets).map((target) => ({ version, target })),
  );
  if (places.length === 0) {
    const why = `The channel ${channel} lists no release, so there is nothing to simulate. Publish a release, or name another channel with --channel.`;
    throw new AppError('no_release', why);
  }
  const counts = apportion(
    count,
    places.map(() => 1),
  );
  const texts = unlisted.map(({ version }) => versionText(version));
  const groups = places.map(({ version, target }, index) => ({
    ...machineOf(target),
    channel,
    version,
    count: counts[index] ?? 0,
  }));
  return {
    groups: joinGroups(groups),
    description: `The fleet is made up: its installations are spread evenly over ${counted(used.length, 'version')} of ${channel} and the targets of each, and over versions that it never listed: ${texts.join(', ')}. The last one stands for all older versions. A client that is newer than all releases is offered nothing, so there is none.`,
  };
}

/**
 * The versions that stand for all versions that the channel never listed. It leaves out versions that are newer than
 * all listed versions, because clients on them are offered nothing.
 */
function unlistedVersions(channels: Channels, view: ChannelView): readonly ShownVersion[] {
  const { versions, listed } = runnableVersions([view], versionsOf(channels, view), countsOf([]));
  const newest = versions.findIndex((version) => listed.has(versionText(version)));
  return versions
    .slice(newest)
    .filter((version) => !listed.has(versionText(version)))
    .map((version) => ({ version, rollout: null, targets: [] }));
}

interface ShownVersion {
  readonly version: Version;
  readonly rollout: Rollout | null;
  /** Empty when the targets are not known. */
  readonly targets: readonly Target[];
}

/** Each version that a channel shows or showed, once. */
function shownVersions(channels: Channels, view: ChannelView): readonly ShownVersion[] {
  return [...new Set(versionsOf(channels, view))].map((text) => {
    const offer = view.offerOf(text);
    return {
      version: parseVersion(text),
      rollout: offer?.rollout ?? null,
      targets: joinTargets(offer?.artifacts.flatMap(targetsOf) ?? []),
    };
  });
}

function isComplete(rollout: Rollout | null, now: number): boolean {
  return rollout === null || shareAt(rollout.ramp, now) === ALL_CLIENTS;
}

function targetsOf({ platform, arch }: OfferedArtifact): readonly Target[] {
  return nativeArches(arch).map((each) => ({ platform, arch: each }));
}

function joinTargets(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [targetName(target), target])).values()];
}

const machineOf = (target: Target) => ({ ...target, format: null, osVersion: null });

/** The architecture that most machines of a platform have. Counts state no architecture. */
const USUAL_ARCH: Readonly<Record<Platform, Target['arch']>> = {
  windows: 'x64',
  macos: 'arm64',
  linux: 'x64',
};

/**
 * Spreads installations in proportion to the checks that clients made. Leaves out clients that stated no version.
 * Versions that no channel lists count as older than all listed versions.
 *
 * @throws AppError `invalid_request` when no check is left
 */
export function seenFleet(
  seen: readonly SeenChecks[],
  channels: Channels,
  count: number,
): DescribedFleet {
  const usable = seen.flatMap(({ channel, platform: name, version: text, checks }) => {
    const platform = platformOf(name);
    const version = isUnlisted({ version: text }) ? OLDEST_VERSION : tryParseVersion(text);
    if (platform === undefined || version === undefined || checks === 0) return [];
    if (!Object.hasOwn(channels, channel)) return [];
    const target = { platform, arch: USUAL_ARCH[platform] };
    return [{ ...machineOf(target), channel, version, checks }];
  });
  const used = usable.reduce((sum, { checks }) => sum + checks, 0);
  if (used === 0) {
    const why =
      'The stored counts have no checks with a version in this time. Give more --days, a file with --csv, or neither --seen nor --csv for a made-up fleet.';
    throw new AppError('invalid_request', why);
  }
  const counts = apportion(
    count,
    usable.map(({ checks }) => checks),
  );
  const groups = usable.map(({ checks: _checks, ...group }, index) => ({
    ...group,
    count: counts[index] ?? 0,
  }));
  const all = seen.reduce((sum, { checks }) => sum + checks, 0);
  const rest = all - used;
  const leftOut =
    rest === 0
      ? ''
      : ` ${rest} checks are left out: their clients stated no version, or a channel that is not known.`;
  const unlisted = usable
    .filter(({ version }) => version === OLDEST_VERSION)
    .reduce((sum, { checks }) => sum + checks, 0);
  const assumed =
    unlisted === 0
      ? ''
      : ` Of these, ${unlisted} came from versions that no channel lists: they are assumed to be older than all, and ${versionText(OLDEST_VERSION)} stands for them.`;
  const arches = Object.entries(USUAL_ARCH).map((names) => names.join('-'));
  return {
    groups: joinGroups(groups),
    description: `The fleet is in proportion to ${used} counted checks, because counts do not have installations.${assumed}${leftOut} Counts do not have the architecture: the usual ones are assumed (${arches.join(', ')}).`,
  };
}
