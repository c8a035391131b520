import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Rendered } from './rendered-once.ts';

/** For answers that are the same for everybody: short-lived, and good for a while when we are down. */
export const PUBLIC_CACHE = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=600';

/** For answers that depend on who asks: a cache that kept one would give it to somebody else. */
export const PRIVATE_CACHE = 'private, no-store';

/** A strong entity tag of a body. */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** Whether an If-None-Match header names the tag (RFC 9110, section 13.1.2: compared weakly). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/**
 * Sends a body, or 304 when the client has it.
 *
 * @param isRestricted whether somebody else may get another answer; anybody's may be kept by caches
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
