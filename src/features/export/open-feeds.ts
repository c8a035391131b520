import { type ServiceDeps, seeChannel } from '../../answers/open-channel.ts';
import type { LoadedRelease, ReadyApplication } from '../../catalog/live/catalog.ts';
import type { Snapshot } from '../../catalog/live/snapshot.ts';
import type { Channel, ChannelView } from '../../domain/channel.ts';
import { isForAllClients } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import { type ArtifactIdentity, identityName } from '../../domain/release.ts';
import { NO_CLIENTS, shareAt } from '../../domain/rollout.ts';
import { compareVersions, tryParseVersion, versionText } from '../../domain/version.ts';
import type { StaticChannel, StaticFile } from '../../updaters/static-address.ts';

/** The feeds of an application that clients without an access token may read. */

export interface OpenFeeds {
  readonly application: string;
  readonly channels: readonly OpenChannel[];
  /** The channels that need an access token. */
  readonly restricted: readonly string[];
  /** The names of the releases that could not be verified. The service does not offer these releases. */
  readonly unverified: readonly string[];
}

export interface OpenChannel {
  readonly view: ChannelView;
  /** The facts from which each dialect makes its addresses. */
  readonly facts: StaticChannel;
  /** The releases that every client may get, newest first. */
  readonly offered: readonly OpenRelease[];
  /** Other releases that clients may have installed: yanked, paused, or below 100 %. */
  readonly installed: readonly OpenRelease[];
}

export interface OpenRelease {
  readonly offer: Offer;
  readonly release: LoadedRelease;
}

/** @throws AppError `unknown_application`, `catalog_unavailable` */
export async function openFeeds(deps: ServiceDeps, name: string): Promise<OpenFeeds> {
  const application = deps.catalog.application(name);
  const snapshot = application.snapshot();
  const names = [...snapshot.channels.keys()];
  const isOpen = (channel: string) => deps.tiers.opensChannel(null, name, channel);
  const views = names
    .filter(isOpen)
    .map((channel) => seeChannel(deps, application, channel, null).channel);
  const versions = versionsOf(snapshot.revision.channels.values(), isOpen);
  const context = { application, versions, channels: views.map((view) => view.name) };
  const channels: OpenChannel[] = [];
  for (const view of views) channels.push(await openChannel(context, view, deps.clock.now()));
  return {
    application: name,
    channels,
    restricted: names.filter((channel) => !isOpen(channel)),
    unverified: unverifiedVersions(snapshot),
  };
}

function unverifiedVersions({ offers, leftOut }: Snapshot): readonly string[] {
  const unverified = offers.filter(({ manifest }) => leftOut.has(manifest.digest));
  return [...new Set(unverified.map(({ version }) => versionText(version)))];
}

interface Context extends Pick<StaticChannel, 'versions' | 'channels'> {
  readonly application: ReadyApplication;
}

async function openChannel(
  { application, versions, channels }: Context,
  view: ChannelView,
  now: number,
): Promise<OpenChannel> {
  const offered: OpenRelease[] = [];
  const installed: OpenRelease[] = [];
  for (const version of versions) {
    const offer = view.offerOf(version);
    if (offer === undefined) continue;
    const list = isForAllClients(offer, now) ? offered : mayBeInstalled(offer, now) && installed;
    if (list === false) continue;
    // Undefined when the release cannot be verified: the service does not offer such a release, either.
    const release = await application.release(offer);
    if (release !== undefined) list.push({ offer, release });
  }
  const builds = new Map<string, ArtifactIdentity>();
  for (const { artifacts } of view.offers) {
    for (const { platform, arch, format } of artifacts) {
      const identity = { platform, arch, format };
      builds.set(identityName(identity), identity);
    }
  }
  const files = offered.flatMap(({ release }) => filesOf(release));
  const facts = { name: view.name, channels, builds: [...builds.values()], versions, files };
  return { view, facts, offered, installed };
}

/** For an offer that not every client gets now: true when some client may have installed its release. */
function mayBeInstalled({ status, rollout }: Offer, now: number): boolean {
  return status !== 'active' || rollout === null || shareAt(rollout.ramp, now) > NO_CLIENTS;
}

function filesOf(release: LoadedRelease): readonly StaticFile[] {
  const { version } = release;
  return release.artifacts.flatMap(({ platform, arch, format, filename, companions }) => {
    const identity = { version, platform, arch, format };
    return [
      { ...identity, filename },
      ...companions.map(({ kind, filename: name }) => ({ ...identity, kind, filename: name })),
    ];
  });
}

/** Every version that an open channel lists or has retired, newest first. */
function versionsOf(
  channels: Iterable<Channel>,
  isOpen: (channel: string) => boolean,
): readonly string[] {
  const stated = [...channels]
    .filter(({ name }) => isOpen(name))
    .flatMap(({ offers, retired }) => [
      ...offers.map(({ version }) => versionText(version)),
      ...retired,
    ]);
  return [...new Set(stated)]
    .flatMap((text) => tryParseVersion(text) ?? [])
    .sort((a, b) => compareVersions(b, a))
    .map(versionText);
}
