import { endsNativeJsonOf } from '../../catalog/documents/manifest-document.ts';
import {
  type ChannelJson,
  type Channels,
  channelEntries,
  channelIn,
  type OfferJson,
  parseOffers,
} from '../../catalog/documents/revision-document.ts';
import { rolloutOf } from '../../catalog/documents/rollout-document.ts';
import { AppError } from '../../core/errors.ts';
import { known } from '../../core/name-hint.ts';
import { DEFAULT_CHANNEL, inheritedNames, isPrereleaseChannel } from '../../domain/channel.ts';
import { findEnded, findLeftBehind } from '../../domain/native-builds.ts';
import type { Target } from '../../domain/target.ts';
import {
  compareVersions,
  isPrerelease,
  parseVersion,
  type Version,
  versionText,
} from '../../domain/version.ts';
import { type RequestedRollout, type RolloutStart, startRollout } from './start-rollout.ts';

/** Rules about the releases that a channel accepts. Every commit runs these checks on the state that it changes. */

export interface Admission {
  readonly application: string;
  readonly channel: string;
  /** True when the channel and the application may be created. */
  readonly create: boolean;
  /** True when a pre-release may be put on the stable channel. */
  readonly allowPrerelease: boolean;
  /** True when the release may be mandatory for versions that cannot reach the release. */
  readonly allowStranded?: boolean;
  /** Undefined: every client is offered the release at once. */
  readonly rollout?: RequestedRollout | undefined;
}

/**
 * Returns the channel that will offer a version; a new channel when the request may create it.
 *
 * @throws AppError `needs_create`, `prerelease_on_stable`, `version_ambiguous`, `status_forbids`
 */
export function admitToChannel(
  channels: Channels,
  version: Version,
  admission: Admission,
): ChannelJson {
  const { application, channel: name, create, allowPrerelease } = admission;
  const text = versionText(version);
  const channel = channelIn(channels, name);
  if (channel === undefined && !create) {
    throw new AppError(
      'needs_create',
      `No channel "${name}" in ${application}. ${known('Channels', Object.keys(channels), name)} Add --create to create it.`,
    );
  }
  if (name === DEFAULT_CHANNEL && isPrerelease(version) && !allowPrerelease) {
    throw new AppError(
      'prerelease_on_stable',
      `${text} is a pre-release, and every client of ${name} would get it. Publish it to another channel, or add --allow-prerelease.`,
    );
  }
  refuseAmbiguous(channels, version);
  const retiredFrom = Object.keys(channels).filter((key) => channels[key]?.retired.includes(text));
  // Retiring removes the status of an offer, so a version that no channel lists may have been yanked before.
  const isGone = retiredFrom.length > 0 && offersOf(channels, text).size === 0;
  if (isGone || retiredFrom.includes(name)) {
    throw new AppError(
      'status_forbids',
      `${text} was retired from ${retiredFrom.join(', ')}. Publish a new version.`,
    );
  }
  for (const [other, { offers }] of channelEntries(channels)) {
    if (offers.some((offer) => offer.version === text && offer.status === 'yanked')) {
      throw new AppError(
        'status_forbids',
        `${text} was yanked from ${other}, and a yank is permanent. Publish a new version.`,
      );
    }
  }
  return (
    channel ?? {
      inherits: isPrereleaseChannel(name, version) ? DEFAULT_CHANNEL : null,
      offers: [],
      retired: [],
    }
  );
}

/**
 * True when the channel exists and its clients are offered a release: a release of the channel itself, or an inherited
 * release.
 */
export function offersReleases(channels: Channels, name: string): boolean {
  if (!Object.hasOwn(channels, name)) return false;
  const shown = [name, ...inheritedNames(name, (each) => channels[each]?.inherits)];
  return shown.some((each) => channels[each]?.offers.some(({ status }) => status === 'active'));
}

/**
 * Refuses a change that removes a yanked offer while another channel still offers the version. Without the yanked
 * offer, a publisher could promote the version again.
 *
 * @param left the other channels, as they will be
 * @throws AppError `status_forbids`
 */
export function refuseForgottenYank(
  name: string,
  yanked: readonly Pick<OfferJson, 'version' | 'status'>[],
  left: Channels,
): void {
  for (const { version } of yanked.filter(({ status }) => status === 'yanked')) {
    const [other] =
      [...offersOf(left, version)].find(([, { status }]) => status !== 'yanked') ?? [];
    if (other === undefined) continue;
    throw new AppError(
      'status_forbids',
      `${version} is yanked on ${name} and still offered on ${other}. Yank it there too: slipway yank ${version} --channel ${other}.`,
    );
  }
}

/**
 * Refuses a version that only removed channels listed: clients may have its files.
 *
 * @throws AppError `status_forbids`
 */
export function refuseRemoved(
  channels: Channels,
  removedVersions: readonly string[],
  version: string,
): void {
  const parsed = parseVersion(version);
  const same = removedVersions.find((each) => compareVersions(parseVersion(each), parsed) === 0);
  if (same === undefined || offersOf(channels, version).size > 0) return;
  throw new AppError(
    'status_forbids',
    `${same} was listed on a channel that was removed. Publish a new version.`,
  );
}

/** Versions that differ only in build metadata are equal to every client (SemVer section 10). */
function refuseAmbiguous(channels: Channels, version: Version): void {
  const own = versionText(version);
  // Compares texts without parsing them, because a channel may list 100,000 versions. Equal versions have one spelling.
  const isSame = (text: string): boolean =>
    text !== own && withoutBuild(text) === withoutBuild(own);
  for (const [name, { offers, drafts = [], retired }] of channelEntries(channels)) {
    for (const text of [...[...offers, ...drafts].map((listed) => listed.version), ...retired]) {
      if (isSame(text)) {
        throw new AppError(
          'version_ambiguous',
          `${own} and ${text} on ${name} differ only in build metadata, which no client compares. Publish a new version.`,
        );
      }
    }
  }
}

function withoutBuild(text: string): string {
  const plus = text.indexOf('+');
  return plus < 0 ? text : text.slice(0, plus);
}

/** The offers of a version, by channel. */
export function offersOf(channels: Channels, version: string): ReadonlyMap<string, OfferJson> {
  const found = new Map<string, OfferJson>();
  for (const [name, { offers }] of channelEntries(channels)) {
    const offer = offers.find((candidate) => candidate.version === version);
    if (offer !== undefined) found.set(name, offer);
  }
  return found;
}

/** The newest version that a channel offers, when it is newer than `version`; null otherwise. */
export function newestAbove({ offers }: ChannelJson, version: Version): string | null {
  const newer = offers
    .filter(({ status }) => status === 'active')
    .map((offer) => parseVersion(offer.version))
    .filter((other) => compareVersions(other, version) > 0)
    .sort(compareVersions)
    .at(-1);
  return newer === undefined ? null : versionText(newer);
}

/**
 * The machines that stay on an older release of a channel, because the older release has native builds for them and the
 * version has none.
 *
 * @param channels the state that offers the version
 */
export function leftBehindOn(
  channels: Channels,
  name: string,
  version: Version,
): readonly Target[] {
  const shown = [...inheritedNames(name, (each) => channels[each]?.inherits), name];
  const visible = shown.flatMap((each) => channels[each]?.offers ?? []);
  return findLeftBehind(parseOffers(visible), version);
}

/**
 * Replaces or adds the offer of a version on one channel. From then on, clients see the channel. The offer also ends
 * the native builds that an older offer ended, unless the release has such builds again.
 */
export function withOffer(
  channels: Channels,
  name: string,
  { hidden: _hidden, ...channel }: ChannelJson,
  offer: OfferJson,
): Channels {
  const others = channel.offers.filter((other) => other.version !== offer.version);
  const offers = [...others, offer];
  // A fast path that does not parse thousands of offers: few channels end native builds.
  if (!offers.some(({ ends_native: ended }) => ended !== undefined)) {
    return { ...channels, [name]: { ...channel, offers } };
  }
  const { ends_native: _own, ...rest } = offer;
  const endsNative = findEnded(parseOffers(offers), parseVersion(offer.version));
  const added = { ...rest, ...endsNativeJsonOf({ endsNative }) };
  return { ...channels, [name]: { ...channel, offers: [...others, added] } };
}

/**
 * The offer with the rollout that the publisher asks for. An offer that the channel has already keeps its rollout,
 * because several machines publish one release with the same options.
 *
 * @param existing the offer that the channel has already
 * @throws AppError `invalid_rollout`; `status_forbids` when the channel lists the release already, without a rollout
 */
export function withRollout(
  start: RolloutStart,
  offer: OfferJson,
  existing: OfferJson | undefined,
  { channel, rollout: requested }: Admission,
): OfferJson {
  const { rollout: _copied, ...rest } = offer;
  if (existing === undefined) {
    if (requested === undefined) return rest;
    return { ...rest, rollout: startRollout(start, requested) };
  }
  if (existing.rollout !== undefined) return { ...rest, rollout: existing.rollout };
  if (requested === undefined || isForAll(start, requested)) return rest;
  throw new AppError(
    'status_forbids',
    `${channel} lists ${offer.version} already, without a rollout, so this command cannot start one. Leave out --rollout, or remove stagingPercentage from the settings of the build tool. To set the share of a release that is offered, run slipway rollout ${offer.version} 5%.`,
  );
}

function isForAll(start: RolloutStart, requested: RequestedRollout): boolean {
  return rolloutOf(startRollout(start, requested)) === null;
}
