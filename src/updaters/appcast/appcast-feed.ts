import { AppError } from '../../core/errors.ts';
import { type Arch, type Format, type Platform, parseArch } from '../../domain/platform.ts';
import type { Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseLooseVersion } from '../../domain/version.ts';
import {
  commonQuery,
  type FeedProtocol,
  type OlderReleases,
  type Protocol,
  type ProtocolRequest,
} from '../protocol.ts';
import type { StaticAddress } from '../static-address.ts';
import {
  APPCAST,
  APPCAST_SIGNATURE,
  type AppcastItem,
  notNewerThan,
  renderAppcast,
} from './appcast.ts';

/** The requests, addresses and errors that the dialects of Sparkle, WinSparkle and NetSparkle share. */

interface AppcastRequest {
  readonly document: typeof APPCAST | typeof APPCAST_SIGNATURE;
  readonly request: ProtocolRequest;
}

const SIGNATURE_SUFFIX = '.signature';

/**
 * The document that a request names; undefined when the request names no document.
 *
 * NetSparkle appends `.signature` to the whole address, behind its query: `appcast.xml?arch=x64.signature`.
 */
export function parseAppcastPath(request: ProtocolRequest): AppcastRequest | undefined {
  const [name, ...rest] = request.path;
  if (rest.length > 0) return undefined;
  if (name === APPCAST_SIGNATURE) return { document: APPCAST_SIGNATURE, request };
  if (name !== APPCAST) return undefined;
  const parameters = Object.entries(request.query);
  const [last, value = ''] = parameters.at(-1) ?? [];
  if (last === undefined || !value.endsWith(SIGNATURE_SUFFIX))
    return { document: APPCAST, request };
  const stripped = [last, value.slice(0, -SIGNATURE_SUFFIX.length)] as const;
  const query = Object.fromEntries([...parameters.slice(0, -1), stripped]);
  return { document: APPCAST_SIGNATURE, request: { ...request, query } };
}

/**
 * The facts that clients of all three dialects may state in the query. An installed application cannot be corrected, so
 * text that is not a version counts as not stated.
 */
export function appcastQuery(
  request: ProtocolRequest,
  dialect: Pick<Protocol, 'osGate' | 'signatureScheme'>,
): Omit<UpdateQuery, 'platform' | 'formats'> {
  const { query } = request;
  return {
    ...commonQuery(request, dialect),
    currentVersion: versionOf(query.current_version),
    arch: archOf(query.arch),
  };
}

/**
 * A single number, such as 421, is a bundle version. If the service read it as 421.0.0, the client would never get an
 * update.
 */
function versionOf(text: string | undefined): UpdateQuery['currentVersion'] {
  if (text === undefined || /^\s*\d+\s*$/.test(text)) return null;
  return parseLooseVersion(text) ?? null;
}

/** Universal is a kind of build, not the architecture of a machine. */
function archOf(word: string | undefined): Arch | null {
  if (word === undefined || word === '') return null;
  const arch = parseArch(word);
  return arch === 'universal' ? null : arch;
}

/**
 * The error for a client that asks for the signature of an unsigned appcast. Only the publisher can sign an appcast,
 * because the service has no private key.
 */
export function noAppcastSignature(): AppError {
  return new AppError(
    'unknown_file',
    'This appcast is generated, so it has no signature. Publish the appcast that your tool signed, or let the client verify downloads only (SecurityMode.OnlyVerifySoftwareDownloads).',
  );
}

/** The addresses of the appcast, and of its signature for NetSparkle. */
export function listAppcastAddresses(): readonly StaticAddress[] {
  return [APPCAST, APPCAST_SIGNATURE].map((name) => ({ path: [name] }));
}

/**
 * The appcasts of Sparkle and WinSparkle. Clients read every item, and compare its minimum version with the version of
 * their system. So a document also lists older releases, for clients whose system the offered release does not support.
 */
interface ListedAppcast {
  readonly platform: Platform;
  /** Best first. */
  readonly formats: readonly Format[];
  /** True when clients show Markdown; else notes are HTML. */
  readonly rendersMarkdown: boolean;
  /** The items of releases, in the order of the releases. A release without a file for the client has no item. */
  readonly itemsOf: (
    releases: readonly Release[],
    asked: Pick<OlderReleases, 'arch'>,
  ) => readonly AppcastItem[];
}

const DIALECT = { osGate: 'client', signatureScheme: null } as const;

/** The part of a dialect that parses requests for an appcast, and renders the appcast. */
export function listedAppcast({
  platform,
  formats,
  rendersMarkdown,
  itemsOf,
}: ListedAppcast): Pick<
  FeedProtocol,
  | keyof typeof DIALECT
  | 'olderReleasesMax'
  | 'listsOwnRelease'
  | 'parseRequest'
  | 'renderListing'
  | 'renderNoUpdate'
> {
  return {
    ...DIALECT,
    // `generate_appcast` makes deltas from the same number of releases.
    olderReleasesMax: 5,
    listsOwnRelease: true,
    parseRequest: (asked) => {
      const named = parseAppcastPath(asked);
      if (named === undefined) return undefined;
      const query = appcastQuery(named.request, DIALECT);
      return { document: named.document, query: { ...query, platform, formats } };
    },
    renderListing: (listing) => {
      if (listing.document !== APPCAST) throw noAppcastSignature();
      const offered = itemsOf([listing.release], listing);
      const older = notNewerThan(offered, itemsOf(listing.olderReleases, listing));
      const { fileUrl } = listing;
      return renderAppcast({ items: [...offered, ...older], rendersMarkdown, fileUrl });
    },
    renderNoUpdate: ({ document }, _reason, { own, arch, fileUrl }) => {
      if (document !== APPCAST) return undefined;
      const items = own === undefined ? [] : itemsOf([own], { arch });
      return renderAppcast({ items, rendersMarkdown, fileUrl });
    },
  };
}
