import type { FoundTool } from '../../builds/project/project.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { admittedArches } from '../../domain/compatible-arches.ts';
import { type Format, PLATFORMS, type Platform } from '../../domain/platform.ts';
import type { Protocol } from '../../updaters/protocol.ts';
import {
  neededSignature,
  PROTOCOLS,
  type ServingProtocol,
  servedFormats,
  serves,
} from '../../updaters/registry.ts';
import type { ChannelFeed, SetUp, SetUpAddress } from '../../updaters/set-up.ts';
import type { FeedChannel, OfferedFile } from './list-feeds.ts';

/** Stands for PUBLIC_URL when it is not set. The name cannot exist (RFC 2606), so a copied line fails at once. */
export const PLACEHOLDER = 'https://public-url.invalid';

/** The addresses of one channel, for `slipway feeds`. */
export interface ChannelAddresses {
  readonly channel: FeedChannel;
  readonly feeds: readonly DialectFeed[];
  /** The addresses of download buttons on a website. */
  readonly downloads: readonly { readonly platform: Platform; readonly url: string }[];
  /** The address for the POST of an updater that speaks no dialect. */
  readonly checkUpdate: string;
  /** The fields of that POST that name the application and the channel: `"app": "other", "channel": "beta"`. */
  readonly checkUpdateFields: string;
  readonly unserved: readonly UnservedFile[];
}

export interface DialectFeed extends SetUp {
  /** Addresses for which the channel has a build come first. */
  readonly addresses: readonly DialectAddress[];
  readonly protocol: Pick<Protocol, 'name' | 'title'> & ServingProtocol;
  readonly url: string;
  /** The files of the channel that clients of this dialect can get. */
  readonly serves: readonly OfferedFile[];
}

interface DialectAddress extends SetUpAddress {
  /** True when the channel has a build for clients that ask at this address. */
  readonly hasBuild: boolean;
}

interface UnservedFile {
  readonly file: OfferedFile;
  /** A sentence that says to whom the file matters. */
  readonly matters: string;
}

/** The facts about a project's build tool that decide which lines a developer pastes. */
export type SetUpTool = Pick<FoundTool, 'updaters' | 'configuration' | 'replaced'>;

/** The set-up of a dialect in the syntax of the project's own file, with notes on what the project must remove. */
export function setUpFor(
  protocol: Pick<Protocol, 'name' | 'describeSetUp'>,
  feed: ChannelFeed,
  tool: SetUpTool | undefined,
): SetUp {
  if (tool?.updaters.includes(protocol.name) !== true) return protocol.describeSetUp(feed);
  const setUp = protocol.describeSetUp({ ...feed, configuration: tool.configuration });
  return { ...setUp, notes: [...(tool.replaced ?? []), ...setUp.notes] };
}

export interface AddressFacts {
  readonly application: string;
  readonly defaultApplication: string;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly publicKeys: ChannelFeed['publicKeys'];
  /** The build tools of the project in the current directory; empty for none. */
  readonly tools: readonly SetUpTool[];
}

/** @param updater the only dialect to describe; undefined: every dialect */
export function describeChannel(
  facts: AddressFacts,
  channel: FeedChannel,
  updater?: string,
): ChannelAddresses {
  const { application, publicUrl, publicKeys, tools } = facts;
  const { name, isRestricted, files } = channel;
  const every = PROTOCOLS.map((protocol) => {
    const url = feedUrl(facts, name, protocol);
    const served = files.filter((file) => serves(protocol, file));
    const tool = tools.find(({ updaters }) => updaters.includes(protocol.name));
    const setUp = setUpFor(protocol, { application, url, isRestricted, publicKeys }, tool);
    const addresses = setUp.addresses
      .map((address) => ({ ...address, hasBuild: served.some((file) => isAskedAt(address, file)) }))
      .sort((a, b) => Number(b.hasBuild) - Number(a.hasBuild));
    return { protocol, url, serves: served, ...setUp, addresses };
  });
  const feeds = every.filter(({ protocol }) => updater === undefined || protocol.name === updater);
  return {
    channel,
    feeds,
    downloads: PLATFORMS.filter((platform) => files.some((file) => file.platform === platform)).map(
      (platform) => ({ platform, url: downloadUrl(facts, name, platform) }),
    ),
    checkUpdate: `${publicUrl}/api/v1/desktop/check-update`,
    checkUpdateFields: `${application === facts.defaultApplication ? '' : `"app": "${application}", `}"channel": "${name}"`,
    unserved: files
      .filter((file) => !every.some((feed) => feed.serves.includes(file)))
      .map((file) => ({ file, matters: mattersTo(file) })),
  };
}

/** The address of a dialect's documents for a channel, without a slash at its end. */
export function feedUrl(
  { publicUrl, application }: Pick<AddressFacts, 'publicUrl' | 'application'>,
  channel: string,
  protocol: Pick<Protocol, 'name'>,
): string {
  return `${publicUrl}/feeds/${application}/${channel}/${protocol.name}`;
}

function isAskedAt({ machines }: SetUpAddress, { platform, arch }: OfferedFile): boolean {
  if (machines === undefined) return true;
  if (machines.platform !== platform) return false;
  return machines.arch === undefined || admittedArches(platform, machines.arch).includes(arch);
}

function downloadUrl(facts: AddressFacts, channel: string, platform: Platform): string {
  const { application, defaultApplication, publicUrl } = facts;
  const url = new URL(`${publicUrl}/api/v1/desktop/download/${platform}`);
  if (application !== defaultApplication) url.searchParams.set('app', application);
  if (channel !== DEFAULT_CHANNEL) url.searchParams.set('channel', channel);
  return url.href;
}

const VISITORS_ONLY = 'For visitors only: the download button offers it.';

/**
 * Sentences that say to whom a file matters. They are for formats of first installations, and for formats without an
 * updater.
 */
const MATTERS: Readonly<Partial<Record<Format, string>>> = {
  binary: 'For visitors only: a portable program does not update itself.',
  dmg: 'For visitors only: applications installed from it update from the zip or the .app.tar.gz.',
  pkg: 'For visitors and device management: applications installed from it update from the zip.',
  msi: 'For visitors and admins who deploy it: clients installed from it get no update.',
  'squirrel-setup': 'For visitors only: it installs a Squirrel.Windows client.',
  'velopack-setup': 'For visitors only: it installs a Velopack client.',
  snap: 'For visitors only: snapd updates it from its own store.',
  flatpak: 'For visitors only: Flatpak updates it from its own repository.',
};

function mattersTo(file: OfferedFile): string {
  const unsigned = PROTOCOLS.find(
    (protocol) =>
      neededSignature(protocol) !== null &&
      servedFormats(protocol, file.platform).includes(file.format) &&
      !serves(protocol, file),
  );
  const why = MATTERS[file.format] ?? VISITORS_ONLY;
  if (unsigned === undefined) return why;
  return `${why} ${unsigned.title} would take it with a ${neededSignature(unsigned)} signature.`;
}
