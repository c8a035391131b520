import { AppError } from '../../core/errors.ts';
import { escapeXml } from '../../core/xml.ts';
import type { Companion } from '../../domain/companion.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { notesFor } from '../../domain/release.ts';
import { compareVersions, tryParseVersion } from '../../domain/version.ts';
import { versionsInName } from '../../domain/version-in-name.ts';
import {
  type ChainRules,
  deltasTo,
  hasSeveral,
  offeredPackage,
  packageIn,
} from '../package-chain.ts';
import type { FeedListing, ProtocolResponse, ReleasesWithoutOffer } from '../protocol.ts';

/**
 * Velopack's `releases.{channel}.json`. `velopack.ts` parses the requests.
 *
 * A client (velopack 0.0.1053 to 0.0.1298 and the C# library of 2026) takes the newest version with a full package, by
 * semver. When the list has a delta of that version, the client downloads every delta that is newer than the client's
 * newest full package.
 */

/** The facts that a document depends on beside the machine. */
interface AssetsDocument {
  /** The channel of Velopack. */
  readonly channel: string;
  /** The version that the client states; null: the client states no version. */
  readonly from: string | null;
}

/** The text of `Question.document`. */
export function assetsDocument({ channel, from }: AssetsDocument): string {
  return JSON.stringify([channel, from]);
}

function parseDocument(document: string): AssetsDocument {
  const [channel, from] = JSON.parse(document) as [string, string | null];
  return { channel, from };
}

/** @throws AppError `unknown_platform`, `no_release` */
export function renderAssets(asked: FeedListing): ProtocolResponse {
  const listing = withOwnMachine(asked);
  const { release, olderReleases, arch, document } = listing;
  const { channel, from } = parseDocument(document);
  const rules = rulesFor(listing);
  const offered = offeredPackage(listing, rules);
  // The client cannot use a delta that changes another package than the client's own.
  const isCertain =
    arch !== null ||
    channelInName(offered.artifact.filename, release.version) === channel ||
    ![release, ...olderReleases].some((each) => hasSeveral(each, rules));
  const deltas = isCertain ? deltasTo(offered, olderReleases, rules, from) : [];
  const bases = from === null ? deltas.map(({ base }) => base) : [];
  const assets = [
    ...[offered, ...bases].map((each) => describe(each.release, each.artifact, 'Full')),
    ...deltas.map(({ to, file }) => describe(to.release, file, 'Delta')),
  ];
  // The order in which vpk writes entries: the newest version first, and a full package before its delta.
  const place = ({ Version }: { readonly Version: string }): number =>
    [release, ...olderReleases].findIndex(({ version }) => version === Version);
  return json(assets.toSorted((a, b) => place(a) - place(b)));
}

/**
 * Answers a client that states no platform. The client gets the package when the release has packages for one platform
 * only, or when the name of one package contains the client's channel.
 */
function withOwnMachine(listing: FeedListing): FeedListing {
  const { builds = [], release, document } = listing;
  if (builds.length === 0) return listing;
  const { channel } = parseDocument(document);
  const named = builds.filter(
    ({ artifact }) => channelInName(artifact.filename, release.version) === channel,
  );
  const [only, ...others] = named.length > 0 ? named : builds;
  if (only === undefined || others.length > 0) throw unknownPlatform(channel);
  const { artifact } = only;
  return { ...listing, artifact, platform: artifact.platform, arch: artifact.arch };
}

function unknownPlatform(channel: string): AppError {
  const detail = `Velopack's channel ${JSON.stringify(channel.slice(0, 64))} names no platform, the client states none, and the release has packages for several. Pack with a channel such as win-${channel.slice(0, 32)} (vpk pack --channel), or ask with ?os=win.`;
  return new AppError('unknown_platform', detail, { issues: [{ pointer: '/os', detail }] });
}

/**
 * "No update" is a list without a newer version. The C# library states the newest package that it has downloaded, and
 * the application may not have installed that package yet. So the list contains the release of that package, unless the
 * release was withdrawn. Otherwise the list is empty.
 */
export function renderNoAssets(input: ReleasesWithoutOffer): ProtocolResponse {
  const { own, olderReleases } = input;
  const isOffered = olderReleases.some(({ version }) => version === own?.version);
  const listed = own && isOffered ? packageIn(own, rulesFor(input)) : undefined;
  return json(listed === undefined ? [] : [describe(listed.release, listed.artifact, 'Full')]);
}

function rulesFor({
  platform,
  arch,
  document,
}: Pick<FeedListing, 'platform' | 'arch' | 'document'>): ChainRules {
  const { channel } = parseDocument(document);
  // A package for Intel runs on every Mac.
  const isAnyMac = platform === 'macos' && arch === null;
  const compare = (a: string, b: string): number => {
    const left = tryParseVersion(a);
    const right = tryParseVersion(b);
    return left === undefined || right === undefined ? Number.NaN : compareVersions(left, right);
  };
  return {
    platform,
    arch,
    format: 'velopack',
    isNamedFor,
    rankOf: (artifact, version) =>
      rankOf(artifact, version, channel) + (isAnyMac && artifact.arch === 'arm64' ? 1 : 0),
    isSame: (a, b) => compare(a, b) === 0,
    isNewer: (a, b) => compare(a, b) > 0,
  };
}

/**
 * The client downloads a bare name, and the service finds the release by the version in the name. vpk leaves out build
 * metadata.
 */
function isNamedFor(filename: string, version: string): boolean {
  const [bare = ''] = version.split('+', 1);
  return BARE_NAME.test(filename) && versionsInName(filename).includes(bare);
}

/**
 * Names with the same meaning in both libraries: the Rust library reads a name as a relative address, and the C#
 * library reads a name as plain text.
 */
const BARE_NAME = /^[\p{L}\p{N}._+~ -]+$/u;

/** A package of the channel that the client asks for comes before packages of other channels. */
function rankOf({ filename }: Artifact, version: string, channel: string): number {
  return channelInName(filename, version) === channel ? 0 : 2;
}

function describe(
  { version, notes }: Release,
  file: (Artifact | Companion) & { readonly sha1: string },
  type: 'Full' | 'Delta',
) {
  const { filename, sha1, sha256, size } = file;
  const text = notesFor(notes, null) ?? '';
  return {
    PackageId: packageIdIn(filename, version),
    Version: version,
    Type: type,
    FileName: filename,
    SHA1: sha1.toUpperCase(),
    SHA256: sha256.toUpperCase(),
    Size: size,
    NotesMarkdown: text,
    NotesHTML: htmlOf(text),
  };
}

/** The paragraphs of a text as HTML. The service does not render Markdown, and markup in the text stays text. */
function htmlOf(text: string): string {
  return text
    .split(/\r?\n\s*\r?\n/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => `<p>${escapeXml(paragraph.trim()).replace(/\r?\n/g, '<br>')}</p>`)
    .join('\n');
}

function json(assets: readonly object[]): ProtocolResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ Assets: assets }),
  };
}

/** The part of a name behind the version: `-win-arm64-full.nupkg` in `App-1.0.0-win-arm64-full.nupkg`. */
const BEHIND = /^(?:-(.+))?-(?:full|delta)\.nupkg$/i;

/**
 * The channel that vpk wrote into the name of a package; `win` for a name without a channel. Undefined when the name
 * does not contain the version.
 */
export function channelInName(filename: string, version: string): string | undefined {
  const [bare = ''] = version.split('+', 1);
  const at = filename.lastIndexOf(`-${bare}-`);
  const behind = at < 0 ? null : BEHIND.exec(filename.slice(at + 1 + bare.length));
  return behind === null ? undefined : (behind[1] ?? 'win').toLowerCase();
}

/** The package's id in its name: `App` of `App-1.0.0-full.nupkg`. */
function packageIdIn(filename: string, version: string): string {
  const [bare = ''] = version.split('+', 1);
  const at = filename.lastIndexOf(`-${bare}-`);
  return at > 0 ? filename.slice(0, at) : filename.replace(/-(?:full|delta)\.nupkg$|\.nupkg$/i, '');
}
