import { AppError } from '../../core/errors.ts';
import { DELTA, isDifferential, ZSYNC } from '../../domain/companion.ts';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import type { ObjectReader, ObjectStore } from '../../store/object-store.ts';
import type { ProtocolRequest } from '../../updaters/protocol.ts';
import { type Answer, type CountedLink, PRIVATE_CACHE, uncached } from '../answer.ts';
import { issueLink, type LinkDeps } from '../issue-link.ts';
import { type FoundFile, findFile } from './find-file.ts';
import { openFile } from './open-file.ts';
import { parseRangeHeader } from './range-header.ts';

export interface FileDeps extends LinkDeps {
  /** The store with the files of releases. */
  readonly store: Pick<ObjectStore, 'open'>;
}

/** The parts of a request for a file on which the answer depends. */
export interface AskedFile extends Pick<ProtocolRequest, 'application' | 'channel' | 'path'> {
  readonly method: string;
  readonly headers: FileHeaders;
  /** See `Dialect.keepsRedirects`. */
  readonly keepsRedirects: boolean;
}

export interface FileHeaders {
  readonly range?: string | undefined;
  readonly 'if-range'?: string | readonly string[] | undefined;
  readonly authorization?: string | undefined;
}

export type FileAnswer =
  | {
      readonly kind: 'redirect';
      readonly answer: Answer;
      readonly download: CountedDownload | undefined;
    }
  | {
      /** The server sends the whole file, or the ranges that the client asks for, and closes the reader. */
      readonly kind: 'bytes';
      readonly reader: ObjectReader;
      readonly filename: string;
      readonly cacheControl: string;
      readonly download: CountedDownload | undefined;
    }
  /** The file has none of the requested bytes: 416. */
  | { readonly kind: 'unsatisfiable'; readonly size: number };

/** Requests of one client for the same artifact belong to one download, which is counted once. */
export interface CountedDownload {
  /** Identifies the artifact, also for a delta of it. */
  readonly artifact: string;
  readonly link: CountedLink;
  readonly isDelta: boolean;
  /** True when the artifact has a list of its blocks, so that clients may download only the changed ones. */
  readonly hasBlocks: boolean;
  /** Bytes of the file. */
  readonly size: number;
}

const REDIRECT_HEADERS = uncached({});

/**
 * Answers the stable address of a file of a release. Feeds contain stable addresses, because a presigned URL would
 * expire in a cached document.
 *
 * It redirects to a presigned URL, so that the store sends the bytes. The service sends the bytes itself when a
 * redirect would harm the client:
 * - several ranges: S3 would send the whole file, so every differential download would become a full download;
 * - ranges with credentials: electron-updater would send its token to the store as well;
 * - a range with If-Range, which not every store implements;
 * - a range that the file does not have: the service answers 416;
 * - every range, for a client that keeps redirected addresses.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `invalid_request`, `invalid_version`; also as `findFile`, `issueLink` and `openFile` do
 */
export async function answerFile(
  deps: FileDeps,
  asked: AskedFile,
  tier: string | null,
): Promise<FileAnswer> {
  const { application, channel, path } = asked;
  const found = await findFile(deps, { application, channel, ...parsePath(path) }, tier);
  const { file, isRestricted } = found;
  const kind = decideKind(asked, found);
  if (kind === 'unsatisfiable') return { kind, size: file.size };
  const download = downloadOf(asked, found);
  if (kind === 'redirect') {
    const method = asked.method === 'HEAD' ? 'HEAD' : 'GET';
    const link = await issueLink(deps.links, application, file, method, found);
    const own = { location: link.url };
    return { kind, answer: { status: 302, headers: REDIRECT_HEADERS, own, body: '' }, download };
  }
  const reader = await openFile(deps.store, application, file);
  // Without a range, the answer of the same address is a redirect. A cache must not replace it with a part of the file.
  const cacheControl = isRestricted ? PRIVATE_CACHE : 'no-store';
  return { kind, reader, filename: file.filename, cacheControl, download };
}

/** @throws AppError `invalid_request` for a path that no file can have, `invalid_version`, `unknown_file` */
function parsePath(path: readonly string[]): { version: string | null; filename: string } {
  if (path.some((segment) => NO_NAME.test(segment))) {
    throw new AppError(
      'invalid_request',
      'The path contains "..", ".", a backslash or a control character.',
    );
  }
  const [first = '', second, ...rest] = path;
  if (rest.length > 0 || first === '' || second === '') {
    throw new AppError('unknown_file', 'This feed has no such document.');
  }
  if (second === undefined) return { version: null, filename: first };
  return { version: versionText(parseClientVersion(first, '/version')), filename: second };
}

/** `.` and `..`, backslashes and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a client may send them
const NO_NAME = /^\.{1,2}$|[\\\u0000-\u001f\u007f]/;

function decideKind(
  { method, headers, keepsRedirects }: AskedFile,
  found: FoundFile,
): FileAnswer['kind'] {
  const { kind } = parseRangeHeader(method === 'GET' ? headers.range : undefined, found.file.size);
  if (kind === 'all') return 'redirect';
  // The server that sends the bytes compares If-Range with the stored file, and so decides whether the range counts.
  if (headers['if-range'] !== undefined) return 'bytes';
  if (kind === 'none') return 'unsatisfiable';
  if (kind === 'several' || keepsRedirects) return 'bytes';
  return headers.authorization === undefined && !found.isRestricted ? 'redirect' : 'bytes';
}

/**
 * Only the download of an artifact, or of a delta instead of it, is counted. The other companions that a client
 * downloads with the artifact are not counted.
 */
function downloadOf(
  { application, method }: AskedFile,
  { channel, version, artifact, file }: FoundFile,
): CountedDownload | undefined {
  const isDelta = 'kind' in file && file.kind === DELTA;
  if ((file !== artifact && !isDelta) || method === 'HEAD') return undefined;
  return {
    isDelta,
    artifact: `${application} ${artifact.object}`,
    hasBlocks: isDifferential(artifact) || artifact.companions.some(({ kind }) => kind === ZSYNC),
    size: file.size,
    link: { application, channel, platform: artifact.platform, version },
  };
}
