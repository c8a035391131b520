import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import {
  type Arch,
  archOf,
  type Format,
  type Platform,
  platformOf,
} from '../../domain/platform.ts';
import { parseLooseVersion } from '../../domain/version.ts';
import type { Protocol, ProtocolRequest } from '../protocol.ts';

/** Addresses of other update servers. The service answers them, so that installed applications need no new build. */

/** The question of an address: a request in a dialect, or a request for a file that a visitor downloads. */
export type LegacyRequest =
  | {
      readonly kind: 'update';
      /**
       * The documents of this dialect have absolute addresses, because clients would resolve relative addresses below
       * the address of the other server.
       */
      readonly protocol: Protocol;
      readonly request: Pick<ProtocolRequest, 'application' | 'channel' | 'path' | 'query'>;
    }
  | ({ readonly kind: 'download' } & LegacyDownload);

export interface LegacyDownload {
  readonly application: string;
  readonly channel: string;
  /** Null: the service reads the machine from the User-Agent. */
  readonly machine: LegacyMachine | null;
  /** Null for the newest version. */
  readonly version: string | null;
}

/** A machine in the words of other update servers. */
export interface LegacyMachine {
  readonly platform: Platform;
  /** Null when the word states no architecture. */
  readonly arch: Arch | null;
  /** Null for the usual formats. */
  readonly formats: readonly Format[] | null;
}

/** The settings that decide what an address means. */
export interface LegacyFacts {
  readonly defaultApplication: string;
  /** Applications by `owner/repo`, or by a name in the address. */
  readonly applications: ReadonlyMap<string, string>;
}

export interface LegacyAddress {
  /** Without the first slash, decoded. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Another update server. */
export interface LegacyServer {
  /** The server's name in the setting LEGACY_ADDRESSES. */
  readonly name: string;
  /** The first segments of the server's addresses; empty when its addresses begin with the name of an owner. */
  readonly roots: readonly string[];
  /** Undefined for an address that the server does not have. */
  parse(address: LegacyAddress, facts: LegacyFacts): LegacyRequest | undefined;
}

/** Words for formats that stand in the place of a platform. */
const FORMAT_WORDS: Readonly<Record<string, readonly [Platform, readonly Format[]]>> = {
  dmg: ['macos', ['dmg']],
  exe: ['windows', ['nsis', 'squirrel-setup', 'velopack-setup', 'nsis-web']],
  nupkg: ['windows', ['squirrel']],
  msi: ['windows', ['msi']],
  deb: ['linux', ['deb']],
  debian: ['linux', ['deb']],
  rpm: ['linux', ['rpm']],
  fedora: ['linux', ['rpm']],
  appimage: ['linux', ['appimage']],
  snap: ['linux', ['snap']],
  ubuntu: ['linux', ['deb']],
};
const BITS: ReadonlyMap<string, Arch> = new Map([
  ['32', 'ia32'],
  ['64', 'x64'],
]);

/**
 * The machine that a word means: `darwin`, `osx_64`, `win32-x64`, `linux_deb_64`, `exe_arm64`, `dmg`. Undefined for any
 * other word.
 *
 * `darwin` alone means an Intel Mac, as on the other servers: their addresses for Apple silicon state the architecture.
 */
export function parseLegacyMachine(word: string): LegacyMachine | undefined {
  const [first = '', ...rest] = word.toLowerCase().replace('x86_64', 'x64').split(/[_-]/);
  const platform = platformOf(first);
  const known = Object.hasOwn(FORMAT_WORDS, first) ? FORMAT_WORDS[first] : undefined;
  if (platform === undefined && known === undefined) return undefined;
  const machine: { platform: Platform; arch: Arch | null; formats: readonly Format[] | null } =
    platform === undefined
      ? { platform: known?.[0] ?? 'linux', arch: null, formats: known?.[1] ?? null }
      : { platform, arch: first === 'win64' ? 'x64' : null, formats: null };
  for (const each of rest) {
    const arch = BITS.get(each) ?? archOf(each);
    const format = Object.hasOwn(FORMAT_WORDS, each) ? FORMAT_WORDS[each] : undefined;
    if (arch !== undefined) machine.arch = arch;
    else if (format?.[0] === machine.platform) machine.formats = format[1];
    else return undefined;
  }
  if (machine.platform === 'macos') machine.arch ??= 'x64';
  return machine;
}

/**
 * The application that LEGACY_APPS has for an address; undefined when LEGACY_APPS has no such application. Ignores
 * case, because names on GitHub have no case, and because Squirrel.Windows asks again in lower case after a failure.
 */
export function mappedApplication(
  { applications }: Pick<LegacyFacts, 'applications'>,
  address: string,
): string | undefined {
  const wanted = address.toLowerCase();
  return [...applications].find(([each]) => each.toLowerCase() === wanted)?.[1];
}

/** Words that stand in front of a platform and name no application. */
const WORDS: ReadonlySet<string> = new Set(['channel', 'version', 'latest']);

/**
 * The application that a word in front of a platform or a channel names; undefined when the word names no application.
 */
function applicationNamed(word: string, next: string, facts: LegacyFacts): string | undefined {
  const isWord =
    WORDS.has(word) ||
    parseLegacyMachine(word) !== undefined ||
    parseLooseVersion(word) !== undefined;
  if (isWord) return undefined;
  const isName = next === 'channel' || parseLegacyMachine(next) !== undefined;
  return mappedApplication(facts, word) ?? (isName ? word : undefined);
}

/** The application and the channel in front of the rest of an address. */
interface Prefix {
  readonly application: string;
  readonly channel: string;
  readonly rest: readonly string[];
}

/**
 * Reads `[channel/{channel}/]`, `[flavor/{flavor}/]` and `[{application}/]` from the front of an address. A flavor is
 * an application here; the flavor `default` is the default application.
 */
export function parsePrefix(path: readonly string[], facts: LegacyFacts): Prefix {
  let application = facts.defaultApplication;
  let channel = DEFAULT_CHANNEL;
  let rest = path;
  const [first = '', second = ''] = rest;
  const named = applicationNamed(first, second, facts);
  if (first === 'flavor') {
    if (second !== 'default') application = mappedApplication(facts, second) ?? second;
    rest = rest.slice(2);
  } else if (named !== undefined) {
    application = named;
    rest = rest.slice(1);
  }
  if (rest[0] === 'channel') {
    channel = rest[1] ?? channel;
    rest = rest.slice(2);
  }
  return { application, channel, rest };
}
