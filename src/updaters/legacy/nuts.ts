import { parseUpdateInfoName } from '../../domain/carried-document.ts';
import { parseLooseVersion, versionText } from '../../domain/version.ts';
import {
  type LegacyAddress,
  type LegacyFacts,
  type LegacyMachine,
  type LegacyRequest,
  type LegacyServer,
  parseLegacyMachine,
  parsePrefix,
} from './legacy-address.ts';
import {
  askLegacyReleases,
  legacyElectron,
  legacyJson,
  unknownMachine,
} from './legacy-dialects.ts';

/**
 * Nuts and electron-release-server.
 *
 * - `/update[/flavor/{f}][/channel/{c}]/{platform}/{version}[/{channel}][/RELEASES]`, `/update?platform=…&version=…`
 * - `/update[/flavor/{f}]/{platform}[/{channel}]/latest.yml`, `latest-mac.yml`, `{channel}.yml`
 * - `/download[/flavor/{f}]` and then `/{platform}`, `/latest/{platform}`, `/channel/{c}/{platform}`,
 *   `/version/{v}/{platform}`, `/{v}/{platform}`, `/{v}[/{platform}]/{filename}`
 *
 * For an address without a channel, Nuts looked at all channels. This service uses the channel `stable`, as
 * electron-release-server does.
 */
export const nuts: LegacyServer = {
  name: 'nuts',
  roots: ['download', 'update'],
  parse: (address, facts) =>
    address.path[0] === 'download' ? parseDownload(address, facts) : parseUpdate(address, facts),
};

function parseUpdate(
  { path, query }: LegacyAddress,
  facts: LegacyFacts,
): LegacyRequest | undefined {
  const { application, channel, rest } = parsePrefix(path.slice(1), facts);
  const [word = query.platform ?? '', ...after] = rest;
  const stated = rest.length === 0 && query.version !== undefined ? [query.version] : after;
  const last = stated.at(-1) ?? '';
  const machine = parseLegacyMachine(word);
  if (machine === undefined) throw unknownMachine(word);
  const asked = { application, channel: query.channel ?? channel, query };
  if (parseUpdateInfoName(last) !== undefined) {
    if (stated.length > 2) return undefined;
    const request = {
      ...asked,
      channel: stated.length === 2 ? (stated[0] ?? channel) : asked.channel,
    };
    return { kind: 'update', protocol: legacyElectron, request: { ...request, path: [last] } };
  }
  const [version, second, third, ...more] = stated;
  if (version === undefined || more.length > 0) return undefined;
  if (isReleases(last) || third !== undefined) {
    const named = third === undefined ? asked.channel : (second ?? asked.channel);
    const { arch } = machine;
    return askLegacyReleases({ ...asked, channel: named, arch, version, document: last });
  }
  const request = { ...asked, channel: second ?? asked.channel, path: [word, version] };
  return { kind: 'update', protocol: legacyJson, request };
}

/** Squirrel.Windows asks for the name in lower case after a failure. */
function isReleases(name: string): boolean {
  return name.toUpperCase() === 'RELEASES' || /\.nupkg$/i.test(name);
}

function parseDownload(
  { path, query }: LegacyAddress,
  facts: LegacyFacts,
): LegacyRequest | undefined {
  const { application, channel, rest } = parsePrefix(path.slice(1), facts);
  const asked = { application, channel: query.channel ?? channel };
  const words = rest[0] === 'version' || rest[0] === 'latest' ? rest.slice(1) : rest;
  const [first, second, third, ...more] = words;
  if (more.length > 0) return undefined;
  const isVersion = rest[0] !== 'latest' && parseLooseVersion(first ?? '') !== undefined;
  const version = isVersion ? versionOf(first) : null;
  const [word, filename] = isVersion ? [second, third] : [first, second];
  const name =
    filename ?? (word !== undefined && parseLegacyMachine(word) === undefined ? word : undefined);
  if (version !== null && name?.includes('.')) {
    // All dialects have the files of a release at the same path, so any dialect can answer.
    const request = { ...asked, path: [version, name], query };
    return { kind: 'update', protocol: legacyElectron, request };
  }
  const machine = word === undefined ? null : parseLegacyMachine(word);
  if (machine === undefined || filename !== undefined) throw unknownMachine(word ?? '');
  return { kind: 'download', ...asked, machine: withFileType(machine, query.filetype), version };
}

function versionOf(text: string | undefined): string | null {
  const version = parseLooseVersion(text ?? '');
  return version === undefined ? null : versionText(version);
}

/** Applies the format that the address wants: `?filetype=zip`. */
function withFileType(
  machine: LegacyMachine | null,
  type: string | undefined,
): LegacyMachine | null {
  if (machine === null || type === undefined) return machine;
  if (type === 'zip') return { ...machine, formats: ['zip'] };
  const named = parseLegacyMachine(type.replace(/^\./, ''));
  return named === undefined ? machine : { ...machine, formats: named.formats };
}
