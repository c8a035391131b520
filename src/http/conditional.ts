import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { App } from './deps.ts';

/** For answers that are the same for every client. Caches may serve them for some minutes during an outage. */
const PUBLIC_CACHE = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=600';

/** For answers that depend on the account: a shared cache would serve them to other clients. */
export const PRIVATE_CACHE = 'private, no-store';

/** A strong entity tag of a body (RFC 9110, section 8.8.3). */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** A rendered document. Answers that are sent at the same time share its bytes. */
export interface Rendered {
  readonly body: Buffer;
  readonly etag: string;
}

export function rendered(content: string | Uint8Array): Rendered {
  const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
  return { body, etag: etagOf(body) };
}

/** Whether an If-None-Match header contains the tag (RFC 9110, section 13.1.2: weak comparison). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/**
 * Sends a body, or 304 when the client already has it.
 *
 * @param isRestricted whether other accounts may get another answer: if so, no cache may store it
 */
export function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  contentType: string,
  { body, etag }: Rendered,
  isRestricted: boolean,
): FastifyReply {
  reply.header('cache-control', isRestricted ? PRIVATE_CACHE : PUBLIC_CACHE).header('etag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(contentType).send(body);
}

/** For a route's `onSend`: adds an entity tag, and sends 304 when the client already has the body. */
export const revalidate: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  if (reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
  const etag = etagOf(payload);
  reply.header('etag', etag);
  if (!matchesEtag(request.headers['if-none-match'], etag)) return done(null, payload);
  reply.code(304).removeHeader('content-type');
  done(null, null);
};

/** For all routes of a scope whose answers depend on the session. */
export function forbidCaching(scope: App): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
}
