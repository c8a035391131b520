import { sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { APPLICATIONS_ROOT } from '../../catalog/documents/keys.ts';
import { pathOf } from '../../store/filesystem/names.ts';
import type { ServiceSettings } from '../settings.ts';

/**
 * Lets the proxy send a file of a directory store: the service answers with the place of the file, and the proxy
 * replaces the empty body with the file.
 */

/** The address that `deploy/nginx/slipway/offload.conf` closes to clients. */
const INTERNAL_ADDRESS = '/slipway-files';

/**
 * The proxy would compare these headers with an ETag of its own, which the service never sends. So the service answers
 * conditional requests itself.
 */
const CONDITIONS = [
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
] as const;

/** A single range that every proxy understands as the service does. */
const PLAIN_RANGE = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/;

/**
 * @param status the status of the service's own answer: 206 when the service answers with a range
 * @param key the key of a stored file, which is not empty
 * @returns a function that changes an answer with a file into an empty one, which names the file; undefined when the
 *   service must send the bytes itself
 */
export type Offload = (
  request: Pick<FastifyRequest, 'method' | 'headers' | 'ips'>,
  status: number,
  key: string,
) => ((reply: FastifyReply) => void) | undefined;

/** @param objects the directory of the store, as the proxy sees it */
export function createOffload(
  header: ServiceSettings['filesOffload'],
  objects: string,
): Offload | undefined {
  if (header === 'off') return undefined;
  const root = header === 'x-sendfile' ? objects : INTERNAL_ADDRESS;
  return ({ method, headers, ips = [] }, status, key) => {
    const { range } = headers;
    // Without X-Forwarded-For from a trusted proxy, the client may have no proxy, and would get an empty file.
    if (method !== 'GET' || ips.length < 2) return undefined;
    if (CONDITIONS.some((name) => headers[name] !== undefined)) return undefined;
    if (status !== (range === undefined ? 200 : 206)) return undefined;
    if (range !== undefined && !PLAIN_RANGE.test(range)) return undefined;
    // The configurations in deploy/ give the proxy no other files of the store.
    if (!key.startsWith(APPLICATIONS_ROOT)) return undefined;
    const place = pathOf(root, key).split(sep).map(encodeURIComponent).join('/');
    // nginx decodes the header, and some other proxies do not. So they get only paths that need no escapes.
    if (header === 'x-sendfile' && place.includes('%')) return undefined;
    return (reply) => {
      reply.removeHeader('content-range').header('content-length', 0).header(header, place);
      // Apache replaces the body of a 200 only, and answers 206 itself.
      if (header === 'x-sendfile') reply.code(200);
      // nginx adds this header to a whole file, and not to a range.
      else if (range === undefined) reply.removeHeader('accept-ranges');
    };
  };
}
