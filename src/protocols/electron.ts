import { stringify } from 'yaml';
import { admittedArches } from '../domain/channel.ts';
import { darwinVersionOfMacos } from '../domain/os-version.ts';
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
    formats: platform === 'macos' ? ['zip'] : FORMATS_BY_PLATFORM[platform],
    osGate: 'client',
    ...commonFields(request),
    installationId: headers['x-user-staging-id'] ?? commonFields(request).installationId,
    purpose: 'update',
    signatureScheme: null,
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

/** The client compares with the kernel's version, which on macOS is not the product's. */
function minimumSystemVersion(artifacts: readonly Artifact[]): string | undefined {
  const [first, ...others] = artifacts.map(({ minimumOsVersion }) => minimumOsVersion);
  if (first === undefined || first === null || others.some((other) => other !== first)) {
    return undefined;
  }
  return artifacts[0]?.platform === 'macos' ? darwinVersionOfMacos(first) : first;
}

function yaml(document: object): FeedResponse {
  return { status: 200, contentType: 'text/yaml; charset=utf-8', body: stringify(document) };
}
