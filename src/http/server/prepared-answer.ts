import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Connections } from './connections.ts';
import { OPEN_HEADERS } from './cors.ts';
import { overloaded } from './load.ts';
import { DATA_SECURITY_HEADERS } from './security-headers.ts';

/** Answers of the routes that clients ask millions of times a day. */

/** The headers of an answer, except those that differ between two requests. */
export type PreparedHeaders = Readonly<Record<string, string>>;

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends an answer with headers from {@link prepareHeaders} and no others, such as those of CORS.
     *
     * It passes Fastify's reply by, which would look at each header several times, and does what the shared hooks do.
     *
     * @param body its bytes; null for an answer without a body
     * @throws AppError `overloaded` when there is no memory left for the answer
     */
    sendPrepared(status: number, headers: PreparedHeaders, body: string | Buffer | null): void;
  }
}

/**
 * The headers of an answer, with the security headers of data.
 *
 * @param own in lower case; for a body, `content-type` is among them; for an open path, the `OPEN_HEADERS` of `cors.ts`
 */
export function prepareHeaders(own: PreparedHeaders): PreparedHeaders {
  return { ...DATA_SECURITY_HEADERS, ...own };
}

/**
 * The headers of an answer of an open path that no cache stores. Only a browser reads those of CORS, and it sends an
 * Origin. A cache would give the answer to one client's request to another client.
 */
export function prepareUncached(
  own: PreparedHeaders,
): (request: Pick<FastifyRequest, 'headers'>) => PreparedHeaders {
  const forPrograms = prepareHeaders({ ...own, 'cache-control': 'no-store' });
  const forPages = { ...forPrograms, ...OPEN_HEADERS };
  return ({ headers }) => (headers.origin === undefined ? forPrograms : forPages);
}

/** @param isDraining see `closeAfterLastAnswer` */
export function acceptPrepared(
  app: FastifyInstance,
  connections: Connections | undefined,
  isDraining: () => boolean,
): void {
  app.decorateReply('sendPrepared', function (this: FastifyReply, status, headers, body) {
    const { request, raw } = this;
    // Rare cases, for which Fastify knows more rules.
    if (request.method === 'HEAD' || isDraining()) {
      this.code(status).headers(headers).send(body);
      return;
    }
    if (body !== null && connections?.of(raw.req.socket)?.holdAnswer(body) === false) {
      throw overloaded();
    }
    this.hijack();
    const id = request.id;
    if (body === null) {
      raw.writeHead(status, { ...headers, 'x-request-id': id }).end();
      return;
    }
    const length = Buffer.byteLength(body);
    raw.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': String(length) });
    // Node writes text of one byte a character faster than UTF-8, and together with the headers.
    raw.end(body, length === body.length ? 'latin1' : 'utf8');
  });
}
