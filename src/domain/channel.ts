import { AppError } from '../errors.ts';
import { runAtOnce, type Steps } from '../steps.ts';
import type { Offer } from './offer.ts';
import { indexByMachine, type MachineIndex, NO_OFFERS } from './offers-by-machine.ts';
import { compareVersions, isPrerelease, type Version, versionText } from './version.ts';

/** Channels: named lists of offers, and what a client of one of them sees. */

export const DEFAULT_CHANNEL = 'stable';
const CHANNEL_ALIASES: Readonly<Record<string, string>> = { latest: DEFAULT_CHANNEL };

/** Names that say by themselves that a channel is for pre-releases. */
const PRERELEASE_NAMES: ReadonlySet<string> = new Set(
  'alpha beta canary dev edge insider insiders next nightly preview rc testing unstable'.split(' '),
);

// Names become object keys and addresses: plain ASCII, so that no two of them look alike.
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** The channel an alias means (`latest` is `stable`); any other name is itself. */
export function channelNamed(name: string): string {
  return Object.hasOwn(CHANNEL_ALIASES, name) ? (CHANNEL_ALIASES[name] ?? name) : name;
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
  const detail = `${shown} is not a usable ${noun} name; use 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning and ending with a letter or digit.`;
  throw new AppError('invalid_name', detail, { issues: [{ pointer: `/${noun}`, detail }] });
}

/** Whether a channel created now, for this first version, is one for pre-releases. */
export function isPrereleaseChannel(name: string, firstVersion: Version): boolean {
  return name !== DEFAULT_CHANNEL && (PRERELEASE_NAMES.has(name) || isPrerelease(firstVersion));
}

/** One channel as its catalog revision states it. */
export interface Channel {
  readonly name: string;
  /** A pre-release channel also sees the stable channel's offers. */
  readonly prerelease: boolean;
  readonly offers: readonly Offer[];
  /** Versions that this channel listed once and does not list any more. */
  readonly retired: ReadonlySet<string>;
}

/** What a client of a channel sees; indexed, so that a decision does not search the whole list. */
export interface ChannelView {
  readonly name: string;
  /** False: it is not for who asks, and shows nothing. */
  readonly isOpen: boolean;
  /** The channel whose offers it shows beside its own, if there is one. */
  readonly inheritsFrom: string | null;
  /** Newest first; yanked ones are left out. */
  readonly offers: readonly Offer[];
  /** Those of `offers` with an artifact that runs on the machine. */
  readonly offersFor: MachineIndex;
  /** The offer of a version, yanked or not. */
  offerOf(version: string): Offer | undefined;
  isRetired(version: string): boolean;
  /** The same channel with its own offers alone. */
  own(): ChannelView;
}

/** @param stable the stable channel, which a pre-release channel sees as well */
export function createChannelView(channel: Channel, stable: Channel | undefined): ChannelView {
  return runAtOnce(createChannelViewInSteps(channel, stable));
}

/** As {@link createChannelView}, in steps: thousands of offers take a while. */
export function* createChannelViewInSteps(
  channel: Channel,
  stable: Channel | undefined,
): Steps<ChannelView> {
  const byVersion = new Map<string, Offer>();
  const seen = channel.prerelease ? stable : undefined;
  // The channel's own word on a version wins over the stable channel's.
  for (const offer of [...(seen?.offers ?? []), ...channel.offers])
    byVersion.set(versionText(offer.version), offer);
  yield;
  const offers = [...byVersion.values()]
    .filter((offer) => offer.status !== 'yanked')
    .sort((a, b) => compareVersions(b.version, a.version));
  yield;
  const offersFor = yield* indexByMachine(offers);
  let own: ChannelView | undefined;
  const view: ChannelView = {
    name: channel.name,
    isOpen: true,
    inheritsFrom: seen?.name ?? null,
    offers,
    offersFor,
    offerOf: (version) => byVersion.get(version),
    isRetired: (version) => channel.retired.has(version) || seen?.retired.has(version) === true,
    // Made when it is first asked for: few services keep the stable channel to themselves.
    own: () => {
      own ??= seen === undefined ? view : createChannelView(channel, undefined);
      return own;
    },
  };
  return view;
}

/** What those see of a channel who may not use it: its name. Whatever is asked of it, it gives nothing away. */
export function createClosedView(name: string): ChannelView {
  const view: ChannelView = {
    name,
    isOpen: false,
    inheritsFrom: null,
    offers: [],
    offersFor: NO_OFFERS,
    offerOf: () => undefined,
    isRetired: () => false,
    own: () => view,
  };
  return view;
}
