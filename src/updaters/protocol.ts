import type { AppError } from '../core/errors.ts';
import type { NamedBuild, NamedMachine } from '../domain/common-release.ts';
import type { Companion } from '../domain/companion.ts';
import type { Reason } from '../domain/decide-update.ts';
import type { Format, Platform } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';
import type { SignatureScheme } from '../domain/signature.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import type { Version } from '../domain/version.ts';
import type { DialectAddress } from './dialect-address.ts';
import type { ChannelFeed, SetUp } from './set-up.ts';
import type { StaticAddress, StaticChannel } from './static-address.ts';

/**
 * An updater dialect: one file that parses its requests and renders its answers, and one line in `registry.ts`. A
 * dialect sees neither the store nor the HTTP framework.
 *
 * The shape of a dialect says which facts its answers contain. A poll answers one client with one release. A feed lists
 * releases of a channel.
 */
export type Protocol = PollProtocol | FeedProtocol;

/** Query → decision: the server decides, and the client installs the offered release. */
export interface PollProtocol extends Dialect {
  readonly shape: 'poll';
  renderOffer(offer: PollOffer): ProtocolResponse;
  /**
   * The answer to a client without an offer; undefined when the dialect has no such answer: then the service answers
   * 404.
   */
  renderNoUpdate(asked: Question, reason: Reason): ProtocolResponse | undefined;
}

/** Channel listing → document: the server lists releases, and the client that reads the document decides as well. */
export interface FeedProtocol extends Dialect {
  readonly shape: 'feed';
  /**
   * The number of releases that a document lists beside the offered release, as bases of deltas or items of older
   * versions.
   */
  readonly olderReleasesMax: number;
  renderListing(listing: FeedListing): ProtocolResponse;
  /**
   * The document that the publisher of a release signed for the asking client, as the whole answer; undefined when the
   * release has no such document. A client that has this release and gets no offer gets this document too.
   */
  renderSigned?(
    machine: Machine,
    release: SignedRelease,
    document: Question['document'],
  ): ProtocolResponse | undefined;
  /**
   * True when "no update" is a document that lists the client's own release: then `renderNoUpdate` gets that release.
   */
  readonly listsOwnRelease?: boolean;
  /**
   * The document for a client without an offer; undefined when the dialect has no such document: then the service
   * answers 404.
   */
  renderNoUpdate(
    asked: Question,
    reason: Reason,
    older: ReleasesWithoutOffer,
  ): ProtocolResponse | undefined;
}

interface Dialect {
  /** The name in addresses: `/feeds/{application}/{channel}/{name}/…`. */
  readonly name: string;
  /** The updater's name in documentation. */
  readonly title: string;
  /**
   * True when clients keep the address of a redirect, and then ask that address for several ranges. The store does not
   * answer such requests, so the service answers every range of a file itself.
   */
  readonly keepsRedirects?: boolean;
  /** True when clients may send their question by POST. Every dialect answers GET and HEAD. */
  readonly takesPost: boolean;
  /** The addresses that clients ask, for the OpenAPI document. Every dialect has the addresses of files as well. */
  readonly addresses: readonly DialectAddress[];
  /**
   * The request headers that the answer depends on, in lower case. The service names them in `Vary`. A dialect sees no
   * other headers. The route itself reads the installation's id.
   */
  readonly varyHeaders: readonly string[];
  /**
   * True when the dialect does not read the query parameters `noCache`, `stagingId` and `installation_id`. The route
   * itself reads the last two, as ids of an installation.
   */
  readonly ignoresPersonal?: boolean;
  /** The formats that a client on a platform can get when the client states no format, best first. */
  formatsFor(platform: Platform): readonly Format[];
  /**
   * The formats of all clients on a platform, also of clients that state a format; absent: the formats of `formatsFor`.
   */
  everyFormatFor?(platform: Platform): readonly Format[];
  /** A signature that an artifact must have; null: none. */
  readonly signatureScheme: UpdateQuery['signatureScheme'];
  /**
   * A signature that only clients with a public key require. The service also offers files without this signature.
   * Reports do not count these files as served, because nearly every application has a key.
   */
  readonly expectedSignature?: SignatureScheme;
  /**
   * True for a dialect whose clients install the usual installers of other applications. A release does not show
   * whether its application has such clients. So the service offers such files, but reports do not count these files as
   * served.
   */
  readonly takesAnyInstaller?: boolean;
  /** The side that compares versions of the system. */
  readonly osGate: UpdateQuery['osGate'];
  /**
   * True when clients state no version, and install what they get without comparing versions: see
   * `UpdateQuery.installsOlder`.
   */
  readonly installsOlder?: boolean;
  /** The facts that clients on a platform may leave out; absent: none. */
  mayOmit?(platform: Platform): readonly ('version' | 'arch')[];
  /**
   * Parses a request for one of the dialect's documents; undefined when the path names no such document.
   *
   * @throws AppError `invalid_version`, `unknown_platform`, `unknown_arch`, `unknown_format`
   */
  parseRequest(request: ProtocolRequest): Question | undefined;
  /** Describes the lines that a developer puts into an application, so that the application uses this dialect. */
  describeSetUp(feed: ChannelFeed): SetUp;
  /**
   * Every address of the dialect's documents for a channel, so that `slipway export` can write the documents as files.
   * Absent for a dialect that needs a server, such as a dialect with questions by POST.
   *
   * This list has no addresses of files. When every client may get a release, the export writes the release's files to
   * `{version}/{filename}`. When a document names another address for a file, the export writes the file there too.
   * When the service answers an address with a redirect to a file, the export writes a copy of the file at that
   * address. No address has a query, so the service answers as it answers a client that states nothing more.
   */
  listStatic?(channel: StaticChannel): readonly StaticAddress[];
  /**
   * A small stored file of the offered release, such as a list of blocks, from which the dialect makes a document;
   * undefined for none. The service reads the bytes once for all clients that get the document.
   */
  readsFile?(artifact: Artifact, document: Question['document']): Companion | undefined;
  /**
   * A sentence that says why the dialect's documents leave out a file for some clients; undefined when no client misses
   * the file.
   */
  warnOf?(file: Pick<Artifact, 'platform' | 'arch' | 'format' | 'filename'>): string | undefined;
  /** The dialect's own answer to an unknown application, channel or document; undefined: a problem document. */
  renderNotFound?(request: ProtocolRequest, error: AppError): ProtocolResponse | undefined;
}

export interface ProtocolRequest {
  readonly application: string;
  readonly channel: string;
  /** The path after the dialect's name, decoded, without a leading slash. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** The `varyHeaders` of the dialect, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of a POST; undefined for GET and HEAD. */
  readonly body: string | undefined;
  /**
   * The time at which a POST arrived, in milliseconds since the Unix epoch. The service makes the answer for this
   * request alone.
   */
  readonly receivedAt?: number;
}

/** The question in a request. */
export interface Question {
  readonly query: UpdateQuery;
  /**
   * A cache key of the dialect. It has every fact that the document depends on, apart from the offer and the machine.
   * The
   * service renders each document once per key.
   */
  readonly document: string;
  /**
   * The machines of a document for several machines. Such a document states one release, and each of these machines
   * gets it. Then the platform, architecture and formats of `query` mean nothing.
   */
  readonly machines?: readonly NamedMachine[];
  /**
   * True when the document also depends on the client's version. Then the process keeps the document only for versions
   * that the channel lists, because clients could fill the memory with other versions.
   */
  readonly dependsOnVersion?: boolean;
  /**
   * The versions that the client's text may mean, when the updater writes several versions alike. The first version
   * that the channel lists counts. Without such a version, `query.currentVersion` counts.
   */
  readonly versions?: readonly Version[];
  /** True when `document` contains text of this client only, such as its id: then no cache may store the answer. */
  readonly isPersonal?: boolean;
  /**
   * True when `document` contains text that clients choose freely, such as a name in the address. Caches may store the
   * answer. The process makes the answer again for each request, because clients could fill its memory with such texts.
   */
  readonly isFreeText?: boolean;
  /** True when the client only reports something and asks for no update. Such a request does not count as a check. */
  readonly isReport?: boolean;
}

type Machine = Pick<UpdateQuery, 'platform' | 'arch'>;

/** A release with the bytes of the documents that its publisher signed, by name. */
interface SignedRelease extends Pick<Release, 'carried'> {
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

/**
 * The facts from which a dialect may make a document. All clients on the same kind of machine have the same facts, so
 * one rendered document serves all these clients.
 */
interface DocumentInput extends Machine, Pick<UpdateQuery, 'formats'> {
  readonly document: Question['document'];
  /** The stable, absolute address of a release's file: see {@link filePath}. */
  readonly fileUrl: (version: string, filename: string) => string;
}

export interface PollOffer extends DocumentInput {
  readonly release: Release;
  /** The bytes of the file that `readsFile` named; absent: `readsFile` named no file. */
  readonly bytes?: Uint8Array;
  /** The offered file. In a document for several machines, the file that the first machine gets. */
  readonly artifact: Artifact;
  /**
   * The file for each of `Question.machines` that gets a file, in the order of the machines; absent without machines.
   */
  readonly builds?: readonly NamedBuild<Artifact>[];
}

/** The releases that a feed lists beside an offer. */
export interface OlderReleases extends DocumentInput {
  /**
   * Releases that are older than the offered release; without an offer, releases that are not newer than the client's
   * version. Newest first, at most `olderReleasesMax`. The client can install all of them.
   */
  readonly olderReleases: readonly Release[];
}

/** The facts from which a dialect may make "no update". */
export interface ReleasesWithoutOffer extends OlderReleases {
  /**
   * The release of the version that the client states, even when the release is yanked. Undefined for dialects without
   * `listsOwnRelease`, and when the release is on no channel that the client may open.
   */
  readonly own: Release | undefined;
}

export interface FeedListing extends PollOffer, OlderReleases {}

export interface ProtocolResponse {
  /** 302 redirects to the stable address of a file. */
  readonly status: 200 | 204 | 302;
  /**
   * Headers with names in lower case: `content-type` with a body, `location` with a redirect. The route adds
   * `cache-control`, `etag` and `vary`.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or stored bytes that the service sends unchanged. */
  readonly body: string | Uint8Array;
}

/** The answer without a document. */
export const NO_CONTENT: ProtocolResponse = { status: 204, headers: {}, body: '' };

/**
 * The address of a file below its feed. The address contains the version, because electron-updater finds old block maps
 * by the version.
 */
export function filePath(version: string, filename: string): string {
  return `${encodeURIComponent(version)}/${encodeURIComponent(filename)}`;
}

/**
 * The part of the question that is alike in all dialects: the facts that every client may state, and the facts of the
 * dialect. When a client states the version of its system, the server compares that version, even for dialects whose
 * clients compare it themselves.
 */
export function commonQuery(
  { application, channel, query }: ProtocolRequest,
  { osGate, signatureScheme }: Pick<Dialect, 'osGate' | 'signatureScheme'>,
): Omit<UpdateQuery, 'currentVersion' | 'platform' | 'arch' | 'formats'> {
  const osVersion = query.os_version || null;
  return {
    application,
    channel,
    osVersion,
    osGate: osVersion === null ? osGate : 'server',
    // Velopack's HTTP source sends `stagingId`, since a version between 0.0.1053 and 0.0.1298.
    installationId: query.installation_id || query.stagingId || null,
    isManual: false,
    allowDowngrade: false,
    purpose: 'update',
    signatureScheme,
  };
}
