import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CountedDownload, FileAnswer } from '../../answers/files/answer-file.ts';
import { noSuchRange } from '../bytes/byte-answers.ts';
import type { RouteDeps } from '../deps.ts';
import { OPEN_HEADERS } from '../http/cors.ts';
import { sendUncached } from '../http/fast/send-answer.ts';
import type { RecentDownloads } from './recent-downloads.ts';

interface FileSenderDeps extends Pick<RouteDeps, 'bytes' | 'usage'> {
  readonly downloads: RecentDownloads;
}

/**
 * Sends the answer to a request for a file of a release, and counts the download once.
 *
 * @throws AppError `precondition_failed`, `range_not_satisfiable`, `overloaded`, `store_unavailable`
 */
export async function sendFile(
  deps: FileSenderDeps,
  answer: FileAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (answer.kind === 'unsatisfiable') throw noSuchRange(reply, answer.size);
  if (answer.kind === 'redirect') {
    countDownload(deps, answer.download, request);
    sendUncached(request, reply, answer.answer);
    return;
  }
  if (request.headers.origin !== undefined) reply.headers(OPEN_HEADERS);
  await deps.bytes.send(answer.reader, answer, request, reply);
  // A 304 has no byte of the file, so it is not a download.
  if (reply.statusCode < 300) countDownload(deps, answer.download, request);
}

function countDownload(
  { usage, downloads }: FileSenderDeps,
  download: CountedDownload | undefined,
  request: FastifyRequest,
): void {
  if (download === undefined) return;
  for (const kind of downloads.note(request, download)) usage.countLink(download.link, kind);
}
