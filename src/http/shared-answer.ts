import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { etagOf, matchesEtag } from './conditional.ts';
import { OPEN_HEADERS } from './server/cors.ts';
import {
  type HeaderRecord,
  type PreparedHeaders,
  prepareHeaders,
} from './server/prepared-headers.ts';

/** Answers that many clients get: each is rendered once, with its entity tag, and sent many times. */

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

/** In bytes. `connection.ts` counts longer texts as memory of the client, but not buffers, which answers share. */
const TEXT_MAX = 4 * 1024 - 1;

/**
 * A 200 with an entity tag, which pages of any origin may read.
 *
 * @param headers in lower case; `content-type` and `cache-control` are among them
 * @param isLasting false for an answer that is soon replaced: then it stays text, which counts as memory of every client
 *   that does not read it. Otherwise such clients could make the process keep one version of it for each second.
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
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  answer: SharedAnswer,
): void {
  const { status, body, revalidation, isShared } = answer;
  if (revalidation !== undefined && matchesEtag(headers['if-none-match'], revalidation.etag)) {
    reply.sendPrepared(304, revalidation.headers, null);
  } else reply.sendPrepared(status, answer.headers, body, undefined, isShared);
}

/** What an answer was made from. */
export interface AnswerSource {
  /** The part of the catalog that was asked: another revision has another object. */
  readonly view: object;
  /** The artifact that the answer shows, when clients who ask the same may get different ones. */
  readonly artifact: object | undefined;
}

/** Keeps shared answers while the view exists that they were made from. */
export interface SharedAnswers {
  /**
   * @param question everything else that the answer depends on. It must not contain text that clients choose freely,
   *   such as the id of an installation: such texts would fill the memory, and the answer would not be shared.
   */
  get(source: AnswerSource, question: string): SharedAnswer | undefined;
  /** @returns the answer */
  add(source: AnswerSource, question: string, answer: SharedAnswer): SharedAnswer;
}

const BYTES_MAX = 32 * 1024 * 1024;
/** Of the headers and the entry. */
const OVERHEAD_BYTES = 2 * 1024;

/** By artifact. */
type Answers = Map<object | undefined, SharedAnswer>;

/** @param bytesMax above it, the oldest answers are dropped */
export function createSharedAnswers(bytesMax = BYTES_MAX): SharedAnswers {
  const byView = new WeakMap<object, Map<string, Answers>>();
  /** The oldest first. */
  const all = new Set<{ readonly answers: Answers; readonly artifact: object | undefined }>();
  let total = 0;

  const dropOldest = (): void => {
    for (const entry of all) {
      if (total <= bytesMax) return;
      total -= bytesOf(entry.answers.get(entry.artifact));
      entry.answers.delete(entry.artifact);
      all.delete(entry);
    }
  };

  return {
    get: ({ view, artifact }, question) => byView.get(view)?.get(question)?.get(artifact),
    add: ({ view, artifact }, question, answer) => {
      const byQuestion = byView.get(view) ?? new Map<string, Answers>();
      byView.set(view, byQuestion);
      const answers: Answers = byQuestion.get(question) ?? new Map();
      byQuestion.set(question, answers);
      // Two requests may render the same answer at the same time.
      if (answers.has(artifact)) return answer;
      answers.set(artifact, answer);
      all.add({ answers, artifact });
      total += bytesOf(answer);
      dropOldest();
      return answer;
    },
  };
}

function bytesOf(answer: SharedAnswer | undefined): number {
  return answer === undefined ? 0 : OVERHEAD_BYTES + Buffer.byteLength(answer.body ?? '');
}

const RENDERED_AGAIN_AFTER_MS = 1_000;

/** Answers about the state of the service, which changes all the time: each is at most one second old. */
export interface BriefAnswers<Answer = SharedAnswer> {
  /**
   * @param question as in {@link SharedAnswers}: it must be one of a limited number of names
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
