import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FileAnswer } from '../../answers/files/answer-file.ts';
import { noSuchRange } from '../bytes/byte-answers.ts';
import type { RouteDeps } from '../deps.ts';
import { OPEN_HEADERS } from '../http/cors.ts';
import { sendUncached } from '../http/send-answer.ts';
import type { RecentDownloads } from './recent-downloads.ts';

interface SendFileDeps extends Pick<RouteDeps, 'bytes' | 'usage'> {
  readonly downloads: RecentDownloads;
}

/**
 * Sends the answer to a request for a file of a release, and counts the download once.
 *
 * @throws AppError `range_not_satisfiable`; also as `ByteAnswers.send` does
 */
export async function sendFile(
  deps: SendFileDeps,
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
  // A 304 has no byte of the file.
  if (reply.statusCode < 300) countDownload(deps, answer.download, request);
}

function countDownload(
  { usage, downloads }: SendFileDeps,
  download: Exclude<FileAnswer, { kind: 'unsatisfiable' }>['download'],
  request: FastifyRequest,
): void {
  if (download !== undefined && downloads.isNew(request, download.file)) {
    usage.countLink(download.link);
  }
}
