import { stringify } from 'yaml';
import { admittedArches } from '../domain/channel.ts';
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
  windows: ['nsis'],
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
  if (query !== undefined) return parseArch(query);
  if (platform !== 'linux') return null;
  return suffix === undefined ? 'x64' : (archOf(suffix) ?? parseArch(suffix));
}

function renderAnswer({ request, query, decision, offered, fileUrl }: FeedAnswer): FeedResponse {
  if (offered === undefined) {
    // Both 404 and 204 are errors to the client: "nothing newer" is the version it has.
    if (query.currentVersion === null) return { status: 404, contentType: '', body: '' };
    return yaml({ version: versionText(query.currentVersion), files: [], reason: decision.reason });
  }
  const { release } = offered;
  const artifacts = listFiles(release, query);
  const urlOf = (filename: string): string =>
    request.channel === query.channel ? filePath(release.version, filename) : fileUrl(filename);
  const files = artifacts.map((artifact) => describeFile(artifact, urlOf(artifact.filename)));
  const minimum = minimumSystemVersion(artifacts);
  return yaml({
    version: release.version,
    files,
    // Read by clients before 2.15, and by everything that imitates them.
    path: files[0]?.url,
    sha512: files[0]?.sha512,
    releaseDate: release.releasedAt,
    ...(release.notes.und === undefined ? {} : { releaseNotes: release.notes.und }),
    ...(minimum === undefined ? {} : { minimumSystemVersion: minimum }),
  });
}

/** The files a client of this feed can choose from: the client knows its architecture, the feed may not. */
function listFiles(release: Release, query: UpdateQuery): readonly Artifact[] {
  const formats = FORMATS_BY_PLATFORM[query.platform];
  const arches: readonly Arch[] =
    query.arch === null
      ? ['universal', 'x64', 'arm64', 'ia32', 'armv7']
      : admittedArches(query.platform, query.arch);
  return release.artifacts
    .filter((a) => a.platform === query.platform && formats.includes(a.format))
    .filter((a) => arches.includes(a.arch))
    .sort(
      (a, b) =>
        formats.indexOf(a.format) - formats.indexOf(b.format) ||
        arches.indexOf(a.arch) - arches.indexOf(b.arch),
    );
}

function describeFile(artifact: Artifact, url: string) {
  const blockmap = artifact.companions.find(({ kind }) => kind === 'blockmap');
  return {
    url,
    sha512: Buffer.from(artifact.sha512, 'hex').toString('base64'),
    size: artifact.size,
    ...(blockmap === undefined ? {} : { blockMapSize: blockmap.size }),
  };
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
