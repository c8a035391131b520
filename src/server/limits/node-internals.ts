import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The only undocumented parts of Node that the service uses, and what the service does without them.
 *
 * The service uses them only in the versions of Node that the tests run with. In a newer version, or where Node lacks a
 * part, the service uses documented parts alone:
 *
 * - Node checks and joins the headers of each answer again, which takes as long as the rest of a small answer. The Date
 *   header has this machine's time.
 * - A client that ends its side of the connection before the answer gets no answer.
 * - Node makes objects of all requests that one read contains, before the service can cut the connection.
 * - A client that reads slowly or not at all has more time, because the service cannot see its progress.
 */
export interface NodeInternals {
  /**
   * Writes the status line and the headers of an ordinary response. Such a response uses HTTP/1.1 on a connection that
   * stays open, and has no other headers.
   *
   * @param headers lines of `name: value` and CR LF, without Connection
   * @returns false when nothing was written: the caller calls `writeHead`
   */
  writeHeadText(response: ServerResponse, status: number, headers: string): boolean;
  /** Makes a server answer clients that have ended their side of the connection. */
  answerHalfOpen(server: Server): void;
  /**
   * Stops the parser of a connection at the first request that `admits` refuses, and calls `refuse`. One read of 64 KiB
   * can contain thousands of pipelined requests, and for each of them Node makes objects of kilobytes before the
   * service can pause or destroy the socket.
   */
  stopWithinRead(
    socket: Socket,
    admits: (request: IncomingMessage) => boolean,
    refuse: () => void,
  ): void;
  /** The number of bytes that Node has handed to the kernel; undefined when it cannot be known. */
  bytesHandedOver(socket: Socket): number | undefined;
}

/** The newest version of Node that the tests run with. */
const MAJOR_KNOWN = 26;

/** @param version as `process.versions.node` has it */
export function internalsOf(version: string): NodeInternals {
  const major = Number.parseInt(version, 10);
  return major <= MAJOR_KNOWN ? UNDOCUMENTED : DOCUMENTED;
}

const DOCUMENTED: NodeInternals = {
  writeHeadText: () => false,
  answerHalfOpen: () => {},
  stopWithinRead: () => {},
  bytesHandedOver: () => undefined,
};

/** The undocumented fields of a response. */
interface ResponseState {
  /** The status line and the headers, once they are known. */
  _header?: string | null;
  _keepAliveTimeout?: number;
  shouldKeepAlive?: boolean;
}

type OnIncoming = (this: unknown, request: IncomingMessage, keepAlive: boolean) => unknown;

interface SocketState {
  readonly parser?: { onIncoming?: OnIncoming | null } | null;
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
}

/** Tells Node's parser that the rest of the bytes belongs to another protocol, so that it ignores them. */
const NO_MORE_REQUESTS = 2;

const UNDOCUMENTED: NodeInternals = {
  writeHeadText: (response, status, headers) => {
    const state = response as ResponseState;
    if (!isOrdinary(response, state)) return false;
    const seconds = Math.floor((state._keepAliveTimeout ?? 0) / 1000);
    const keepAlive = seconds > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : '';
    response.statusCode = status;
    state._header = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}Connection: keep-alive\r\n${keepAlive}\r\n`;
    return true;
  },
  answerHalfOpen: (server) => {
    Object.assign(server, { httpAllowHalfOpen: true });
  },
  stopWithinRead: (socket, admits, refuse) => {
    const { parser } = socket as SocketState;
    const onIncoming = parser?.onIncoming;
    if (parser == null || typeof onIncoming !== 'function') return;
    parser.onIncoming = function (request, keepAlive) {
      if (admits(request)) return onIncoming.call(this, request, keepAlive);
      refuse();
      return NO_MORE_REQUESTS;
    };
  },
  bytesHandedOver: (socket) => {
    const { bytesWritten, writeQueueSize } = (socket as SocketState)._handle ?? {};
    if (bytesWritten === undefined || writeQueueSize === undefined) return undefined;
    return bytesWritten - writeQueueSize;
  },
};

function isOrdinary(
  response: ServerResponse,
  { _header, shouldKeepAlive }: ResponseState,
): boolean {
  return (
    _header === null &&
    shouldKeepAlive === true &&
    response.req.httpVersion === '1.1' &&
    // The simulated response of a test is not ordinary.
    Object.getPrototypeOf(response) === ServerResponse.prototype &&
    response.getHeaderNames().length === 0
  );
}

export const nodeInternals: NodeInternals = internalsOf(process.versions.node);
