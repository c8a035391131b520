import type { Channels } from '../catalog/change.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import { counted } from '../counted.ts';
import type { ChannelView } from '../domain/channel.ts';
import { nativeArches } from '../domain/compatible-arches.ts';
import { apportion, type FleetGroup, joinGroups } from '../domain/fleet.ts';
import type { OfferedArtifact } from '../domain/offer.ts';
import { type Platform, platformOf } from '../domain/platform.ts';
import { ALL_CLIENTS, type Rollout, shareAt } from '../domain/rollout.ts';
import { type Target, targetName } from '../domain/target.ts';
import { parseVersion, tryParseVersion, type Version } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { versionsOf } from './foresee-updates.ts';
import { unknownChannel } from './unknown-release.ts';

/** Fleets for simulations: made up from a channel, or from counts of checks. */

/** A fleet, and what an operator should know about it. */
export interface DescribedFleet {
  readonly groups: readonly FleetGroup[];
  readonly description: string;
}

/**
 * Spreads installations evenly over the versions that a channel shows or showed, and the targets that each is for; a
 * retired version counts for all targets. A version whose rollout is under way has no installations yet.
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
  const places = used.flatMap(({ version, targets: own }) =>
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
  const groups = places.map(({ version, target }, index) => ({
    ...machineOf(target),
    channel,
    version,
    count: counts[index] ?? 0,
  }));
  return {
    groups: joinGroups(groups),
    description: `The fleet is made up: its installations are spread evenly over ${counted(used.length, 'version')} of ${channel} and the targets of each.`,
  };
}

interface ShownVersion {
  readonly version: Version;
  readonly rollout: Rollout | null;
  /** Empty when they are not known. */
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

/** Checks that clients made: what the stored counts have. */
export interface SeenChecks {
  readonly channel: string;
  readonly platform: string;
  readonly version: string;
  readonly checks: number;
}

/** The architecture that most machines of a platform have. Counts do not have it. */
const USUAL_ARCH: Readonly<Record<Platform, Target['arch']>> = {
  windows: 'x64',
  macos: 'arm64',
  linux: 'x64',
};

/**
 * Spreads installations in proportion to the checks that clients made. Leaves out clients that stated no version, and
 * versions that the catalog did not know.
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
    const version = tryParseVersion(text);
    if (platform === undefined || version === undefined || checks === 0) return [];
    if (!Object.hasOwn(channels, channel)) return [];
    const target = { platform, arch: USUAL_ARCH[platform] };
    return [{ ...machineOf(target), channel, version, checks }];
  });
  const used = usable.reduce((sum, { checks }) => sum + checks, 0);
  if (used === 0) {
    const why =
      'The stored counts have no checks of known versions in this time. Give more --days, a file with --csv, or neither --seen nor --csv for a made-up fleet.';
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
      : ` ${rest} checks are left out: their clients stated no version, or a channel or version that is not known.`;
  const arches = Object.entries(USUAL_ARCH).map((names) => names.join('-'));
  return {
    groups: joinGroups(groups),
    description: `The fleet is in proportion to ${used} counted checks, because counts do not have installations.${leftOut} Counts do not have the architecture: the usual ones are assumed (${arches.join(', ')}).`,
  };
}
