import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { StaticChannel } from '../static-address.ts';
import type { LegacyFacts } from './legacy-address.ts';

/** The addresses of other update servers, one by one, for `slipway export`: see `static-address.ts`. */

interface LegacyChannels extends LegacyFacts {
  /** The names of the servers whose addresses the service answers. */
  readonly servers: readonly string[];
  readonly application: string;
  readonly channels: readonly Pick<StaticChannel, 'name' | 'versions'>[];
}

/** The words that `process.platform` and `process.arch` make, and those of the documentation of the servers. */
const WINDOWS = ['win32', 'win32_x64', 'win32_ia32', 'win32_arm64', 'windows_64', 'windows_32'];
const OTHERS = [
  ...['darwin', 'darwin_x64', 'darwin_arm64', 'mac', 'mac_arm64', 'osx', 'osx_64', 'osx_arm64'],
  ...['linux', 'linux_64', 'linux_deb_64', 'linux_rpm_64', 'appimage', 'deb', 'rpm', 'exe'],
];
const ELECTRONJS_WINDOWS = ['win32', 'win32-x64', 'win32-ia32', 'win32-arm64'];
const ELECTRONJS_OTHERS = ['darwin', 'darwin-x64', 'darwin-arm64', 'darwin-universal'];
const UPDATE_INFO = ['latest.yml', 'latest-mac.yml'];

/**
 * The addresses of updates, at the root of the service and without the first slash. A bucket cannot answer the
 * addresses of downloads, because the visitor's browser decides.
 */
export function listLegacyAddresses(asked: LegacyChannels): readonly string[] {
  const { servers, applications, application, channels } = asked;
  const keys = [...applications].flatMap(([key, name]) => (name === application ? [key] : []));
  const stable = channels.find(({ name }) => name === DEFAULT_CHANNEL);
  const isAtRoot = servers.includes('hazel') || servers.includes('nuts');
  return [
    ...(isAtRoot ? prefixesOf(asked, keys).flatMap((prefix) => updatesAt(prefix, channels)) : []),
    ...(servers.includes('electronjs')
      ? keys
          .filter((key) => key.includes('/'))
          .flatMap((key) => electronjsAt(key, stable?.versions ?? []))
      : []),
  ];
}

/** What stands between `update` and the platform. */
function prefixesOf(
  { servers, application, defaultApplication }: LegacyChannels,
  keys: readonly string[],
): readonly string[] {
  const names = [application, ...keys.filter((key) => !key.includes('/'))];
  const flavors = servers.includes('nuts') ? names.map((name) => `flavor/${name}/`) : [];
  const own = application === defaultApplication ? ['', 'flavor/default/'] : [];
  return [...own, ...names.map((name) => `${name}/`), ...flavors];
}

function updatesAt(prefix: string, channels: LegacyChannels['channels']): readonly string[] {
  return channels.flatMap(({ name, versions }) => {
    const isDefault = name === DEFAULT_CHANNEL;
    const front = `update/${prefix}${isDefault ? '' : `channel/${name}/`}`;
    const info = [...WINDOWS, ...OTHERS].flatMap((word) =>
      UPDATE_INFO.map((file) => `${front}${word}/${file}`),
    );
    return [...info, ...versions.flatMap((version) => checksAt(front, version, WINDOWS, OTHERS))];
  });
}

function electronjsAt(key: string, versions: readonly string[]): readonly string[] {
  return versions.flatMap((version) => [
    ...checksAt(`${key}/`, version, ELECTRONJS_WINDOWS, ELECTRONJS_OTHERS),
    ...ELECTRONJS_WINDOWS.map((word) => `${key}/${word}/msix/${version}`),
  ]);
}

function checksAt(
  front: string,
  version: string,
  windows: readonly string[],
  others: readonly string[],
): readonly string[] {
  return [
    ...[...windows, ...others].map((word) => `${front}${word}/${version}`),
    ...windows.map((word) => `${front}${word}/${version}/RELEASES`),
  ];
}
