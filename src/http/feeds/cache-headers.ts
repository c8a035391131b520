import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Protocol } from '../../protocols/protocol.ts';
import { PRIVATE_CACHE, sendCacheable } from '../conditional.ts';
import type { FeedDocument } from './feed-document.ts';

/** Cache headers and `Vary` of the documents below `/feeds/`. */

interface FeedAnswer {
  readonly protocol: Protocol;
  readonly document: FeedDocument;
  /** Whether another account may get another answer. */
  readonly isRestricted: boolean;
  /** Whether the document contains text of this client only. */
  readonly isPersonal: boolean;
}

/**
 * Sends a dialect's answer.
 *
 * A 200 to GET or HEAD gets a strong ETag, and shared caches may store it unless it is for one account or
 * one client. Every other answer is `no-store`: a stored "no update" would hide the next release.
 */
export function sendFeedDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { protocol, document, isRestricted, isPersonal }: FeedAnswer,
): FastifyReply {
  const isPrivate = isRestricted || isPersonal;
  const vary = varyOf(protocol, isRestricted);
  if (vary !== '') reply.header('vary', vary);
  const { 'content-type': type = 'application/octet-stream', ...headers } = document.headers;
  reply.headers(headers);
  const { status, rendered } = document;
  if (status === 200 && request.method !== 'POST') {
    return sendCacheable(request, reply, type, rendered, isPrivate);
  }
  reply.code(status).header('cache-control', isPrivate ? PRIVATE_CACHE : 'no-store');
  return status === 200 ? reply.type(type).send(rendered.body) : reply.send();
}

/** Only headers that the answer depends on: every other one splits a shared cache for nothing. */
function varyOf({ varyHeaders }: Protocol, isRestricted: boolean): string {
  return [...varyHeaders, ...(isRestricted ? ['Authorization'] : [])].join(', ');
}
