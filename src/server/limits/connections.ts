import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { Connection, type CutReason, HIGH_WATER_MARK_BYTES } from './connection.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { nodeInternals } from './node-internals.ts';
import { createSlowReaders, READING_RULES, type ReadingRules } from './slow-reader.ts';
import { inCutOrder, SENDING_MEASURED_EVERY_MS } from './slow-sender.ts';

/** All connections of a server: their number, the memory that they hold, and how long they may stay open. */

/** The limits that the process can afford; see `connectionLimits`. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** The limit of the memory for incomplete bodies and unread answers. */
  readonly heldBytesMax: number;
  /** Tells the operator the reason for the limit, and how to raise it. */
  readonly because: string;
  /** Tests set other rules. */
  readonly reading?: ReadingRules;
}

interface ConnectionCounts {
  readonly open: number;
  readonly max: number;
  readonly heldBytes: number;
  /** The number of connections that the service closed at once, or whose requests it answers with 503. */
  readonly refused: number;
  readonly cut: Readonly<Record<CutReason, number>>;
}

export interface Connections {
  /** Creates a server, which does not listen yet. The server adds its connections to this set. */
  createServer(
    handler: (request: IncomingMessage, response: ServerResponse) => void,
    options: ServerOptions,
  ): Server;
  /** Undefined for the simulated requests of tests. */
  of(socket: Socket): Connection | undefined;
  counts(): ConnectionCounts;
}

/** The number is limited, because a header of a few bytes takes ten times its size in memory. */
export const HEADERS_MAX = 128;

/** When this share of `connectionsMax` is open, the process closes idle connections until `ROOMY_SHARE` is open. */
const CROWDED_SHARE = 0.9;
const ROOMY_SHARE = 0.8;
/** In bytes per second. A client that sends less is idle. */
const IDLE_RATE = 1;
/**
 * From this share on, the process cuts connections with unfinished requests or unread answers: several at a time,
 * because it takes time to find the slowest. When there are too few such connections, requests of new connections get
 * 503. The last places are then for the probes of an orchestrator, which the process still answers.
 */
const SURPLUS_SHARE = 0.95;
const CUT_SHARE = 0.01;
const WARNED_EVERY_MS = 60_000;

interface ConnectionsDeps {
  readonly limits: ConnectionLimits;
  readonly bodyBytesMax: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { limits, log, bodyBytesMax } = deps;
  const budget = createMemoryBudget({ bytesMax: limits.heldBytesMax });
  const connections = new Map<Socket, Connection>();
  const admission = createAdmission(deps, connections);
  const cut: Record<CutReason, number> = { memory: 0, slow_reader: 0, idle: 0, crowded: 0 };
  const onCut = (reason: CutReason) => (cut[reason] += 1);
  return {
    createServer: (handler, options) => {
      const server = createServer(
        { ...options, highWaterMark: HIGH_WATER_MARK_BYTES },
        (request, response) => connections.get(request.socket)?.take(request, response),
      );
      const shared = { budget, handler, bodyBytesMax, onCut };
      // Node drops the headers above the limit; `refusalOf` then refuses the request.
      server.maxHeadersCount = HEADERS_MAX;
      nodeInternals.answerHalfOpen(server);
      // Node's `maxConnections` would close a new connection before the process can close an idle connection for it.
      server.on('connection', (socket: Socket) => {
        const verdict = admission.decide();
        if (verdict === 'closed') {
          socket.destroy();
          return;
        }
        const facts = { isSurplus: verdict === 'refused' };
        const connection = new Connection(socket, facts, shared);
        connections.set(socket, connection);
        nodeInternals.stopWithinRead(
          socket,
          (request) => connection.admits(request),
          () => connection.cut('memory'),
        );
        socket.once('close', () => connections.delete(socket));
      });
      const { reading = READING_RULES } = limits;
      const readers = createSlowReaders(reading);
      const timer = setInterval(() => {
        readers.check(connections.values()).catch((error: unknown) => {
          log.error({ err: error }, 'the check for slow connections failed');
        });
      }, reading.checkedEveryMs);
      timer.unref();
      const measured = setInterval(() => {
        for (const connection of connections.values()) connection.measureSending();
        admission.lookAgain();
      }, SENDING_MEASURED_EVERY_MS);
      measured.unref();
      server.on('close', () => {
        clearInterval(timer);
        clearInterval(measured);
      });
      return server;
    },
    of: (socket) => connections.get(socket),
    counts: () => ({
      open: connections.size,
      max: limits.connectionsMax,
      heldBytes: budget.heldBytes(),
      refused: admission.refusedCount(),
      cut: { ...cut },
    }),
  };
}

const isIdle = ({ isAwaited, sendingRate }: Connection): boolean =>
  isAwaited && sendingRate !== undefined && sendingRate < IDLE_RATE;

interface Admission {
  /**
   * Decides about a new connection: `served`; `refused`, which means that its requests get 503; or `closed` at once.
   * When there are many connections, it first closes idle connections, and connections of the slowest clients.
   */
  decide(): 'served' | 'refused' | 'closed';
  /** The caller calls this function after each measurement of the rates of the clients. */
  lookAgain(): void;
  refusedCount(): number;
}

function createAdmission(
  { limits, clock, log }: ConnectionsDeps,
  connections: Map<Socket, Connection>,
): Admission {
  const { connectionsMax, because } = limits;
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  /**
   * True when too few open connections are idle: then the process does not search for idle connections again at each
   * new connection.
   */
  let isFruitless = false;

  const warn = (): void => {
    if (clock.now() - warnedAt < WARNED_EVERY_MS) return;
    warnedAt = clock.now();
    log.warn(
      { connections: connections.size, connections_max: connectionsMax, refused },
      `too many connections: the server closes idle and unfinished ones, and refuses new ones. ${because}`,
    );
  };

  const isAtLeast = (share: number): boolean => connections.size >= connectionsMax * share;

  /** Cuts connections in the given order, until fewer than this share are open. */
  const cutBelow = (share: number, candidates: readonly Connection[]): void => {
    for (const connection of candidates) {
      if (!isAtLeast(share)) return;
      connection.cut('crowded');
      connections.delete(connection.socket);
    }
  };

  const closeIdle = (): void => {
    if (isFruitless) return;
    warn();
    const idle = inCutOrder(connections.values()).filter(isIdle);
    cutBelow(ROOMY_SHARE, idle);
    isFruitless = isAtLeast(ROOMY_SHARE);
  };

  const makeRoom = (): void => {
    const candidates = inCutOrder(connections.values());
    const busy = connections.size - candidates.length;
    // When busy connections alone reach this share, no cut can go below it. Each new connection would only cut the
    // connections just before it, whose requests are on their way.
    const isInVain = busy >= connectionsMax * SURPLUS_SHARE;
    cutBelow((isInVain ? 1 : SURPLUS_SHARE) - CUT_SHARE, candidates);
  };

  return {
    decide: () => {
      if (isAtLeast(CROWDED_SHARE)) closeIdle();
      if (isAtLeast(SURPLUS_SHARE)) makeRoom();
      if (!isAtLeast(SURPLUS_SHARE)) return 'served';
      refused += 1;
      warn();
      return connections.size < connectionsMax ? 'refused' : 'closed';
    },
    lookAgain: () => {
      isFruitless = false;
    },
    refusedCount: () => refused,
  };
}
