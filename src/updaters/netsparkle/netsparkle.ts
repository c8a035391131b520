import {
  NETSPARKLE_APPCAST,
  NETSPARKLE_APPCAST_SIGNATURE,
  NETSPARKLE_FORMATS,
} from '../../domain/carried-document.ts';
import type { NamedMachine } from '../../domain/common-release.ts';
import { machineName } from '../../domain/compatible-arches.ts';
import {
  type Arch,
  type Format,
  PLATFORMS,
  type Platform,
  parseFormat,
  parsePlatform,
  platformOf,
} from '../../domain/platform.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { SPARKLE_ED25519 } from '../../domain/signature.ts';
import { anyMac } from '../any-mac.ts';
import {
  APPCAST,
  type AppcastItem,
  chooseFile,
  edSignatureOf,
  renderAppcast,
} from '../appcast/appcast.ts';
import { NETSPARKLE_ADDRESSES } from '../appcast/appcast-addresses.ts';
import {
  appcastQuery,
  listAppcastAddresses,
  noAppcastSignature,
  parseAppcastPath,
} from '../appcast/appcast-feed.ts';
import type {
  FeedListing,
  FeedProtocol,
  ProtocolRequest,
  ProtocolResponse,
  Question,
} from '../protocol.ts';
import { describeNetSparkleSetUp } from '../sparkle/sparkle-set-up.ts';

/**
 * NetSparkle, for .NET applications on Windows, macOS and Linux.
 *
 * `GET {base}/appcast.xml`. The client takes the newest item for its operating system. The client compares neither
 * architectures nor versions of the system, so the server compares both. Without `platform` in the query, the document
 * is for every system, and states one release that every system gets: see `findCommonRelease`.
 *
 * A client with a public key also asks for `{address}.signature` unless it verifies downloads only. Only a document
 * that the publisher signed has such a signature.
 */
export const netsparkle: FeedProtocol = {
  shape: 'feed',
  name: 'netsparkle',
  title: 'NetSparkle (.NET on Windows, macOS and Linux)',
  takesPost: false,
  addresses: NETSPARKLE_ADDRESSES,
  varyHeaders: [],
  olderReleasesMax: 0,
  formatsFor: (platform) => USUAL[platform],
  everyFormatFor: (platform) => NETSPARKLE_FORMATS[platform],
  signatureScheme: null,
  expectedSignature: SPARKLE_ED25519,
  osGate: 'server',
  mayOmit: () => ['version', 'arch'],
  parseRequest,
  listStatic: listAppcastAddresses,
  describeSetUp: describeNetSparkleSetUp,
  renderListing,
  renderSigned: (machine, { documents }, document) => {
    const isFeed = document === APPCAST;
    if (!listsFor(machine, documents.get(NETSPARKLE_APPCAST))) return undefined;
    const body = documents.get(isFeed ? NETSPARKLE_APPCAST : NETSPARKLE_APPCAST_SIGNATURE);
    const type = isFeed ? 'application/rss+xml; charset=utf-8' : 'text/plain; charset=utf-8';
    return body && { status: 200, headers: { 'content-type': type }, body };
  },
  renderNoUpdate: ({ document }, _reason, { fileUrl }) =>
    document === APPCAST ? renderAppcast({ items: [], rendersMarkdown: true, fileUrl }) : undefined,
};

/** The client does not state which kind of package it was installed from. On Linux, an archive suits every client. */
const USUAL: Readonly<Record<Platform, readonly Format[]>> = {
  ...NETSPARKLE_FORMATS,
  linux: ['tar.gz'],
};

/**
 * The machines of a document for every system. A client takes the first item for its system, whatever the architecture.
 * So for each system, the document lists only the build of the first machine with a build. For Macs, x64 comes first,
 * because an x64 build runs on every Mac.
 */
const MACHINES: readonly NamedMachine[] = [
  machineOn('windows', 'x64'),
  machineOn('windows', 'ia32'),
  ...anyMac(USUAL.macos),
  machineOn('linux', 'x64'),
];

function machineOn(platform: Platform, arch: Arch): NamedMachine {
  return { name: machineName(platform, arch), platform, arch, formats: USUAL[platform] };
}

/**
 * True when a signed document has items for a system. Each job of a build may sign a document for its own system, but a
 * release carries only one of these documents. Clients on another system would never find an update in that document. A
 * request without a system gets the document in any case.
 */
function listsFor(
  { platform, arch }: { readonly platform: Platform; readonly arch: Arch | null },
  document: Uint8Array | undefined,
): boolean {
  if (platform === 'windows' && arch === null) return true;
  const enclosures = new TextDecoder().decode(document).match(/<enclosure\b[^>]*>/g) ?? [];
  return enclosures.some((enclosure) => {
    const [, os] = /[\s:]os\s*=\s*["']\s*([^"']*)/.exec(enclosure) ?? [];
    // The client reads an item without a system as an item for Windows.
    return (os === undefined ? 'windows' : platformOf(os.split('-', 1)[0] ?? '')) === platform;
  });
}

function parseRequest(asked: ProtocolRequest): Question | undefined {
  const named = parseAppcastPath(asked);
  if (named === undefined) return undefined;
  const { document, request } = named;
  const { platform: word = '', format = '' } = request.query;
  const query = appcastQuery(request, netsparkle);
  if (word === '') {
    // A version of one system means nothing for another system.
    const unstated = { platform: 'windows', arch: null, formats: null, osVersion: null } as const;
    return { document, machines: MACHINES, query: { ...query, ...unstated } };
  }
  const platform = parsePlatform(word);
  const formats = format === '' ? USUAL[platform] : [parseFormat(format)];
  const isAnyMac = platform === 'macos' && query.arch === null;
  const machines = isAnyMac ? { machines: anyMac(formats) } : {};
  return { document, ...machines, query: { ...query, platform, formats } };
}

function renderListing(listing: FeedListing): ProtocolResponse {
  const { document, release, artifact, builds = [], fileUrl } = listing;
  if (document !== APPCAST) throw noAppcastSignature();
  const files = builds.length > 0 ? builds.map((build) => build.artifact) : [artifact];
  const firsts = PLATFORMS.flatMap(
    (platform) => files.find((file) => file.platform === platform) ?? [],
  );
  const items = firsts.map((file) => itemFor(release, file));
  return renderAppcast({ items, rendersMarkdown: true, fileUrl });
}

function itemFor(release: Release, chosen: Artifact): AppcastItem {
  const file = signedInstead(release, chosen);
  return { release, file, os: file.platform };
}

/**
 * The chosen file, or a signed file when the chosen file has no signature. The client does not compare versions of the
 * system, so the signed file must run on the same versions as the chosen file.
 */
function signedInstead({ artifacts }: Release, chosen: Artifact): Artifact {
  if (edSignatureOf(chosen) !== undefined) return chosen;
  const { platform, arch, minimumOsVersion } = chosen;
  const like = artifacts.filter(
    (file) =>
      edSignatureOf(file) !== undefined &&
      file.arch === arch &&
      file.minimumOsVersion === minimumOsVersion,
  );
  return chooseFile({ artifacts: like }, { platform, arch, formats: USUAL[platform] }) ?? chosen;
}
