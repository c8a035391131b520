import { stringify } from 'yaml';
import { BLOCKMAP, WEB_PACKAGE } from '../domain/companion.ts';
import { admittedArches, isNativeOn } from '../domain/compatible-arches.ts';
import type { Reason } from '../domain/decide-update.ts';
import { compareOsVersions, darwinVersionOfMacos, parseOsVersion } from '../domain/os-version.ts';
import { type Arch, archOf, type Format, type Platform, parseArch } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { parseClientVersion, versionText } from '../domain/version.ts';
import { describeElectronSetUp } from './electron-set-up.ts';
import {
  commonFields,
  type FeedListing,
  type FeedProtocol,
  type FileAddress,
  filePath,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from './protocol.ts';

/**
 * electron-updater 6, provider `generic`.
 *
 * `GET {base}/{channel}{suffix}.yml`; the suffix is empty on Windows, `-mac` on macOS, `-linux` on Linux,
 * followed there by `-{arch}` unless x64. `latest` is the channel of the feed's own address; any other name
 * is a channel of the same application. Files are at `{base}/{version}/{filename}` of their channel.
 *
 * A release that has only a web installer is offered with its `packages`, which the client downloads and
 * passes to the installer. An ordinary installer goes first, because an application can disable web
 * installers.
 *
 * The client does not state its version. An application whose releases have a `requires` range sends it as
 * `x-current-version` (electron-updater's `requestHeaders`); else it is offered only releases that require
 * nothing.
 */
export const electron: FeedProtocol = {
  shape: 'feed',
  name: 'electron',
  title: 'electron-updater (generic provider)',
  takesPost: false,
  varyHeaders: ['x-current-version'],
  olderReleasesMax: 0,
  // The zip decides whether a release is offered; the feed lists the dmg beside it.
  formatsFor: (platform) => (platform === 'macos' ? ['zip'] : FORMATS_BY_PLATFORM[platform]),
  signatureScheme: null,
  osGate: 'client',
  // On Linux, the name of the document states the architecture.
  mayOmit: (platform) => (platform === 'linux' ? ['version'] : ['version', 'arch']),
  parseRequest,
  parseFilePath,
  describeSetUp: describeElectronSetUp,
  renderListing,
  renderNoUpdate,
};

/**
 * The formats that the client can install, best first. The AppImage is first because older clients take the first
 * file.
 */
const FORMATS_BY_PLATFORM: Readonly<Record<Platform, readonly Format[]>> = {
  windows: ['nsis', 'nsis-web'],
  macos: ['zip', 'dmg'],
  linux: ['appimage', 'deb', 'rpm', 'pacman'],
};

/** Whether a document names its files relative to its own address. Files of another channel are elsewhere. */
type Links = 'relative' | 'absolute';
const RELATIVE: Links = 'relative';
const ABSOLUTE: Links = 'absolute';

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [file, ...rest] = request.path;
  const match = /^(.+?)(?:-(mac)|-(linux)(?:-([a-z0-9_]+))?)?\.yml$/.exec(file ?? '');
  const name = match?.[1];
  if (name === undefined || rest.length > 0) return undefined;
  const { query, headers } = request;
  const platform = match?.[2] ? 'macos' : match?.[3] ? 'linux' : 'windows';
  const current = query.current_version ?? headers['x-current-version'];
  const channel = name === 'latest' ? request.channel : name;
  return {
    document: channel === request.channel ? RELATIVE : ABSOLUTE,
    query: {
      application: request.application,
      channel,
      currentVersion: current === undefined ? null : parseClientVersion(current),
      platform,
      arch: archFrom(platform, match?.[4], query.arch),
      formats: electron.formatsFor(platform),
      // A client that does not state its system compares the stated minimum itself.
      osGate: query.os_version === undefined ? electron.osGate : 'server',
      ...commonFields(request),
      purpose: 'update',
      signatureScheme: electron.signatureScheme,
    },
  };
}

/** `app-1.0.0-x64.nsis.7z`: electron-builder's name for the package of a web installer. */
const WEB_PACKAGE_NAME = /-(\d+\.\d+\.\d+.*)-[a-z0-9]+\.nsis\.7z$/;

/**
 * The web installer requests its package directly below the feed's address, which electron-builder has
 * written into the installer.
 */
function parseFilePath([filename = '', ...rest]: readonly string[]): FileAddress | undefined {
  const version = WEB_PACKAGE_NAME.exec(filename)?.[1];
  return version === undefined || rest.length > 0 ? undefined : { version, filename };
}

function archFrom(
  platform: Platform,
  suffix: string | undefined,
  query: string | undefined,
): Arch | null {
  if (query !== undefined) {
    const arch = parseArch(query);
    // Universal is a kind of build, not the architecture of a machine.
    return arch === 'universal' ? null : arch;
  }
  if (platform !== 'linux') return null;
  return suffix === undefined ? 'x64' : (archOf(suffix) ?? parseArch(suffix));
}

function renderListing(listing: FeedListing): ProtocolResponse {
  const { release } = listing;
  const { version } = release;
  const artifacts = listFiles(release, listing);
  const urlOf = (filename: string): string =>
    listing.document === RELATIVE
      ? filePath(version, filename)
      : listing.fileUrl(version, filename);
  const files = artifacts.map((artifact) =>
    describeFile(artifact, urlOf(artifact.filename), listing.isRestricted),
  );
  const packages = describePackages(artifacts, urlOf);
  const minimum = minimumSystemVersion(artifacts);
  return yaml({
    version,
    files,
    // For clients before 2.15, and for other clients that imitate them.
    path: files[0]?.url,
    sha512: files[0]?.sha512,
    ...packages,
    releaseDate: release.releasedAt,
    ...(release.notes.und === undefined ? {} : { releaseNotes: release.notes.und }),
    ...(minimum === undefined ? {} : { minimumSystemVersion: minimum }),
  });
}

/** The client treats 404 and 204 as errors, so "no update" is a document with the client's own version. */
function renderNoUpdate({ query }: Question, reason: Reason): ProtocolResponse | undefined {
  const { currentVersion } = query;
  if (currentVersion === null) return undefined;
  return yaml({ version: versionText(currentVersion), files: [], reason });
}

/** The files that a client can choose from: the client knows its architecture, and the feed may not. */
function listFiles(
  release: Release,
  { platform, arch }: Pick<UpdateQuery, 'platform' | 'arch'>,
): readonly Artifact[] {
  const formats = FORMATS_BY_PLATFORM[platform];
  const arches: readonly Arch[] =
    arch === null ? ['universal', 'x64', 'arm64', 'ia32', 'armv7'] : admittedArches(platform, arch);
  const files = release.artifacts
    .filter((a) => a.platform === platform && formats.includes(a.format))
    .filter((a) => arches.includes(a.arch))
    .sort(
      (a, b) =>
        formats.indexOf(a.format) - formats.indexOf(b.format) ||
        arches.indexOf(a.arch) - arches.indexOf(b.arch),
    );
  const [first] = files;
  // The client passes what `packages` lists to any installer, so only a web installer may be listed with it.
  if (first?.format === 'nsis-web') return [first];
  const complete = files.filter(({ format }) => format !== 'nsis-web');
  const native = arch === null ? [] : complete.filter((file) => isNativeOn(arch, file));
  // The client chooses by file name, and a name need not state the architecture.
  return native.length > 0 ? native : complete;
}

/**
 * @param isRestricted leaves the block map out: when the client requests ranges, it sends its access token on to
 *   the store
 */
function describeFile(artifact: Artifact, url: string, isRestricted: boolean) {
  const blockmap = isRestricted
    ? undefined
    : artifact.companions.find(({ kind }) => kind === BLOCKMAP);
  return {
    url,
    sha512: base64(artifact.sha512),
    size: artifact.size,
    ...(blockmap === undefined ? {} : { blockMapSize: blockmap.size }),
  };
}

/** The packages of a web installer, by the client's `process.arch`. */
function describePackages(
  artifacts: readonly Artifact[],
  urlOf: (filename: string) => string,
): { packages?: Record<string, object> } {
  const packages = artifacts
    .flatMap(({ companions }) => companions)
    .filter(({ kind }) => kind === WEB_PACKAGE);
  if (packages.length === 0) return {};
  return {
    packages: Object.fromEntries(
      packages.map(({ arch = 'x64', filename, sha512, size }) => [
        arch,
        { path: urlOf(filename), sha512: base64(sha512), size },
      ]),
    ),
  };
}

function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/**
 * The minimum that the client compares with `os.release()`: the kernel's version, on macOS not the product's.
 *
 * The highest minimum of all files, because an update that cannot start breaks the application. Always three
 * numbers, because the client installs the update when it cannot parse the minimum.
 */
function minimumSystemVersion(artifacts: readonly Artifact[]): string | undefined {
  const [highest] = artifacts
    .flatMap(({ minimumOsVersion }) => {
      const parsed = parseOsVersion(minimumOsVersion ?? '');
      return parsed === undefined ? [] : [parsed];
    })
    .sort((a, b) => compareOsVersions(b, a));
  const platform = artifacts[0]?.platform;
  if (highest === undefined) return undefined;
  if (platform === 'macos') return darwinVersionOfMacos(highest.join('.'));
  const [major, minor = 0, patch = 0, ...finer] = highest;
  // No kernel reports a fourth number, so only a higher third number surely satisfies it.
  const three = [major, minor, finer.some((n) => n > 0) ? patch + 1 : patch].join('.');
  // Distributions name kernels like 6.1.0-18-amd64, which the client treats as a pre-release of 6.1.0.
  return platform === 'linux' ? `${three}-0` : three;
}

/** Every string is quoted: the client's parser makes a Date of a plain timestamp, and its API promises text. */
function yaml(document: object): ProtocolResponse {
  const body = stringify(document, { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' });
  return { status: 200, headers: { 'content-type': 'text/yaml; charset=utf-8' }, body };
}
