import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerOptions, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyHttpOptions, LogController } from 'fastify';
import { AppError } from '../../errors.ts';
import type { App } from '../deps.ts';
import { PROBLEM_TYPE, problemOf, sendProblem, statusOf } from '../problem.ts';
import type { Connections } from './connections.ts';

/** Limits and conventions that hold for every route. */

export const BODY_BYTES_MAX = 64 * 1024;
/** Versions, names and file names in addresses. */
const PARAMETER_LENGTH_MAX = 1024;
/** A request that takes longer to arrive is an attack or a broken client. */
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUTS_CHECKED_EVERY_MS = 1_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Clients choose addresses; every line of the log costs the operator. */
const LOGGED_LENGTH_MAX = 200;

const HTTP_OPTIONS: ServerOptions = {
  // Without a Host, Node answers by itself, and not in problem documents: `buildBase` does.
  requireHostHeader: false,
  // No longer than for the whole request: Node takes each for the other then.
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
};

export function serverOptions(settings: {
  readonly logger: FastifyBaseLogger;
  readonly trustProxy: boolean | string;
  /** Aborted once the process begins to stop: see `closeAfterLastAnswer`. */
  readonly draining?: AbortSignal;
  /** Of PUBLIC_URL, without a slash at its end; default none. */
  readonly basePath?: string;
  /** Undefined where nothing listens. */
  readonly connections?: Connections;
}): FastifyHttpOptions<Server> {
  const { connections, basePath = '' } = settings;
  return {
    loggerInstance: settings.logger,
    trustProxy: settings.trustProxy,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    ...(connections === undefined
      ? {}
      : { serverFactory: (handler) => connections.createServer(handler, HTTP_OPTIONS) }),
    ...(basePath === '' ? {} : { rewriteUrl: ({ url }) => withoutBase(url ?? '/', basePath) }),
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: 'idle',
    // What still arrives on an open connection is answered; Fastify's 503 is no problem document.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    genReqId,
    frameworkErrors: (error, request, reply) =>
      // No hook runs for these.
      sendProblem(error, request, reply.header('x-request-id', request.id) as never),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, connections),
  };
}

/** A proxy may have stripped the path of PUBLIC_URL, or not: no route begins with it (see `config.ts`). */
function withoutBase(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url;
}

/** A proxy's id is kept, so that one id leads through every log; anything odd is replaced. */
function genReqId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
}

/** What is not even HTTP gets a problem document too, and the connection is closed. */
function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections | undefined,
): void {
  const connection = connections?.of(socket);
  const end = (): void => {
    // What is written now would be taken for a part of the answer that is being sent.
    if (!socket.writable || connection?.current?.headersSent === true) socket.destroy();
    else socket.end(renderBrokenRequest(error));
  };
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (connection === undefined) end();
  else connection.endAfterAnswers(end);
}

function renderBrokenRequest(error: NodeJS.ErrnoException): string {
  const problem =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new AppError('request_timeout', 'The request took too long to arrive.')
      : new AppError('invalid_request', 'This is not a request that HTTP allows.');
  const body = JSON.stringify(problemOf(problem, randomUUID()));
  return `HTTP/1.1 ${statusOf(problem)} ${STATUS_CODES[statusOf(problem)]}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/** One line a request. */
export function logRequests(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, ip } = request;
    request.log.info(
      {
        method,
        // Without its query: clients put there what they should not, and signed links have their key in it.
        url: url.split('?')[0]?.slice(0, LOGGED_LENGTH_MAX),
        remote_address: ip,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request',
    );
    done();
  });
}
