import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { Connection, type CutReason, HIGH_WATER_MARK_BYTES } from './connection.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { createSlowReaders, READING_RULES, type ReadingRules } from './slow-reader.ts';

/** All connections of the service: how many, what they hold, and how long. */

/** What the process can afford. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** For bodies that are incomplete and answers that were not read. */
  readonly heldBytesMax: number;
  /** Why there may be no more connections, for the operator. */
  readonly because: string;
  /** Others in tests. */
  readonly reading?: ReadingRules;
}

export interface ConnectionCounts {
  readonly open: number;
  readonly max: number;
  readonly heldBytes: number;
  /** Closed at once, or answered 503, because there were too many. */
  readonly refused: number;
  readonly cut: Readonly<Record<CutReason, number>>;
}

export interface Connections {
  /** A server whose connections are these. */
  createServer(
    handler: (request: IncomingMessage, response: ServerResponse) => void,
    options: ServerOptions,
  ): Server;
  /** Undefined for a request that came over none, in tests. */
  of(socket: Socket): Connection | undefined;
  counts(): ConnectionCounts;
}

/** Names and values of a few bytes each cost ten times as much memory as they send. */
export const HEADERS_MAX = 128;

/** From this share of the most on, idle connections are closed until the next share is left. */
const CROWDED_SHARE = 0.9;
const ROOMY_SHARE = 0.8;
/** From this share on, requests of new connections are answered 503. */
const SURPLUS_SHARE = 0.95;
const FIRST_REQUEST_MS = 1_000;
const NOTICED_EVERY_MS = 60_000;
/** Not to look through all connections for each new one when none of them is idle. */
const FRUITLESS_AGAIN_MS = 1_000;

export function createConnections(deps: {
  readonly limits: ConnectionLimits;
  readonly bodyBytesMax: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}): Connections {
  const { limits, clock, log, bodyBytesMax } = deps;
  const { connectionsMax, reading = READING_RULES } = limits;
  const budget = createMemoryBudget({ bytesMax: limits.heldBytesMax });
  const connections = new Map<Socket, Connection>();
  const cut: Record<CutReason, number> = { memory: 0, slow_reader: 0, idle: 0, crowded: 0 };
  let refused = 0;
  let noticedAt = Number.NEGATIVE_INFINITY;
  let fruitlessAt = Number.NEGATIVE_INFINITY;

  const notice = (): void => {
    if (clock.now() - noticedAt < NOTICED_EVERY_MS) return;
    noticedAt = clock.now();
    log.warn(
      { connections: connections.size, connections_max: connectionsMax, refused },
      `too many connections: idle ones are closed, and new ones refused. ${limits.because}`,
    );
  };

  const refuse = (): void => {
    refused += 1;
    notice();
  };

  /** A request may be on its way to a connection that was just opened. */
  const isOnItsWay = ({ answeredCount, openedAt }: Connection): boolean =>
    answeredCount === 0 && Math.abs(clock.now() - openedAt) < FIRST_REQUEST_MS;

  /** Closes idle connections, the oldest first: who holds many open must not keep others out. */
  const makeRoom = (): void => {
    if (Math.abs(clock.now() - fruitlessAt) < FRUITLESS_AGAIN_MS) return;
    notice();
    let excess = connections.size - connectionsMax * ROOMY_SHARE;
    for (const connection of connections.values()) {
      if (excess <= 0) return;
      if (connection.current !== undefined || isOnItsWay(connection)) continue;
      connection.cut('crowded');
      connections.delete(connection.socket);
      excess -= 1;
    }
    fruitlessAt = clock.now();
  };

  return {
    createServer: (handler, options) => {
      const server = createServer(
        { ...options, highWaterMark: HIGH_WATER_MARK_BYTES },
        (request, response) => connections.get(request.socket)?.take(request, response),
      );
      // Node leaves the others out, and `buildBase` refuses the request.
      server.maxHeadersCount = HEADERS_MAX;
      // Node documents it nowhere: without it, the end of what a client sends ends what it is answered.
      Object.assign(server, { httpAllowHalfOpen: true });
      const deps = {
        budget,
        handler,
        bodyBytesMax,
        onCut: (reason: CutReason) => (cut[reason] += 1),
      };
      // Not by `maxConnections`, which closes new ones before idle ones can make room for them.
      server.on('connection', (socket: Socket) => {
        if (connections.size >= connectionsMax * CROWDED_SHARE) makeRoom();
        const isSurplus = connections.size >= connectionsMax * SURPLUS_SHARE;
        if (isSurplus) refuse();
        if (connections.size >= connectionsMax) {
          socket.destroy();
          return;
        }
        const facts = { isSurplus, openedAt: clock.now() };
        const connection = new Connection(socket, facts, deps);
        connections.set(socket, connection);
        cutWithinRead(connection);
        socket.once('close', () => connections.delete(socket));
      });
      const readers = createSlowReaders(reading);
      const timer = setInterval(() => {
        readers.check(connections.values()).catch((error: unknown) => {
          log.error({ err: error }, 'slow connections could not be looked for');
        });
      }, reading.checkedEveryMs);
      timer.unref();
      server.on('close', () => clearInterval(timer));
      return server;
    },
    of: (socket) => connections.get(socket),
    counts: () => ({
      open: connections.size,
      max: connectionsMax,
      heldBytes: budget.heldBytes(),
      refused,
      cut: { ...cut },
    }),
  };
}

/** What makes Node's parser take the rest for another protocol, and leave it alone. */
const NO_MORE_REQUESTS = 2;

/**
 * Stops Node's parser at a request that is not admitted. Node says this nowhere, and nothing that it documents
 * does it: one read of 64 KiB holds thousands of requests, and all of them become objects of kilobytes before
 * the socket can be paused, or notices that it was destroyed. Without that parser they are only cut later.
 */
function cutWithinRead(connection: Connection): void {
  type OnIncoming = (this: unknown, request: IncomingMessage, keepAlive: boolean) => unknown;
  const { parser } = connection.socket as { parser?: { onIncoming?: OnIncoming | null } | null };
  const onIncoming = parser?.onIncoming;
  if (parser == null || typeof onIncoming !== 'function') return;
  parser.onIncoming = function (request, keepAlive) {
    if (connection.admits(request)) return onIncoming.call(this, request, keepAlive);
    connection.cut('memory');
    return NO_MORE_REQUESTS;
  };
}
