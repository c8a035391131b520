import type { Release } from '../../src/domain/release.ts';
import type { UpdateQuery } from '../../src/domain/update-query.ts';
import { parseClientVersion } from '../../src/domain/version.ts';
import type {
  FeedProtocol,
  PollProtocol,
  ProtocolRequest,
  ProtocolResponse,
} from '../../src/updaters/protocol.ts';

/**
 * Two dialects, made up of what real ones need and Electron's and Tauri's do not: older releases, bytes,
 * redirects, POST, documents with words of the client, and refusals of
 * their own.
 */

function queryOf(request: ProtocolRequest, version: string | undefined): UpdateQuery {
  return {
    application: request.application,
    channel: request.channel,
    currentVersion: version === undefined ? null : parseClientVersion(version),
    platform: 'windows',
    arch: 'x64',
    formats: ['nsis'],
    osVersion: null,
    osGate: 'client',
    installationId: null,
    isManual: false,
    allowDowngrade: false,
    purpose: 'update',
    signatureScheme: null,
  };
}

export const NOT_TEXT = Uint8Array.of(0xff, 0x00, 0xfe);
const BYTES = { 'content-type': 'application/x-listing' };

function listingOf(releases: readonly Release[]): ProtocolResponse {
  const lines = Buffer.from(releases.map(({ version }) => version).join('\n'));
  return { status: 200, headers: BYTES, body: Buffer.concat([lines, NOT_TEXT]) };
}

/** Neither has an application that could be set up. */
const describeSetUp = () => ({ addresses: [], texts: [], notes: [] });

let rendered = 0;

/** The number of offers that were rendered since {@link forget}. */
export function renderedCount(): number {
  return rendered;
}

export function forget(): void {
  rendered = 0;
}

/** Like Squirrel's RELEASES: lists several releases, as bytes; and `newest` redirects, as zsync's file does. */
export const listing: FeedProtocol = {
  shape: 'feed',
  name: 'listing',
  title: 'a made-up feed',
  takesPost: false,
  addresses: [],
  varyHeaders: [],
  olderReleasesMax: 2,
  describeSetUp,
  formatsFor: () => ['nsis'],
  signatureScheme: null,
  osGate: 'client',
  parseRequest: (request) => {
    const [document = '', ...rest] = request.path;
    if (!['RELEASES', 'newest'].includes(document) || rest.length > 0) return undefined;
    return { document, query: queryOf(request, request.query.localVersion) };
  },
  renderListing: ({ document, release, olderReleases, fileUrl }) => {
    rendered++;
    if (document === 'RELEASES') return listingOf([release, ...olderReleases]);
    const location = fileUrl(release.version, release.artifacts[0]?.filename ?? '');
    return { status: 302, headers: { location }, body: '' };
  },
  renderNoUpdate: (_asked, _reason, { olderReleases }) => listingOf(olderReleases),
};

/** Like Omaha: the question is the body of a POST, and every answer is XML, also a refusal. */
export const post: PollProtocol = {
  shape: 'poll',
  name: 'post',
  title: 'a made-up poll',
  takesPost: true,
  addresses: [],
  varyHeaders: ['x-flavour'],
  describeSetUp,
  formatsFor: () => ['nsis'],
  signatureScheme: null,
  osGate: 'client',
  parseRequest: (request) => {
    if (request.body === undefined || request.path.join('/') !== 'v1/update') return undefined;
    const [, version] = /<app version="([^"]+)"/.exec(request.body) ?? [];
    const [, id] = /id="([^"]+)"/.exec(request.body) ?? [];
    const query = queryOf(request, version);
    return id === undefined ? { document: '', query } : { document: id, isPersonal: true, query };
  },
  renderOffer: ({ document, release, artifact, fileUrl }) => {
    rendered++;
    const url = fileUrl(release.version, artifact.filename);
    return xml(`<update id="${document}" version="${release.version}" url="${url}"/>`);
  },
  renderNoUpdate: (_asked, reason) => (reason === 'paused' ? undefined : xml(`<no ${reason}/>`)),
  renderNotFound: (_request, { code }) =>
    code === 'unknown_application' ? xml('<error-unknownApplication/>') : undefined,
};

function xml(body: string): ProtocolResponse {
  return { status: 200, headers: { 'content-type': 'text/xml', 'x-dialect': 'post' }, body };
}
