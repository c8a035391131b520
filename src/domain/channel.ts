import { AppError } from '../core/errors.ts';
import { runAtOnce, type Steps } from '../core/steps.ts';
import { newestFirst, type Offer } from './offer.ts';
import { indexByMachine, type MachineIndex, NO_OFFERS } from './offers-by-machine.ts';
import { createRolloutStages, type RolloutStage } from './rollout.ts';
import { isPrerelease, type Version, versionText } from './version.ts';

/** Channels: named lists of offers, and what a client of a channel sees. */

export const DEFAULT_CHANNEL = 'stable';
const CHANNEL_ALIASES: Readonly<Record<string, string>> = { latest: DEFAULT_CHANNEL };

/** Channel names that mean pre-releases. */
const PRERELEASE_NAMES: ReadonlySet<string> = new Set(
  'alpha beta canary dev edge insider insiders next nightly preview rc testing unstable'.split(' '),
);

// Names become object keys and URL paths. They are ASCII, so that no two names look alike.
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** The channel that an alias refers to (`latest` is `stable`). Any other name is returned unchanged. */
export function channelNamed(name: string): string {
  return Object.hasOwn(CHANNEL_ALIASES, name) ? (CHANNEL_ALIASES[name] ?? name) : name;
}

/** The other names of a channel. */
export function aliasesOf(channel: string): readonly string[] {
  return Object.entries(CHANNEL_ALIASES).flatMap(([alias, name]) =>
    name === channel ? [alias] : [],
  );
}

/** @throws AppError `invalid_name` */
export function parseChannelName(name: string): string {
  return channelNamed(parseName(name, 'channel'));
}

/** @throws AppError `invalid_name` */
export function parseApplicationName(name: string): string {
  return parseName(name, 'application');
}

function parseName(name: string, noun: 'channel' | 'application'): string {
  if (NAME.test(name) && !name.includes('..')) return name;
  const shown = JSON.stringify(name.slice(0, 80));
  const detail = `${shown} is not a usable ${noun} name; use 1 to 64 of a-z, 0-9, ".", "_" and "-". Begin and end with a letter or digit.`;
  throw new AppError('invalid_name', detail, { issues: [{ pointer: `/${noun}`, detail }] });
}

/**
 * True when the name or the first version of a new channel says that the channel is for pre-releases.
 *
 * @param firstVersion null when the channel has no version yet
 */
export function isPrereleaseChannel(name: string, firstVersion: Version | null): boolean {
  if (name === DEFAULT_CHANNEL) return false;
  return PRERELEASE_NAMES.has(name) || (firstVersion !== null && isPrerelease(firstVersion));
}

/** A channel as the catalog revision states it. */
export interface Channel {
  readonly name: string;
  /**
   * The channel that this channel inherits from; null for none. Clients see every offer of the inherited channel as
   * well, including the offers that the inherited channel inherits.
   */
  readonly inherits: string | null;
  /** True when a person who asks by hand may get a release before its rollout reaches the installation. */
  readonly givesEarlyAccess: boolean;
  /** True when a client that asks for a downgrade may go back to an older version. */
  readonly allowsDowngrade: boolean;
  readonly offers: readonly Offer[];
  /** Versions that were retired from the channel. */
  readonly retired: ReadonlySet<string>;
}

/** The channels that a channel inherits from, the nearest first. For alpha, these are beta and stable. */
export function inheritedNames(
  name: string,
  inheritsOf: (name: string) => string | null | undefined,
): readonly string[] {
  const names: string[] = [];
  // No command makes a circle, but a stored document could contain a circle.
  for (let next = inheritsOf(name); next != null && next !== name; next = inheritsOf(next)) {
    if (names.includes(next)) break;
    names.push(next);
  }
  return names;
}

/**
 * The offers that a client of a channel sees. The view indexes the offers, so that a decision does not search the whole
 * list.
 */
export interface ChannelView {
  readonly name: string;
  /** False when the channel is closed to the client: the view then shows no offers. */
  readonly isOpen: boolean;
  /** The channels whose offers the view shows in addition to the channel's own, the nearest first. */
  readonly inherits: readonly string[];
  /** See {@link Channel}. */
  readonly givesEarlyAccess: boolean;
  readonly allowsDowngrade: boolean;
  /** True when the channel, or a channel that it inherits, lists or once listed a release of any status. */
  readonly hadRelease: boolean;
  /** Newest first, without yanked offers. */
  readonly offers: readonly Offer[];
  /** Newest first. */
  readonly yanked: readonly Offer[];
  /** The `offers` with an artifact that runs on the machine. */
  readonly offersFor: MachineIndex;
  /** @param now by the store's clock; milliseconds since the epoch */
  rolloutStage(now: number): RolloutStage;
  /** The offer of a version, yanked or not. */
  offerOf(version: string): Offer | undefined;
  isRetired(version: string): boolean;
  /** The same channel without the offers of the inherited channels for which `isShown` returns false. */
  showing(isShown: (inherited: string) => boolean): ChannelView;
}

/** @param inherited the channels whose offers the view also shows, the nearest first */
export function createChannelView(channel: Channel, inherited: readonly Channel[]): ChannelView {
  return runAtOnce(createChannelViewInSteps(channel, inherited));
}

/** Like {@link createChannelView}, but in steps, because it takes long to index thousands of offers. */
export function* createChannelViewInSteps(
  channel: Channel,
  inherited: readonly Channel[],
): Steps<ChannelView> {
  const byVersion = new Map<string, Offer>();
  const shownChannels = [channel, ...inherited];
  // When several channels offer a version, the offer of the nearest one takes precedence.
  for (const each of shownChannels.toReversed()) {
    for (const offer of each.offers) byVersion.set(versionText(offer.version), offer);
  }
  yield;
  const listed = [...byVersion.values()].sort(newestFirst);
  const offers = listed.filter((offer) => offer.status !== 'yanked');
  const yanked = listed.filter((offer) => offer.status === 'yanked');
  yield;
  const offersFor = yield* indexByMachine(offers);
  const parts = new Map<string, ChannelView>();
  const view: ChannelView = {
    name: channel.name,
    isOpen: true,
    inherits: inherited.map(({ name }) => name),
    givesEarlyAccess: channel.givesEarlyAccess,
    allowsDowngrade: channel.allowsDowngrade,
    hadRelease: byVersion.size > 0 || shownChannels.some(({ retired }) => retired.size > 0),
    offers,
    yanked,
    offersFor,
    rolloutStage: createRolloutStages(offers.map(({ rollout }) => rollout)),
    offerOf: (version) => byVersion.get(version),
    isRetired: (version) => shownChannels.some(({ retired }) => retired.has(version)),
    showing: (isShown) => {
      const shown = inherited.filter(({ name }) => isShown(name));
      if (shown.length === inherited.length) return view;
      const names = shown.map(({ name }) => name).join();
      // A part is created on first use, because few services restrict an inherited channel.
      const part = parts.get(names) ?? createChannelView(channel, shown);
      parts.set(names, part);
      return part;
    },
  };
  return view;
}

/** The view of a channel that is closed to the client. It shows only the name. */
export function createClosedView(name: string): ChannelView {
  const view: ChannelView = {
    name,
    isOpen: false,
    inherits: [],
    givesEarlyAccess: false,
    allowsDowngrade: false,
    hadRelease: false,
    offers: [],
    yanked: [],
    offersFor: NO_OFFERS,
    rolloutStage: createRolloutStages([]),
    offerOf: () => undefined,
    isRetired: () => false,
    showing: () => view,
  };
  return view;
}
