import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer, Answered, Counted, HeaderRecord } from '../../../answers/answer.ts';
import type { UsageCounter } from '../../../usage/usage-counter.ts';
import { OPEN_HEADERS } from '../cors.ts';
import { type PreparedHeaders, prepareHeaders } from './prepared-headers.ts';
import { type SharedAnswer, sendShared } from './shared-answer.ts';

/** Sends and counts the answers of `answers/`. */

type Headers = Pick<FastifyRequest, 'headers'>;

/**
 * Counts and sends an answer that pages of any origin may read, or 304 when the client already has the body.
 *
 * @param route `varyHeaders`: the headers on which the answer depends, in lower case; `ignoresPersonal`: see
 *   `answer-memory.ts`
 */
export function sendAnswered(
  usage: UsageCounter,
  request: Headers,
  reply: FastifyReply,
  { answer, counted, isCurrent }: Answered,
  route: { readonly varyHeaders: readonly string[]; readonly ignoresPersonal?: boolean },
): void {
  count(usage, counted);
  const shared = shareOpen(answer);
  sendShared(request, reply, shared);
  if (isCurrent === undefined) return;
  const { varyHeaders, ignoresPersonal = false } = route;
  const countAgain = () => count(usage, counted);
  reply.remember(shared, { isCurrent, count: countAgain, varyHeaders, ignoresPersonal });
}

function shareOpen(answer: Answer): SharedAnswer {
  const { status, headers, isShared = true } = answer;
  const { etag } = headers;
  const revalidation = etag === undefined ? undefined : { etag, headers: unchanged(headers) };
  return { status, headers: open(headers), body: bodyOf(answer), revalidation, isShared };
}

/**
 * Sends an answer of an open path that no cache stores. The answer has the headers of CORS only when the request has an
 * Origin, because browsers send an Origin and other clients ignore these headers.
 */
export function sendUncached({ headers }: Headers, reply: FastifyReply, answer: Answer): void {
  const prepare = headers.origin === undefined ? forPrograms : forPages;
  reply.sendPrepared(answer.status, prepare(answer.headers), bodyOf(answer), answer.own);
}

export function count(usage: UsageCounter, counted: Counted): void {
  if (counted?.kind === 'check') usage.countCheck(counted.check);
  else if (counted !== undefined) usage.countLink(counted.link);
}

const open = once((headers) => prepareHeaders({ ...OPEN_HEADERS, ...headers }));
const unchanged = once(({ 'content-type': _type, ...lasting }) =>
  prepareHeaders({ ...OPEN_HEADERS, ...lasting }),
);
const forPrograms = once(prepareHeaders);
const forPages = once((headers) => prepareHeaders({ ...headers, ...OPEN_HEADERS }));

/** Prepares the headers of each record only once, even when many answers have them. */
function once(
  prepare: (headers: HeaderRecord) => PreparedHeaders,
): (headers: HeaderRecord) => PreparedHeaders {
  const known = new WeakMap<HeaderRecord, PreparedHeaders>();
  return (headers) => {
    const found = known.get(headers);
    if (found !== undefined) return found;
    const prepared = prepare(headers);
    known.set(headers, prepared);
    return prepared;
  };
}

function bodyOf({ body }: Answer): string | Buffer | null {
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
