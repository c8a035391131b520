import type { OfferJson } from '../../../catalog/documents/revision-document.ts';
import type { ChannelView } from '../../../domain/channel.ts';
import { isForAllClients } from '../../../domain/decide-update.ts';
import type { Offer } from '../../../domain/offer.ts';
import { inRange, parseVersion, type Version, versionText } from '../../../domain/version.ts';
import {
  answers,
  newestFirst,
  targetsOf,
  versionsOf,
} from '../../../releases/forecast/foresee-updates.ts';
import { type ChangedChannels, viewChannels } from '../../../releases/forecast/view-channels.ts';
import type { Replacement } from '../answers.ts';

/**
 * The views of a catalog's channels. The clients of a channel see its own offers and the offers that it inherits. The
 * views are kept, because parsing thousands of offers takes a while.
 */
const shown = new WeakMap<ChangedChannels, ReadonlyMap<string, ChannelView>>();

export function channelViews(channels: ChangedChannels): ReadonlyMap<string, ChannelView> {
  const views = shown.get(channels) ?? viewChannels(channels);
  shown.set(channels, views);
  return views;
}

/** The offers of a channel that every client gets, with the newest first. @param now milliseconds since the epoch */
export function offersForAll(
  channels: ChangedChannels,
  name: string,
  now: number,
): readonly Offer[] {
  const offers = channelViews(channels).get(name)?.offers ?? [];
  return offers.filter((offer) => isForAllClients(offer, now));
}

/** A version that is older than any release, for a client that has never updated. */
const OLDEST = versionText(parseVersion('0.0.0-0'));

/** For each channel, the versions that some client or visitor of the channel is offered. */
type OfferedVersions = ReadonlyMap<string, ReadonlySet<string>>;

interface Known {
  /** One object for each channel. When a rollout begins or ends, its channel returns another object. */
  readonly stages: readonly unknown[];
  readonly offered: OfferedVersions;
}

/**
 * Screens send requests every few seconds, and decisions about thousands of releases take a while, so the result is
 * kept.
 */
const known = new WeakMap<ChangedChannels, Known>();

/**
 * The versions that some client or visitor is offered now, as the service decides. Other versions are listed, but
 * clients are offered a newer release instead.
 *
 * @param now by the store's clock; milliseconds since the epoch
 */
function offeredByChannel(channels: ChangedChannels, now: number): OfferedVersions {
  const views = [...channelViews(channels)];
  const stages = views.map(([, view]) => view.rolloutStage(now));
  const last = known.get(channels);
  if (last?.stages.every((stage, index) => stage === stages[index])) return last.offered;
  const offered = new Map(
    views.map(([name, view]) => [name, new Set(offeredOn(channels, name, view, now))]),
  );
  known.set(channels, { stages, offered });
  return offered;
}

/** True when some client or visitor of any channel is offered the version now. @param now see `offersForAll` */
export function isOfferedNow(channels: ChangedChannels, version: string, now: number): boolean {
  return [...offeredByChannel(channels, now).values()].some((versions) => versions.has(version));
}

/**
 * The newer release that clients are offered in place of an active offer. Null when no newer release for its platforms
 * is for every client.
 *
 * @param channel the channel that lists the offer; clients of channels that inherit it see the offer as well
 * @param now by the store's clock; milliseconds since the epoch
 */
export function replacementOf(
  channels: ChangedChannels,
  channel: string,
  { version, artifacts }: Pick<OfferJson, 'version' | 'artifacts'>,
  now: number,
): Replacement | null {
  const views = channelViews(channels);
  // A newer release for other platforms only has not replaced this one.
  const platforms = new Set(artifacts.map(({ os }) => os));
  for (const offer of views.get(channel)?.offers ?? []) {
    const newer = versionText(offer.version);
    if (newer === version) break;
    const isForSame = offer.artifacts.some(({ platform }) => platforms.has(platform));
    if (isForSame && isForAllClients(offer, now)) {
      return { version: newer, isComplete: !hasClients(channels, channel, version, now) };
    }
  }
  return null;
}

/** True when some client is offered the version that the channel lists, also through a channel that inherits it. */
function hasClients(
  channels: ChangedChannels,
  channel: string,
  version: string,
  now: number,
): boolean {
  const views = channelViews(channels);
  return [...offeredByChannel(channels, now)].some(
    ([name, versions]) =>
      versions.has(version) &&
      (name === channel || views.get(name)?.inherits.includes(channel) === true),
  );
}

function offeredOn(
  channels: ChangedChannels,
  name: string,
  view: ChannelView,
  now: number,
): readonly string[] {
  const toVisitors = offersForAll(channels, name, now).slice(0, 1);
  const installed = kindsOfClients(newestFirst([...versionsOf(channels, view), OLDEST]), view);
  const listed = [name, ...view.inherits].flatMap((each) => channels[each]?.offers ?? []);
  const toClients = targetsOf(listed).flatMap((artifact) =>
    answers(view, artifact, installed, now).flatMap(({ of: { offered, reached } }) => [
      ...(offered === null ? [] : [offered]),
      ...reached.map(({ version }) => version),
    ]),
  );
  return [...toVisitors.map(({ version }) => versionText(version)), ...toClients];
}

/**
 * Groups the versions by the requirements that they meet, and keeps the oldest version of each group. Clients with the
 * oldest version are offered every release that other clients of the group are offered.
 *
 * @param versions newest first
 */
function kindsOfClients(versions: readonly Version[], { offers }: ChannelView): readonly Version[] {
  const ranges = [...new Set(offers.map(({ requires }) => requires))].filter(
    (range) => range !== null,
  );
  const oldest = new Map(
    versions.map((version) => [ranges.map((range) => inRange(version, range)).join(), version]),
  );
  return newestFirst([...oldest.values()].map(versionText));
}
