import type { Release } from '../../domain/release.ts';
import {
  compareSquirrelVersions,
  squirrelTextOf,
  squirrelVersionIn,
} from '../../domain/squirrel-version.ts';
import { versionsInName } from '../../domain/version-in-name.ts';
import {
  type ChainRules,
  deltasTo,
  hasSeveral,
  type ListedPackage,
  offeredPackage,
  packageIn,
} from '../package-chain.ts';
import type { FeedListing, ProtocolResponse, ReleasesWithoutOffer } from '../protocol.ts';

/**
 * Squirrel's document `RELEASES`: lines of `SHA1 name size`, the oldest version first. `squirrel-windows.ts` parses the
 * requests.
 *
 * A client (Squirrel 1.9.1 and 2.0.1, `UpdateInfo.Create`) takes the newest version that has a full package. When the
 * deltas that are newer than the client's own version have fewer bytes than this package, the client downloads all
 * these deltas. It does not check which package each delta changes.
 */

/** A document names its files by the bare name, below the address of the feed, or by the absolute address. */
export const SQUIRREL_BARE = 'bare';
export const SQUIRREL_ABSOLUTE = 'absolute';
export type SquirrelAddresses = typeof SQUIRREL_BARE | typeof SQUIRREL_ABSOLUTE;

/** The facts that a document depends on beside the machine. */
interface ReleasesDocument {
  readonly addresses: SquirrelAddresses;
  /** The version that the client states, as the client writes it; null: the client states no version. */
  readonly from: string | null;
}

/** The text of `Question.document`. */
export function documentOf({ addresses, from }: ReleasesDocument): string {
  return `${addresses} ${from ?? ''}`;
}

function parseDocument(document: string): ReleasesDocument {
  const [mode, from = ''] = document.split(' ');
  const addresses = mode === SQUIRREL_ABSOLUTE ? SQUIRREL_ABSOLUTE : SQUIRREL_BARE;
  return { addresses, from: from === '' ? null : from };
}

/** The packages of one updater. */
export interface ReleasesFormat {
  readonly format: 'squirrel' | 'velopack';
  readonly hasDeltas: boolean;
}

type Input = Pick<FeedListing, 'platform' | 'arch' | 'document' | 'fileUrl'>;

export function renderReleases(kind: ReleasesFormat, listing: FeedListing): ProtocolResponse {
  const { release, olderReleases, document } = listing;
  const { from } = parseDocument(document);
  const rules = rulesFor(kind, listing);
  const offered = offeredPackage(listing, rules);
  // To Squirrel, beta10 is older than beta9. A client with beta9 would download beta10, start beta9 again, and repeat
  // this at every check.
  if (from !== null && !rules.isNewer(release.version, from)) {
    const own = olderReleases.find(({ version }) => rules.isSame(version, from));
    const id = offered.artifact.filename.replace(/-\d.*/, '');
    return text([ownLine(kind, { ...listing, own }, from, id)]);
  }
  // On a 64-bit system, the application may be 32-bit. The application cannot use a delta for the other architecture.
  const isCertain = listing.arch !== null || !isAmbiguous([release, ...olderReleases], rules);
  const deltas = kind.hasDeltas && isCertain ? deltasTo(offered, olderReleases, rules, from) : [];
  const line = lineFor(listing);
  const fulls = [offered, ...(from === null ? deltas.map(({ base }) => base) : [])];
  const lines = fulls.flatMap((listed) => {
    const delta = deltas.find(({ to }) => to.release === listed.release);
    const full = line(listed.release, listed.artifact);
    return delta === undefined ? [full] : [full, line(listed.release, delta.file)];
  });
  const between = deltas.filter(({ to }) => !fulls.some(({ release: r }) => r === to.release));
  return text([...lines, ...between.map(({ to, file }) => line(to.release, file))].reverse());
}

/**
 * The document that says "no update": it lists the client's own version. Clients report an error for an empty document,
 * and clients up to 1.7.0 install a listed version that is older than their own. Undefined when the client states no
 * version.
 *
 * When the service does not know the client's package, the line has a hash of zeros. A client never downloads the
 * version that it has.
 */
export function renderOwnRelease(
  kind: ReleasesFormat,
  application: string,
  input: ReleasesWithoutOffer,
): ProtocolResponse | undefined {
  const { from } = parseDocument(input.document);
  return from === null ? undefined : text([ownLine(kind, input, from, application)]);
}

/** @param id of the package, for a package that the service does not know */
function ownLine(
  kind: ReleasesFormat,
  input: Pick<ReleasesWithoutOffer, keyof Input | 'own'>,
  from: string,
  id: string,
): string {
  const own = input.own && ownPackage(input.own, rulesFor(kind, input));
  const isKnown =
    own !== undefined &&
    compareSquirrelVersions(squirrelVersionIn(own.artifact.filename) ?? '', from) === 0;
  return isKnown
    ? lineFor(input)(own.release, own.artifact)
    : `${UNKNOWN_SHA1} ${id.replace(/[^\w]/g, '_')}-${from}-full.nupkg 1`;
}

const UNKNOWN_SHA1 = '0'.repeat(40);

/** The package of the client's own release, of any architecture: the client reads only the version. */
function ownPackage(own: Release, rules: ChainRules): ListedPackage | undefined {
  return packageIn(own, rules) ?? packageIn(own, { ...rules, arch: null });
}

function rulesFor(
  { format }: ReleasesFormat,
  { platform, arch }: Pick<Input, 'platform' | 'arch'>,
): ChainRules {
  return {
    platform,
    arch,
    format,
    isNamedFor: format === 'squirrel' ? isNamedFor : isMigrationNamed,
    isSame: (a, b) => compareSquirrelVersions(squirrelTextOf(a), squirrelTextOf(b)) === 0,
    isNewer: (a, b) => compareSquirrelVersions(squirrelTextOf(a), squirrelTextOf(b)) > 0,
  };
}

/** True when Squirrel reads the version of the release from the name of a package. */
function isNamedFor(filename: string, version: string): boolean {
  const read = squirrelVersionIn(filename);
  return read !== undefined && compareSquirrelVersions(read, squirrelTextOf(version)) === 0;
}

/**
 * Velopack's own rule for `RELEASES`: no pre-release with dots, and no build metadata. The names of Velopack's packages
 * may contain a channel.
 */
function isMigrationNamed(filename: string, version: string): boolean {
  const read = squirrelVersionIn(filename) ?? '';
  return (
    version === squirrelTextOf(version) && (read === version || read.startsWith(`${version}-`))
  );
}

function isAmbiguous(releases: readonly Release[], rules: ChainRules): boolean {
  return releases.some((release) => hasSeveral(release, rules));
}

/** The names that a line can contain unchanged. */
const BARE_NAME = /^[A-Za-z0-9._-]+$/;

function lineFor({ document, fileUrl }: Input) {
  const { addresses } = parseDocument(document);
  return (
    { version }: Pick<Release, 'version'>,
    { sha1, filename, size }: { readonly sha1: string; readonly filename: string; size: number },
  ): string => {
    // The service finds the file of a bare name by the version in the name.
    const isBare =
      addresses === SQUIRREL_BARE &&
      BARE_NAME.test(filename) &&
      versionsInName(filename).includes(version);
    const address = isBare ? filename : fileUrl(version, filename);
    return `${sha1.toUpperCase()} ${address} ${size}`;
  };
}

/** The document has no line break at its end, as Squirrel writes it. */
function text(lines: readonly string[]): ProtocolResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: lines.join('\n'),
  };
}
