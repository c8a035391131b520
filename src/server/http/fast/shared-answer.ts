import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HeaderRecord, TEXT_MAX } from '../../../answers/answer.ts';
import type { Clock } from '../../../core/clock.ts';
import { etagOf, matchesEtag } from '../conditional.ts';
import { OPEN_HEADERS } from '../cors.ts';
import { type PreparedHeaders, prepareHeaders } from './prepared-headers.ts';

/**
 * Answers that many clients get: the service renders each answer once, with its entity tag, and sends it many times.
 */

/** An answer, ready to be sent. */
export interface SharedAnswer {
  readonly status: number;
  readonly headers: PreparedHeaders;
  /** Text when it is short: Node sends a short text together with the headers. */
  readonly body: string | Buffer | null;
  /** Undefined: the client cannot ask whether the answer has changed. */
  readonly revalidation: { readonly etag: string; readonly headers: PreparedHeaders } | undefined;
  /** False for an answer to one request: its bytes count as memory of its client. Absent: true. */
  readonly isShared?: boolean;
}

/**
 * A 200 with an entity tag, which pages of any origin may read.
 *
 * @param headers in lower case; `content-type` and `cache-control` are among them
 * @param isLasting false for an answer that is soon replaced. Such an answer stays text, because text counts as memory
 *   of each client that does not read it. Without this count, such clients could make the process keep one version of
 *   the answer for each second.
 */
export function shareAnswer(
  headers: HeaderRecord,
  content: string | Uint8Array,
  isLasting = true,
): SharedAnswer {
  return sharePage({ ...OPEN_HEADERS, ...headers }, content, isLasting);
}

/** Like {@link shareAnswer}, for an answer that only pages of this service may read. */
export function sharePage(
  headers: HeaderRecord,
  content: string | Uint8Array,
  isLasting = true,
): SharedAnswer {
  const bytes = Buffer.from(content);
  const isText = typeof content === 'string' && (!isLasting || bytes.length <= TEXT_MAX);
  const etag = etagOf(bytes);
  const all: HeaderRecord = { ...headers, etag };
  const { 'content-type': _type, ...lasting } = all;
  return {
    status: 200,
    headers: prepareHeaders(all),
    body: isText ? content : bytes,
    revalidation: { etag, headers: prepareHeaders(lasting) },
  };
}

/** Sends the answer, or 304 when the client already has its body. */
export function sendShared(
  request: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  answer: SharedAnswer,
): void {
  const { status, headers, body } = answerFor(request, answer);
  reply.sendPrepared(status, headers, body, undefined, answer.isShared);
}

/** The answer, or 304 when the client already has its body. */
export function answerFor(
  { headers }: Pick<IncomingMessage, 'headers'>,
  answer: SharedAnswer,
): Pick<SharedAnswer, 'status' | 'headers' | 'body'> {
  const { revalidation } = answer;
  if (revalidation === undefined || !matchesEtag(headers['if-none-match'], revalidation.etag)) {
    return answer;
  }
  return { status: 304, headers: revalidation.headers, body: null };
}

const RENDERED_AGAIN_AFTER_MS = 1_000;

/** Answers about the state of the service, which changes all the time: each answer is at most one second old. */
export interface BriefAnswers<Answer = SharedAnswer> {
  /**
   * @param question the name of an answer. As in `SharedAnswers`, there must be a limited number of names
   * @param make makes an answer that is not lasting: see {@link shareAnswer}
   */
  get(question: string, make: () => Answer): Answer;
}

export function createBriefAnswers<Answer = SharedAnswer>(
  clock: Pick<Clock, 'now'>,
): BriefAnswers<Answer> {
  const answers = new Map<string, Answer>();
  let since = Number.NEGATIVE_INFINITY;
  return {
    get: (question, make) => {
      const now = clock.now();
      if (Math.abs(now - since) >= RENDERED_AGAIN_AFTER_MS) {
        answers.clear();
        since = now;
      }
      const answer = answers.get(question) ?? make();
      answers.set(question, answer);
      return answer;
    },
  };
}
