import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Headers that say how long clients and caches keep an answer, and headers that ask whether the answer has changed. */

/** A strong entity tag of a body (RFC 9110, section 8.8.3). */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** True when an If-None-Match header contains the tag (RFC 9110, section 13.1.2: weak comparison). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The tag and the date that identify a version of a file. */
export interface Validators {
  /** Strong. */
  readonly etag: string;
  readonly lastModified: Date;
}

/** Evaluates the preconditions of a GET or HEAD in the order of RFC 9110, section 13.2.2, without If-Range. */
export function evaluatePreconditions(
  headers: IncomingHttpHeaders,
  { etag, lastModified }: Validators,
): 'send' | 'not_modified' | 'failed' {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  const modifiedAt = wholeSeconds(lastModified);
  if (match !== undefined) {
    if (match.trim() !== '*' && !match.split(',').some((tag) => tag.trim() === etag))
      return 'failed';
  } else if (Date.parse(headers['if-unmodified-since'] ?? '') < modifiedAt) return 'failed';
  if (noneMatch !== undefined) return matchesEtag(noneMatch, etag) ? 'not_modified' : 'send';
  return Date.parse(headers['if-modified-since'] ?? '') >= modifiedAt ? 'not_modified' : 'send';
}

/** True when If-Range names this version of the file: a client must not join parts of two versions. */
export function isCurrent(ifRange: unknown, { etag, lastModified }: Validators): boolean {
  if (ifRange === undefined) return true;
  if (typeof ifRange !== 'string') return false;
  if (ifRange.startsWith('"')) return ifRange === etag;
  return Date.parse(ifRange) === wholeSeconds(lastModified);
}

/** HTTP dates have no milliseconds. */
function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

/**
 * Tells caches not to keep the answers of any route of a scope. It is for routes whose answers depend on the session.
 */
export function forbidCaching(scope: Pick<FastifyInstance, 'addHook'>): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
}
