import type { Channels } from '../catalog/change.ts';
import { channelEntries, type OfferJson } from '../catalog/revision-document.ts';
import { viewsOf } from '../catalog/snapshot.ts';
import type { ChannelView } from '../domain/channel.ts';
import { decideUpdate } from '../domain/decide-update.ts';
import type { OfferedArtifact } from '../domain/offer.ts';
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
} from '../domain/version.ts';
import { AppError } from '../errors.ts';
import { updateQuestion } from './foresee-updates.ts';

/**
 * Refuses a release that some versions must update to and cannot reach. They are in its `mandatory_for` and not in
 * its `requires`, and no chain of other releases on the channel leads to it.
 *
 * Every version counts, even one that was never published here: clients may come from another service. So it checks one
 * version of each interval between the bounds of all ranges, and follows its decisions from release to release.
 *
 * @param channels the state that already offers the release
 * @throws AppError `clients_stranded`
 */
export function refuseStranding(channels: Channels, channel: string, offer: OfferJson): void {
  if (offer.requires === null || offer.mandatory_for === null) return;
  const mandatoryFor = parseRange(offer.mandatory_for, '/mandatory_for');
  const requires = parseRange(offer.requires, '/requires');
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
    `Clients on ${versionText(example(stranded, channels) ?? first)} must update to ${offer.version} (--mandatory-for "${offer.mandatory_for}"), but ${offer.version} requires ${offer.requires}, and ${channel} has no release in between that leads there. Publish one in between first, or correct --requires and --mandatory-for. To leave these clients where they are, add --allow-stranded.`,
  );
}

/** A rollout delays a release, but its clients are not stranded. */
function withoutRollouts(channels: Channels): Channels {
  return Object.fromEntries(
    Object.entries(channels).map(([name, channel]) => [
      name,
      { ...channel, offers: channel.offers.map(({ rollout: _rollout, ...offer }) => offer) },
    ]),
  );
}

/** Whether updates lead a client to a version that is not in the range, one release after the other. */
function leadsOn(
  view: ChannelView,
  channel: string,
  artifact: OfferedArtifact,
  from: Version,
  mandatoryFor: VersionRange,
): boolean {
  let current = from;
  // Each step leads to a newer version, so this ends.
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

/** The newest published version, which clients have; else the first version that is not a pre-release, if any. */
function example(stranded: readonly Version[], channels: Channels): Version | undefined {
  const published = new Set(
    channelEntries(channels).flatMap(([, { offers }]) => offers.map(({ version }) => version)),
  );
  return (
    stranded.findLast((version) => published.has(versionText(version))) ??
    stranded.find((version) => !isPrerelease(version))
  );
}
