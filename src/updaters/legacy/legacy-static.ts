import { isAppError } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { OWN_PATHS } from '../../domain/reserved-name.ts';
import type { StaticChannel } from '../static-address.ts';
import type { LegacyFacts } from './legacy-address.ts';
import { LEGACY_SERVERS } from './servers.ts';

/** The addresses of other update servers, one by one, for `slipway export`: see `static-address.ts`. */

interface LegacyChannels extends LegacyFacts {
  /** The names of the servers whose addresses the service answers. */
  readonly servers: readonly string[];
  readonly application: string;
  readonly channels: readonly Pick<StaticChannel, 'name' | 'versions'>[];
}

export interface LegacyStaticAddress {
  /** Without the first slash, decoded. */
  readonly path: string;
  /**
   * Set for `RELEASES`: the version of the client, and the name of a group. Addresses for all versions of the same
   * clients have the same group.
   */
  readonly releases?: { readonly version: string; readonly group: string };
}

/**
 * The words that applications make from `process.platform` and `process.arch`, and the words in the documentation of
 * the servers.
 */
const WINDOWS = ['win32', 'win32_x64', 'win32_ia32', 'win32_arm64', 'windows_64', 'windows_32'];
const LINUX = [
  'linux',
  'linux_x64',
  'linux_arm64',
  'linux_64',
  'linux_deb_64',
  'linux_rpm_64',
  'appimage',
  'deb',
  'rpm',
];
const OTHERS = [
  'darwin',
  'darwin_x64',
  'darwin_arm64',
  'mac',
  'mac_arm64',
  'osx',
  'osx_64',
  'osx_arm64',
  ...LINUX,
  'exe',
];
const WORDS: Words = { windows: WINDOWS, others: OTHERS };
const ELECTRONJS_WORDS: Words = {
  windows: ['win32', 'win32-x64', 'win32-ia32', 'win32-arm64'],
  others: ['darwin', 'darwin-x64', 'darwin-arm64', 'darwin-universal'],
};
/** The suffixes that electron-updater adds to the name of a channel. */
const EVERYWHERE = ['', '-mac'];
const ON_LINUX = ['-linux', '-linux-arm64'];

/**
 * The addresses of updates, at the root of the service. A bucket cannot answer the addresses of downloads, because the
 * answer depends on the visitor's browser.
 */
export function listLegacyAddresses(asked: LegacyChannels): readonly LegacyStaticAddress[] {
  const { servers, applications, application, channels } = asked;
  const keys = [...applications].flatMap(([key, name]) => (name === application ? [key] : []));
  const stable = channels.filter(({ name }) => name === DEFAULT_CHANNEL);
  const isAtRoot = servers.includes('hazel') || servers.includes('nuts');
  const prefixes = prefixesOf(asked, keys);
  const repositories = keys.filter((key) => key.includes('/'));
  return [
    ...(isAtRoot ? prefixes.flatMap((prefix) => updatesAt(prefix, channels)) : []),
    ...(servers.includes('nuts')
      ? prefixes.filter(isOfNuts).flatMap((prefix) => namedChannelsAt(prefix, channels))
      : []),
    ...(servers.includes('electronjs')
      ? repositories.flatMap((key) => stable.flatMap((channel) => electronjsAt(key, channel)))
      : []),
  ];
}

/**
 * The application for which an earlier export has written an address; undefined for an address of this service itself,
 * and for an address that no older server has.
 *
 * @param path as the export has written it
 */
export function applicationAtLegacyAddress(path: string, facts: LegacyFacts): string | undefined {
  const address = { path: path.replace(/\/index\.html$/, '').split('/'), query: {} };
  const [root = ''] = address.path;
  if (OWN_PATHS.includes(root)) return undefined;
  for (const server of LEGACY_SERVERS) {
    if (server.roots.length > 0 && !server.roots.includes(root)) continue;
    try {
      const asked = server.parse(address, facts);
      if (asked !== undefined) return (asked.kind === 'update' ? asked.request : asked).application;
    } catch (error) {
      if (!isAppError(error)) throw error;
    }
  }
  return undefined;
}

/** The segments that may stand between `update` and the platform. */
function prefixesOf(
  { servers, application, defaultApplication }: LegacyChannels,
  keys: readonly string[],
): readonly string[] {
  const names = [application, ...keys.filter((key) => !key.includes('/'))];
  const flavors = servers.includes('nuts') ? names.map((name) => `flavor/${name}/`) : [];
  const own = application === defaultApplication ? ['', 'flavor/default/'] : [];
  return [...own, ...names.map((name) => `${name}/`), ...flavors];
}

/** True for a prefix that Nuts has too. Only this service has addresses with a bare name in front of the platform. */
function isOfNuts(prefix: string): boolean {
  return prefix === '' || prefix.startsWith('flavor/');
}

type LegacyChannel = LegacyChannels['channels'][number];

function updatesAt(
  prefix: string,
  channels: readonly LegacyChannel[],
): readonly LegacyStaticAddress[] {
  return channels.flatMap((channel) => {
    const isDefault = channel.name === DEFAULT_CHANNEL;
    const front = `update/${prefix}${isDefault ? '' : `channel/${channel.name}/`}`;
    return [...infoAt(front, '', 'latest'), ...checksAt(front, channel, WORDS)];
  });
}

/**
 * Lists the addresses of electron-release-server that name the channel after the version, before `latest.yml`, or as
 * the name of the document.
 */
function namedChannelsAt(
  prefix: string,
  channels: readonly LegacyChannel[],
): readonly LegacyStaticAddress[] {
  const front = `update/${prefix}`;
  return channels.flatMap((channel) => [
    ...infoAt(front, `${channel.name}/`, 'latest'),
    ...infoAt(front, '', channel.name),
    ...checksAt(front, channel, WORDS, (version) => `${version}/${channel.name}`),
  ]);
}

function infoAt(front: string, below: string, name: string): readonly LegacyStaticAddress[] {
  return [...WINDOWS, ...OTHERS].flatMap((word) =>
    [...EVERYWHERE, ...(LINUX.includes(word) ? ON_LINUX : [])].map((suffix) => ({
      path: `${front}${word}/${below}${name}${suffix}.yml`,
    })),
  );
}

function electronjsAt(key: string, channel: LegacyChannel): readonly LegacyStaticAddress[] {
  const front = `${key}/`;
  return [
    ...checksAt(front, channel, ELECTRONJS_WORDS),
    ...checksAt(front, channel, ELECTRONJS_WORDS, (version) => `squirrel/${version}`),
    ...channel.versions.flatMap((version) =>
      ELECTRONJS_WORDS.windows.map((word) => ({ path: `${front}${word}/msix/${version}` })),
    ),
  ];
}

interface Words {
  readonly windows: readonly string[];
  readonly others: readonly string[];
}

/**
 * The addresses that contain the version of the client.
 *
 * @param restOf returns the segments behind the platform
 */
function checksAt(
  front: string,
  { versions }: LegacyChannel,
  { windows, others }: Words,
  restOf = (version: string): string => version,
): readonly LegacyStaticAddress[] {
  const checks = versions.flatMap((version) =>
    [...windows, ...others].map((word) => ({ path: `${front}${word}/${restOf(version)}` })),
  );
  const releases = windows.flatMap((word) =>
    versions.map((version) => ({
      path: `${front}${word}/${restOf(version)}/RELEASES`,
      releases: { version, group: `${front}${word}/${restOf('*')}` },
    })),
  );
  return [...checks, ...releases];
}
