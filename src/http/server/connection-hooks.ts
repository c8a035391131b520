import { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { App } from '../deps.ts';
import { type Connections, HEADERS_MAX } from './connections.ts';
import { overloaded } from './load.ts';

/** What routes have to do with the connection that a request came over. */

/** Refuses requests that the process has no room for, and what Node lets through. */
export function refuseRequests(app: App, connections: Connections | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { httpVersion, headers, rawHeaders, socket } = request.raw;
    if (connections?.of(socket)?.isRefused === true) {
      reply.header('connection', 'close');
      return done(overloaded());
    }
    if (rawHeaders.length >= 2 * HEADERS_MAX) {
      const detail = `A request may have less than ${HEADERS_MAX} headers.`;
      return done(new AppError('invalid_request', detail));
    }
    const lacksHost = httpVersion === '1.1' && headers.host === undefined;
    done(lacksHost ? new AppError('invalid_request', 'HTTP/1.1 needs a Host header.') : undefined);
  });
}

const OF_THE_ANSWER = ['etag', 'content-length', 'content-range', 'content-disposition'];

/** Counts what is sent until the client has read it: see `connection.ts`. */
export function holdAnswers(app: App, connections: Connections | undefined): void {
  if (connections === undefined) return;
  app.addHook('onSend', (request, reply, payload, done) => {
    const connection = connections.of(request.raw.socket);
    if (connection === undefined || connection.holdAnswer(payload)) return done(null, payload);
    if (payload instanceof Readable) payload.destroy();
    for (const name of OF_THE_ANSWER) reply.removeHeader(name);
    done(overloaded());
  });
}

/**
 * Once the process begins to stop, every answer asks its client to close the connection: a client that keeps
 * connections alive must not send a request on one that is about to be cut. And once the server closes, a
 * connection is closed after its last answer: it would be kept alive for longer than the process has.
 */
export function closeAfterLastAnswer(app: App, draining: AbortSignal | undefined): void {
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining?.aborted === true) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    if (stopping) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}
