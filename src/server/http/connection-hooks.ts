import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../core/errors.ts';
import { type Connections, HEADERS_MAX } from '../limits/connections.ts';
import { overloaded } from '../limits/load.ts';

/** Hooks for every route. They deal with the connection of the request. */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when the route answers even if there are too many connections, or no memory is left for clients. */
    readonly answersAlways?: boolean;
  }
}

const answersAlways = ({ routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.answersAlways === true;

/**
 * The error for a request whose address does not begin with a slash; otherwise undefined. The router would take the
 * path out of an absolute address such as `GET http://any/livez HTTP/1.1`, which clients send to a forward proxy (RFC
 * 9112, section 3.2). An attacker could use such an address to pass a guard in front of this service that knows only
 * the usual form.
 */
function refuseAddress(address: string | undefined): AppError | undefined {
  if (address?.startsWith('/') === true) return undefined;
  const detail = 'The address in the first line of a request must begin with a slash.';
  return new AppError('invalid_request', detail);
}

/**
 * Returns an error when no memory is left for the request, or when the request is invalid although Node accepts it;
 * otherwise undefined.
 */
export function refusalOf(
  request: FastifyRequest,
  reply: FastifyReply,
  connections: Connections | undefined,
): AppError | undefined {
  const { httpVersion, rawHeaders, socket, url } = request.raw;
  if (connections?.of(socket)?.isRefused === true && !answersAlways(request)) {
    reply.header('connection', 'close');
    return overloaded();
  }
  const refusal = refuseAddress(url);
  if (refusal !== undefined) return refusal;
  if (hasTooManyHeaders(rawHeaders)) {
    const detail = `A request may have at most ${HEADERS_MAX - 1} headers.`;
    return new AppError('invalid_request', detail);
  }
  // RFC 9112, section 3.2, requires one Host header. Of several, Node takes the first, and a proxy may take another.
  const hosts = countHosts(rawHeaders);
  const isRefused = hosts > 1 || (hosts === 0 && httpVersion === '1.1');
  const detail = 'HTTP/1.1 needs one Host header.';
  return isRefused ? new AppError('invalid_request', detail) : undefined;
}

/** @param rawHeaders names and values in turn */
export function hasTooManyHeaders(rawHeaders: readonly string[]): boolean {
  return rawHeaders.length >= 2 * HEADERS_MAX;
}

/** @param rawHeaders names and values in turn */
export function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/** Headers that describe the body. The service removes them when it sends an error in place of the body. */
const BODY_HEADERS = ['etag', 'content-length', 'content-range', 'content-disposition'];

/** Counts the memory of an answer until the client has read it: see `connection.ts`. */
export function holdAnswers(app: FastifyInstance, connections: Connections | undefined): void {
  if (connections === undefined) return;
  app.addHook('onSend', (request, reply, payload, done) => {
    const connection = connections.of(request.raw.socket);
    if (connection === undefined || connection.holdAnswer(payload)) return done(null, payload);
    if (payload instanceof Readable) payload.destroy();
    for (const name of BODY_HEADERS) reply.removeHeader(name);
    if (answersAlways(request)) done(null, '{}');
    else done(overloaded());
  });
}

/**
 * Once `draining` aborts, every answer asks its client to close the connection. Otherwise a client could send its
 * next request on a connection that is about to be cut. Once the server closes, it also closes each connection after
 * its last answer: keep-alive would outlast the time that the process has left.
 *
 * @returns a function that the caller calls after each answer
 */
export function closeAfterLastAnswer(
  app: FastifyInstance,
  draining: AbortSignal | undefined,
): () => void {
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining?.aborted === true) reply.header('connection', 'close');
    done();
  });
  return () => {
    if (stopping) setImmediate(() => app.server.closeIdleConnections());
  };
}

/** Ignores an unknown Expect header, as RFC 9110, section 10.1.1, allows. Node would answer 417. */
export function acceptExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
