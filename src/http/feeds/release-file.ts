import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseClientVersion, versionText } from '../../domain/version.ts';
import { AppError } from '../../errors.ts';
import { type FoundFile, findFile } from '../../operations/find-file.ts';
import { issueLink } from '../../operations/issue-link.ts';
import { openFile } from '../../operations/open-file.ts';
import type { ProtocolRequest } from '../../protocols/protocol.ts';
import { whenKnown } from '../../when-known.ts';
import { tierOfRequest } from '../accounts/tier-of-request.ts';
import { noSuchRange } from '../bytes/byte-answers.ts';
import { parseRangeHeader } from '../bytes/range-header.ts';
import { PRIVATE_CACHE } from '../conditional.ts';
import type { RouteDeps } from '../deps.ts';
import { countLink } from '../desktop/count-usage.ts';
import { OPEN_HEADERS } from '../server/cors.ts';
import { prepareUncached } from '../server/prepared-answer.ts';
import type { RecentDownloads } from './recent-downloads.ts';

const headersFor = prepareUncached({});

/** What the answers to all requests for files share. */
export interface FileDeps extends RouteDeps {
  readonly downloads: RecentDownloads;
}

/**
 * Answers the stable address of a file of a release. Feeds contain stable addresses, because a presigned URL would
 * expire in a cached document.
 *
 * Redirects to a presigned URL, so that the store sends the bytes. Answers itself what a client would lose by the
 * redirect:
 * - several ranges: S3 would send the whole file, and every differential download would become a full one;
 * - ranges with credentials: electron-updater sends its token on to the address that it was redirected to;
 * - a range with If-Range, which not every store implements;
 * - a range that the file does not have;
 * - every range, for a client that keeps redirected addresses.
 *
 * @param keepsRedirects see `Dialect.keepsRedirects`
 * @throws AppError `invalid_request`, `invalid_version`, and those of `findFile`, `issueLink` and `openFile`
 */
export function answerFile(
  deps: FileDeps,
  { application, channel, path }: ProtocolRequest,
  keepsRedirects: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const asked = { application, channel, ...parsePath(path) };
  return whenKnown(tierOfRequest(deps, request), async (tier) => {
    const found = await findFile(deps, asked, tier);
    const answer = decideAnswer(request, found, keepsRedirects);
    if (answer === 'redirect') {
      const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
      const link = await issueLink(deps.links, application, found.file, method, found);
      countDownload(deps, application, found, request);
      reply.sendPrepared(302, headersFor(request), '', { location: link.url });
    } else if (answer === 'unsatisfiable') throw noSuchRange(reply, found.file.size);
    else await sendBytes(deps, application, found, request, reply);
  });
}

/** @throws AppError `invalid_request` for a path that cannot be a file's, `invalid_version`, `unknown_file` */
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

type Answer = 'redirect' | 'bytes' | 'unsatisfiable';

function decideAnswer(
  { method, headers }: FastifyRequest,
  found: FoundFile,
  keepsRedirects: boolean,
): Answer {
  const { kind } = parseRangeHeader(method === 'GET' ? headers.range : undefined, found.file.size);
  if (kind === 'all') return 'redirect';
  // The stored file's date and entity tag decide whether the range counts.
  if (headers['if-range'] !== undefined) return 'bytes';
  if (kind === 'none') return 'unsatisfiable';
  if (kind === 'several' || keepsRedirects) return 'bytes';
  return headers.authorization === undefined && !found.isRestricted ? 'redirect' : 'bytes';
}

async function sendBytes(
  deps: FileDeps,
  application: string,
  found: FoundFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { file, isRestricted } = found;
  const reader = await openFile(deps.store, application, file);
  if (request.headers.origin !== undefined) reply.headers(OPEN_HEADERS);
  // Without a range, the same address is a redirect, which a cache must not replace with a part of the file.
  const cacheControl = isRestricted ? PRIVATE_CACHE : 'no-store';
  await deps.bytes.send(reader, { filename: file.filename, cacheControl }, request, reply);
  // A 304 has no byte of the file.
  if (reply.statusCode < 300) countDownload(deps, application, found, request);
}

/** An update is counted by its artifact: the companions that a client downloads with it are not counted. */
function countDownload(
  { usage, downloads }: FileDeps,
  application: string,
  { channel, version, artifact, file }: FoundFile,
  request: FastifyRequest,
): void {
  if (file !== artifact || request.method === 'HEAD') return;
  if (!downloads.isNew(request, `${application} ${artifact.object}`)) return;
  countLink(usage, 'GET', { application, channel, platform: artifact.platform, version });
}
