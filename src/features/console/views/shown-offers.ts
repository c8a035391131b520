import type { ChannelView } from '../../../domain/channel.ts';
import { isForAllClients } from '../../../domain/decide-update.ts';
import type { Offer } from '../../../domain/offer.ts';
import { inRange, parseVersion, type Version, versionText } from '../../../domain/version.ts';
import { type ChangedChannels, viewChannels } from '../../../releases/channels/view-channels.ts';
import {
  answers,
  newestFirst,
  targetsOf,
  versionsOf,
} from '../../../releases/forecast/foresee-updates.ts';

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

interface Known {
  /** One object for each channel. When a rollout begins or ends, its channel returns another object. */
  readonly stages: readonly unknown[];
  readonly versions: ReadonlySet<string>;
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
export function offeredNow(channels: ChangedChannels, now: number): ReadonlySet<string> {
  const views = [...channelViews(channels)];
  const stages = views.map(([, view]) => view.rolloutStage(now));
  const last = known.get(channels);
  if (last?.stages.every((stage, index) => stage === stages[index])) return last.versions;
  const versions = new Set(views.flatMap(([name, view]) => offeredOn(channels, name, view, now)));
  known.set(channels, { stages, versions });
  return versions;
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
