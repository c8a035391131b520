import { type Arch, archOf, PLATFORMS, type Platform, platformOf } from '../../domain/platform.ts';
import { squirrelTextOf } from '../../domain/squirrel-version.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import {
  parseClientVersion,
  parseLooseVersion,
  type Version,
  versionText,
} from '../../domain/version.ts';
import {
  commonQuery,
  type FeedProtocol,
  type ProtocolRequest,
  type Question,
} from '../protocol.ts';
import {
  documentOf,
  renderOwnRelease,
  renderReleases,
  SQUIRREL_BARE,
} from '../squirrel-windows/squirrel-releases.ts';
import { lowerCaseNames, parseLocalVersion } from '../squirrel-windows/squirrel-windows.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { VELOPACK_ADDRESSES } from './velopack-addresses.ts';
import { assetsDocument, channelInName, renderAssets, renderNoAssets } from './velopack-feed.ts';
import { describeVelopackSetUp } from './velopack-set-up.ts';

/**
 * Velopack.
 *
 * `GET {base}/releases.{channel}.json`, and files at `{base}/{name}`. The channel is Velopack's own, which `vpk pack`
 * wrote into the application: `win`, `osx`, `linux`, `win-arm64`, … The words of the channel state the platform and the
 * architecture. For a channel with another name, the query must state platform and architecture, and only the C#
 * library states them there. When neither the channel nor the query states them, the client gets the package when the
 * release has packages for one platform only, or when one package has the client's channel in its name.
 *
 * | library | query |
 * | --- | --- |
 * | Rust, and JavaScript, Python, C++ with it | `localVersion`, `id`, and `stagingId` (not yet in 0.0.1053) |
 * | C# | `arch`, `os`, `rid`; `id` and `localVersion` of the newest full package on the machine, when there is one |
 *
 * `RELEASES` and `RELEASES-{channel}` are for applications that move from Squirrel to Velopack. Like vpk, the service
 * lists only full packages in these documents, and only versions that Squirrel can read.
 */
export const velopack: FeedProtocol = {
  shape: 'feed',
  name: 'velopack',
  title: 'Velopack',
  takesPost: false,
  addresses: VELOPACK_ADDRESSES,
  varyHeaders: [],
  ignoresPersonal: true,
  olderReleasesMax: 20,
  formatsFor: () => ['velopack'],
  signatureScheme: null,
  osGate: 'server',
  mayOmit: () => ['version', 'arch'],
  listsOwnRelease: true,
  parseRequest,
  listStatic: listVelopackAddresses,
  describeSetUp: describeVelopackSetUp,
  renderListing: (listing) =>
    isMigration(listing) ? renderReleases(MIGRATION, legacy(listing)) : renderAssets(listing),
  renderNoUpdate: (asked, _reason, input) =>
    isMigration(input)
      ? renderOwnRelease(MIGRATION, asked.query.application, legacy(input))
      : renderNoAssets(input),
};

/** Squirrel cannot apply Velopack's deltas. */
const MIGRATION = { format: 'velopack', hasDeltas: false } as const;
const MIGRATION_DOCUMENT = 'RELEASES ';

function isMigration({ document }: Pick<Question, 'document'>): boolean {
  return document.startsWith(MIGRATION_DOCUMENT);
}

function legacy<Input extends Pick<Question, 'document'>>(input: Input): Input {
  return { ...input, document: input.document.slice(MIGRATION_DOCUMENT.length) };
}

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [name = '', ...rest] = request.path;
  if (rest.length > 0) return undefined;
  const assets = /^releases\.(.+)\.json$/i.exec(name)?.[1];
  if (assets !== undefined) return parseAssets(request, assets);
  const migration = /^RELEASES(?:-(.+))?$/i.exec(name);
  return migration === null ? undefined : parseMigration(request, migration[1] ?? 'win');
}

function parseAssets(request: ProtocolRequest, channelName: string): Question {
  const channel = parseVelopackChannel(channelName);
  const query = lowerCaseNames(request.query);
  const version = parseVersionOf(query.localversion ?? '');
  const stated = parseRuntimeId(query.rid ?? '');
  const platform = channel.platform ?? platformOf(query.os ?? '') ?? stated.platform;
  const from = version === null ? null : versionText(version);
  const question = {
    document: assetsDocument({ channel: channel.name, from }),
    isPersonal: !isUsual(channel.name, request.channel),
  };
  const common = { ...queryWithFormats(request, query), currentVersion: version };
  if (platform === undefined) {
    const arch = channel.arch ?? null;
    const formats = velopack.formatsFor('windows');
    return {
      ...question,
      machines: PLATFORMS.map((each) => ({ name: each, platform: each, arch, formats })),
      query: { ...common, platform: 'windows', arch },
    };
  }
  const arch = channel.arch ?? archOfMachine(platform, archOf(query.arch ?? '') ?? stated.arch);
  return { ...question, query: { ...common, platform, arch } };
}

/** Parses the question of an application that still uses Squirrel, and asks at this address. */
function parseMigration(request: ProtocolRequest, channelName: string): Question {
  const channel = parseVelopackChannel(channelName);
  const query = lowerCaseNames(request.query);
  const version = parseLocalVersion(query.localversion ?? '');
  const platform = channel.platform ?? 'windows';
  const arch = channel.arch ?? archOfMachine(platform, archOf(query.arch ?? ''));
  const text = version?.text ?? null;
  const document = documentOf({ addresses: SQUIRREL_BARE, from: text });
  return {
    document: `${MIGRATION_DOCUMENT}${document}`,
    isPersonal: version !== null && text !== squirrelTextOf(versionText(version.parsed)),
    query: {
      ...queryWithFormats(request, query),
      currentVersion: version?.parsed ?? null,
      platform,
      arch,
    },
  };
}

function queryWithFormats(
  request: ProtocolRequest,
  query: Record<string, string>,
): Omit<UpdateQuery, 'currentVersion' | 'platform' | 'arch'> {
  return {
    ...commonQuery({ ...request, query: { ...query, ...request.query } }, velopack),
    formats: velopack.formatsFor('windows'),
  };
}

/** @throws AppError `invalid_version` */
function parseVersionOf(text: string): Version | null {
  if (text === '') return null;
  return parseLooseVersion(text) ?? parseClientVersion(text, '/localVersion');
}

/**
 * The C# library states the architecture of the system, not of the application. A 32-bit application on 64-bit Windows
 * states x64 too, so x64 counts as not stated there.
 */
function archOfMachine(platform: Platform, arch: Arch | undefined): Arch | null {
  if (arch === undefined || arch === 'universal') return null;
  return platform === 'windows' && arch === 'x64' ? null : arch;
}

/** The words of Velopack's own channel: `win`, `osx`, `linux`, `win-arm64`, `win-x64-stable`, or any other name. */
interface ChannelWords {
  /** In lower case. */
  readonly name: string;
  readonly platform: Platform | undefined;
  readonly arch: Arch | undefined;
}

const SYSTEMS: Readonly<Record<Platform, string>> = {
  windows: 'win',
  macos: 'osx',
  linux: 'linux',
};
const ARCHES = ['x64', 'arm64', 'x86'];

/** Velopack's usual channels of a platform: `win`, `win-x64`, … */
function usualChannels(platform: Platform): readonly string[] {
  const system = SYSTEMS[platform];
  return [system, ...ARCHES.map((arch) => `${system}-${arch}`)];
}

/**
 * The machines of a channel: the first word of the channel that names a platform, and the first word that names an
 * architecture.
 */
function parseVelopackChannel(text: string): ChannelWords {
  const name = text.toLowerCase();
  // `x86_64` is one word, although it contains a separator.
  const words = name.replace(/x86[-_]64/g, 'x64').split(/[-_.]/);
  return {
    name,
    platform: words.flatMap((word) => platformOf(word) ?? [])[0],
    arch: words.flatMap((word) => archOf(word) ?? (word === 'win64' ? 'x64' : []))[0],
  };
}

/** Reads `rid`, such as `win-x64`, `win10-arm64` or `osx.13-x64`. */
function parseRuntimeId(rid: string): Omit<ChannelWords, 'name'> {
  const [system = '', ...rest] = rid.toLowerCase().split('-');
  return {
    platform: platformOf(system) ?? platformOf(system.replace(/[\d.]+$/, '')),
    arch: rest.flatMap((word) => archOf(word) ?? [])[0],
  };
}

const USUAL = PLATFORMS.flatMap(usualChannels);

/**
 * True when the name of a channel is one of a limited number of names. Then the process may keep the channel's
 * documents for other clients.
 */
function isUsual(name: string, own: string): boolean {
  const words = own.toLowerCase();
  return (
    name === words ||
    USUAL.some((each) => [each, `${each}-${words}`, `${words}-${each}`].includes(name))
  );
}

/**
 * Lists the documents of Velopack's own channels, and of the channels that vpk wrote into the names of packages. When
 * the name of a channel does not state its platform, only clients that state the platform in the query get an answer.
 */
function listVelopackAddresses({
  builds,
  files,
}: Pick<StaticChannel, 'builds' | 'files'>): readonly StaticAddress[] {
  const usual = builds
    .filter(({ format }) => format === 'velopack')
    .flatMap(({ platform }) => usualChannels(platform));
  const packed = files
    .filter(({ format }) => format === 'velopack')
    .flatMap(({ filename, version }) => channelInName(filename, version) ?? []);
  const names = [...new Set([...usual, ...packed])];
  return [
    ...names.flatMap((name) => [`releases.${name}.json`, `RELEASES-${name}`]),
    ...(names.length === 0 ? [] : ['RELEASES']),
  ].map((name) => ({ path: [name] }));
}
