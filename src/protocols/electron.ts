import { stringify } from 'yaml';
import { BLOCKMAP, WEB_PACKAGE } from '../domain/companion.ts';
import { admittedArches, isNativeOn } from '../domain/compatible-arches.ts';
import { compareOsVersions, darwinVersionOfMacos, parseOsVersion } from '../domain/os-version.ts';
import { type Arch, archOf, type Format, type Platform, parseArch } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { parseClientVersion, versionText } from '../domain/version.ts';
import {
  commonFields,
  type FeedAnswer,
  type FeedRequest,
  type FeedResponse,
  filePath,
  type Protocol,
} from './protocol.ts';

/**
 * electron-updater 6, provider `generic`.
 *
 * `GET {base}/{channel}{suffix}.yml`; the suffix is empty on Windows, `-mac` on macOS, `-linux` on Linux,
 * with `-{arch}` behind it there unless x64. `latest` is the channel of the feed's own address; any other
 * name is a channel of the same application. Files follow at `{base}/{version}/{filename}` of their channel.
 *
 * A release with a web installer alone is offered with its `packages`, which the client fetches itself and
 * hands to the installer; an ordinary installer goes first, since an application can turn web installers off.
 *
 * The client does not say which version it runs. An application whose releases have a `requires` range
 * sends it as `x-current-version` (electron-updater's `requestHeaders`), or gets only releases that
 * require nothing.
 */
export const electron: Protocol = {
  name: 'electron',
  title: 'electron-updater (generic provider)',
  // For the zip alone: the feed lists the dmg beside it.
  formatsFor: (platform) => (platform === 'macos' ? ['zip'] : FORMATS_BY_PLATFORM[platform]),
  signatureScheme: null,
  parseRequest,
  renderAnswer,
};

/** What the client can install, best first; the AppImage leads because older clients take the first. */
const FORMATS_BY_PLATFORM: Readonly<Record<Platform, readonly Format[]>> = {
  windows: ['nsis', 'nsis-web'],
  macos: ['zip', 'dmg'],
  linux: ['appimage', 'deb', 'rpm', 'pacman'],
};

function parseRequest(request: FeedRequest): UpdateQuery | undefined {
  const [file, ...rest] = request.path;
  const match = /^(.+?)(?:-(mac)|-(linux)(?:-([a-z0-9_]+))?)?\.yml$/.exec(file ?? '');
  const name = match?.[1];
  if (name === undefined || rest.length > 0) return undefined;
  const { query, headers } = request;
  const platform = match?.[2] ? 'macos' : match?.[3] ? 'linux' : 'windows';
  const current = query.current_version ?? headers['x-current-version'];
  return {
    application: request.application,
    channel: name === 'latest' ? request.channel : name,
    currentVersion: current === undefined ? null : parseClientVersion(current),
    platform,
    arch: archFrom(platform, match?.[4], query.arch),
    formats: electron.formatsFor(platform),
    osGate: 'client',
    ...commonFields(request),
    installationId: headers['x-user-staging-id'] ?? commonFields(request).installationId,
    purpose: 'update',
    signatureScheme: electron.signatureScheme,
  };
}

function archFrom(
  platform: Platform,
  suffix: string | undefined,
  query: string | undefined,
): Arch | null {
  if (query !== undefined) {
    const arch = parseArch(query);
    // How a build is packed, which says nothing of the machine.
    return arch === 'universal' ? null : arch;
  }
  if (platform !== 'linux') return null;
  return suffix === undefined ? 'x64' : (archOf(suffix) ?? parseArch(suffix));
}

function renderAnswer(answer: FeedAnswer): FeedResponse {
  const { request, query, decision, offered, isRestricted, fileUrl } = answer;
  if (offered === undefined) {
    // Both 404 and 204 are errors to the client: "nothing newer" is the version it has.
    if (query.currentVersion === null) return { status: 404, contentType: '', body: '' };
    return yaml({ version: versionText(query.currentVersion), files: [], reason: decision.reason });
  }
  const { release } = offered;
  const artifacts = listFiles(release, query);
  const urlOf = (filename: string): string =>
    request.channel === query.channel ? filePath(release.version, filename) : fileUrl(filename);
  const files = artifacts.map((artifact) =>
    describeFile(artifact, urlOf(artifact.filename), isRestricted),
  );
  const packages = describePackages(artifacts, urlOf);
  const minimum = minimumSystemVersion(artifacts);
  return yaml({
    version: release.version,
    files,
    // Read by clients before 2.15, and by everything that imitates them.
    path: files[0]?.url,
    sha512: files[0]?.sha512,
    ...packages,
    releaseDate: release.releasedAt,
    ...(release.notes.und === undefined ? {} : { releaseNotes: release.notes.und }),
    ...(minimum === undefined ? {} : { minimumSystemVersion: minimum }),
  });
}

/** The files a client of this feed can choose from: the client knows its architecture, the feed may not. */
function listFiles(release: Release, query: UpdateQuery): readonly Artifact[] {
  const { platform, arch } = query;
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
  // The client hands what `packages` lists to whichever file it takes.
  if (first?.format === 'nsis-web') return [first];
  const complete = files.filter(({ format }) => format !== 'nsis-web');
  const native = arch === null ? [] : complete.filter((file) => isNativeOn(arch, file));
  // The client chooses by name, and names need not say the architecture.
  return native.length > 0 ? native : complete;
}

/** @param isRestricted then without its block map: for ranges the client sends its token to the store */
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

/** What a web installer needs, by the client's `process.arch`. */
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
 * What the client holds against `os.release()`, the kernel's version: on macOS not the product's.
 *
 * One for all files: the highest, since an update that cannot start breaks the application. Three
 * numbers, since the client lets everybody through when it cannot parse what it is given.
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
  // No kernel reports a fourth number: only the next third one is known to have it.
  const three = [major, minor, finer.some((n) => n > 0) ? patch + 1 : patch].join('.');
  // Distributions call theirs 6.1.0-18-amd64, which to the client is a pre-release of 6.1.0.
  return platform === 'linux' ? `${three}-0` : three;
}

/** Quoted throughout: to the client's parser, a bare timestamp is a Date, and its API says text. */
function yaml(document: object): FeedResponse {
  const body = stringify(document, { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' });
  return { status: 200, contentType: 'text/yaml; charset=utf-8', body };
}
