import {
  type Channels,
  channelEntries,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { viewsOf } from '../../catalog/live/snapshot.ts';
import { AppError } from '../../core/errors.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { decideUpdate } from '../../domain/decide-update.ts';
import type { OfferedArtifact } from '../../domain/offer.ts';
import {
  compareVersions,
  inRange,
  isPrerelease,
  parseRange,
  parseVersion,
  representatives,
  type Version,
  type VersionRange,
  versionText,
} from '../../domain/version.ts';
import { updateQuestion } from '../forecast/foresee-updates.ts';

/**
 * Refuses a release that no client can reach, and a release that some versions must reach and cannot.
 *
 * No client reaches the release when the application has older releases, and none of these is in `requires`. A version
 * must reach the release and cannot when the version is in `mandatory_for` and not in `requires`, and no chain of other
 * releases on the channel leads to the release.
 *
 * Every version counts, even a version that was never published here, because clients may come from another service. So
 * the check takes one version of each interval between the bounds of all ranges, and follows the updates of that
 * version from release to release.
 *
 * @param channels the state that already offers the release
 * @throws AppError `clients_stranded`
 */
export function refuseStranding(channels: Channels, channel: string, offer: OfferJson): void {
  if (offer.requires === null) return;
  const requires = parseRange(offer.requires, '/requires');
  if (offer.mandatory_for !== null) {
    refuseUnreached(channels, channel, offer, requires, offer.mandatory_for);
  }
  refuseUnreachable(channels, offer, requires);
}

function refuseUnreached(
  channels: Channels,
  channel: string,
  offer: OfferJson,
  requires: VersionRange,
  mandatoryText: string,
): void {
  const mandatoryFor = parseRange(mandatoryText, '/mandatory_for');
  const release = parseVersion(offer.version);
  const state = channels[channel];
  if (state === undefined) return;
  // A paused release counts as active, because it may be resumed.
  const offers = state.offers.map((other) =>
    other.version === offer.version ? { ...other, status: 'active' as const } : other,
  );
  const view = viewsOf(withoutRollouts({ ...channels, [channel]: { ...state, offers } })).get(
    channel,
  );
  if (view === undefined) return;
  const mustUpdate = representatives(
    [mandatoryFor, requires, ...rangesOf(view)],
    view.offers.map(({ version }) => version),
  )
    .filter((version) => compareVersions(version, release) < 0)
    .filter((version) => inRange(version, mandatoryFor) && !inRange(version, requires));
  const artifacts = view.offerOf(offer.version)?.artifacts ?? [];
  const stranded = mustUpdate.filter((version) =>
    artifacts.some((artifact) => !leadsOn(view, channel, artifact, version, mandatoryFor)),
  );
  const [first] = stranded;
  if (first === undefined) return;
  throw new AppError(
    'clients_stranded',
    `Clients on ${versionText(example(stranded, channels) ?? first)} must update to ${offer.version} (--mandatory-for "${mandatoryText}"), but ${offer.version} requires ${offer.requires}, and ${channel} has no release in between that leads there. Publish one in between first, or correct --requires and --mandatory-for. To leave these clients where they are, add --allow-stranded.`,
  );
}

/** Refuses a release that no known version can reach: clients may run any version that some channel lists or listed. */
function refuseUnreachable(
  channels: Channels,
  { version, requires }: OfferJson,
  range: VersionRange,
): void {
  const texts = channelEntries(channels).flatMap(([, { offers, retired }]) => [
    ...offers.map((other) => other.version),
    ...retired,
  ]);
  const release = parseVersion(version);
  const older = [...new Set(texts)]
    .map((text) => parseVersion(text))
    .filter((other) => compareVersions(other, release) < 0)
    .sort(compareVersions);
  const newest = older.at(-1);
  if (newest === undefined || older.some((other) => inRange(other, range))) return;
  throw new AppError(
    'clients_stranded',
    `No client can update to ${version}: it requires ${requires}, and no published release is in that range. The newest one before it is ${versionText(newest)}. Publish a release in that range first, or correct --requires. To publish ${version} all the same, add --allow-stranded.`,
  );
}

/** Leaves out the rollouts, because a rollout delays a release and strands no client. */
function withoutRollouts(channels: Channels): Channels {
  return Object.fromEntries(
    Object.entries(channels).map(([name, channel]) => [
      name,
      { ...channel, offers: channel.offers.map(({ rollout: _rollout, ...offer }) => offer) },
    ]),
  );
}

/** Reports whether updates, one release after the other, lead a client to a version that is not in the range. */
function leadsOn(
  view: ChannelView,
  channel: string,
  artifact: OfferedArtifact,
  from: Version,
  mandatoryFor: VersionRange,
): boolean {
  let current = from;
  // Each step leads to a newer version, so the loop ends.
  while (inRange(current, mandatoryFor)) {
    const decision = decideUpdate(updateQuestion(channel, artifact, current), view, 0);
    if (decision.reason !== 'offer') return false;
    current = decision.offer.version;
  }
  return true;
}

function rangesOf({ offers }: ChannelView): readonly VersionRange[] {
  return [...new Set(offers.map(({ requires }) => requires))].filter((range) => range !== null);
}

/**
 * The example for the message: the newest published version, because clients have it; else the first version that is
 * not a pre-release, if any.
 */
function example(stranded: readonly Version[], channels: Channels): Version | undefined {
  const published = new Set(
    channelEntries(channels).flatMap(([, { offers }]) => offers.map(({ version }) => version)),
  );
  return (
    stranded.findLast((version) => published.has(versionText(version))) ??
    stranded.find((version) => !isPrerelease(version))
  );
}
