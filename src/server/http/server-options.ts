import { randomUUID } from 'node:crypto';
import { type Server, type ServerOptions, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyHttpOptions, LogController } from 'fastify';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Connections } from '../limits/connections.ts';
import type { Load } from '../limits/load.ts';
import type { AccessLogSettings } from './access-log.ts';
import { BODY_BYTES_MAX } from './body-limits.ts';
import type { AnswerMemory } from './fast/answer-memory.ts';
import { PROBLEM_TYPE, problemOf, sendProblem, statusOf } from './problem.ts';
import { requestIdOf } from './request-id.ts';

/** Limits and conventions of every route. */

/** The limit of versions, names and file names in addresses. */
const PARAMETER_LENGTH_MAX = 1024;
/**
 * The limit for receiving the whole request. A request that takes longer is an attack or comes from a broken client.
 */
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUTS_CHECKED_EVERY_MS = 1_000;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * For a file of gigabytes, electron-updater asks for up to 1,000 ranges at once. Such a header has 23 KB, and Node's
 * default limit is 16 KiB.
 */
const HEADER_BYTES_MAX = 32 * 1024;

const HTTP_OPTIONS: ServerOptions = {
  maxHeaderSize: HEADER_BYTES_MAX,
  // `refusalOf` answers a request without Host: Node's own answer is not a problem document.
  requireHostHeader: false,
  // Must not exceed requestTimeout: Node swaps the two otherwise.
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUTS_CHECKED_EVERY_MS,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
};

export interface ServerSettings {
  readonly logger: FastifyBaseLogger;
  /** Undefined: no request is logged. */
  readonly accessLog?: AccessLogSettings | undefined;
  readonly trustProxy: boolean | string;
  /** The clock for the Date header of prepared answers; undefined: Node's own time. */
  readonly clock?: Pick<Clock, 'now'>;
  /** Aborted when the process begins to stop: see `closeAfterLastAnswer`. */
  readonly draining?: AbortSignal;
  /** The path of PUBLIC_URL, without a trailing slash. Default: none. */
  readonly basePath?: string;
  /** Undefined for a server that does not listen. */
  readonly connections?: Connections;
  /** Default: there is never too much load. */
  readonly load?: Pick<Load, 'isTooMuch'>;
  /** Tests set false, to compare: see `answer-memory.ts`. Default true. */
  readonly remembersAnswers?: boolean;
}

/** @param answersFromMemory see {@link AnswerMemory} */
export function serverOptions(
  settings: ServerSettings,
  answersFromMemory: AnswerMemory['answers'],
): FastifyHttpOptions<Server> {
  const { connections, basePath = '' } = settings;
  return {
    loggerInstance: settings.logger,
    trustProxy: settings.trustProxy,
    logController: new LogController({ disableRequestLogging: true }),
    ...(connections === undefined
      ? {}
      : {
          serverFactory: (handler) =>
            connections.createServer((request, response) => {
              if (!answersFromMemory(request, response)) handler(request, response);
            }, HTTP_OPTIONS),
        }),
    ...(basePath === '' ? {} : { rewriteUrl: ({ url }) => withoutBase(url ?? '/', basePath) }),
    bodyLimit: BODY_BYTES_MAX.any,
    forceCloseConnections: 'idle',
    // A server that closes still answers requests on open connections. Fastify's own 503 is not a problem document.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    genReqId: requestIdOf,
    // A logger for each request costs a tenth of the time of an answer. So the lines of the log name the request
    // themselves.
    childLoggerFactory: (logger) => logger,
    frameworkErrors: (error, request, reply) =>
      // No hook runs for these errors, so this line adds the header.
      sendProblem(error, request, reply.header('x-request-id', request.id)),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, connections),
  };
}

/**
 * Accepts addresses with and without the path of PUBLIC_URL: a proxy may strip this path. No route begins with this
 * path.
 */
function withoutBase(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url;
}

/** Answers input that is not valid HTTP with a problem document, and closes the connection. */
function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections | undefined,
): void {
  const connection = connections?.of(socket);
  const end = (): void => {
    // The client would read a second answer as a part of the answer that the server is sending.
    if (!socket.writable || connection?.current?.headersSent === true) socket.destroy();
    else socket.end(renderBrokenRequest(error));
  };
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (connection === undefined) end();
  else connection.endAfterAnswers(end);
}

function problemOfBroken(code: string | undefined): AppError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request took too long to arrive.');
    case 'HPE_HEADER_OVERFLOW':
      return new AppError(
        'headers_too_long',
        `The address and the headers of a request may have ${HEADER_BYTES_MAX} bytes together. Ask for fewer ranges at a time.`,
      );
    default:
      return new AppError('invalid_request', 'This is not a valid HTTP request.');
  }
}

function renderBrokenRequest(error: NodeJS.ErrnoException): string {
  const problem = problemOfBroken(error.code);
  const body = JSON.stringify(problemOf(problem, randomUUID()));
  return `HTTP/1.1 ${statusOf(problem.code)} ${STATUS_CODES[statusOf(problem.code)]}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
