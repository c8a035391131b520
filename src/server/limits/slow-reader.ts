import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import type { Connection } from './connection.ts';
import { nodeInternals } from './node-internals.ts';

/**
 * Cuts clients that read an answer too slowly, and connections that are idle for too long.
 *
 * Socket timeouts cannot do this: any byte in either direction restarts them.
 */

export interface ReadingRules {
  /** The average rate that a client must reach. A bad mobile connection reaches twice this rate. */
  readonly bytesPerSecondMin: number;
  /**
   * The time for which a client may read nothing when it has kept the rate so far. It is long because kernels report
   * progress in steps.
   */
  readonly pauseMaxMs: number;
  /**
   * Like `pauseMaxMs`, for systems that do not report how many bytes have arrived: there, buffers of megabytes hide the
   * client's progress.
   */
  readonly unseenPauseMaxMs: number;
  /** When other clients need memory, the process cuts a client that has been below the rate for this time. */
  readonly stalledAfterMs: number;
  readonly idleMaxMs: number;
  readonly checkedEveryMs: number;
}

export const READING_RULES: ReadingRules = {
  bytesPerSecondMin: 1_000,
  pauseMaxMs: 240_000,
  unseenPauseMaxMs: 900_000,
  // This time is longer than Node's keep-alive timeout. It ends connections that clients keep open with blank lines.
  idleMaxMs: 75_000,
  stalledAfterMs: 10_000,
  checkedEveryMs: 5_000,
};

/** The state of a connection at the last check. */
interface Seen {
  readonly answeredCount: number;
  readonly takenBytes: number;
  /** The time for which the client may still read nothing. */
  readonly creditMs: number;
  /** The time for which the client has been below the rate. */
  readonly stalledMs: number;
}

interface SlowReaders {
  /** Cuts connections that are too slow or idle for too long. Never rejects. */
  check(connections: Iterable<Connection>): Promise<void>;
}

export function createSlowReaders(
  rules: ReadingRules,
  readUnacknowledged: () => Promise<Unacknowledged | undefined> = readKernel,
): SlowReaders {
  const seen = new WeakMap<Connection, Seen>();
  const { checkedEveryMs } = rules;

  const checkOne = (connection: Connection, kernel: Unacknowledged | undefined): void => {
    const { answeredCount, socket, current } = connection;
    if (socket.destroyed) return;
    const before = seen.get(connection);
    const handedOver = nodeInternals.bytesHandedOver(socket);
    const takenBytes = takenBytesOf(connection, handedOver, kernel);
    const isSeen = handedOver !== undefined && kernel !== undefined;
    const isWaitedFor = current !== undefined && socket.writableLength > 0;
    const pauseMaxMs = isSeen ? rules.pauseMaxMs : rules.unseenPauseMaxMs;
    const fullMs = isWaitedFor ? pauseMaxMs : rules.idleMaxMs;
    const isSame = before !== undefined && before.answeredCount === answeredCount;
    // A client is not too slow while the server has written nothing.
    const isExempt = current !== undefined && !isWaitedFor;
    const earnedMs =
      isSame && isWaitedFor
        ? (1000 * Math.max(0, takenBytes - before.takenBytes)) / rules.bytesPerSecondMin
        : 0;
    const creditMs =
      isSame && !isExempt ? Math.min(fullMs, before.creditMs + earnedMs) - checkedEveryMs : fullMs;
    const isTooLittle = isSame && isWaitedFor && earnedMs < checkedEveryMs;
    const stalledMs = isTooLittle ? before.stalledMs + checkedEveryMs : 0;
    seen.set(connection, { answeredCount, takenBytes, creditMs, stalledMs });
    // Without the kernel's numbers, a client seems to read whole megabytes at once.
    const stalledAfterMs = isSeen ? rules.stalledAfterMs : rules.pauseMaxMs;
    connection.stalledMs = stalledMs;
    connection.isStalled = stalledMs >= stalledAfterMs;
    if (creditMs < 0) connection.cut(isWaitedFor ? 'slow_reader' : 'idle');
  };

  return {
    check: async (connections) => {
      const all = [...connections];
      const isAnyWaitedFor = all.some(({ socket }) => socket.writableLength > 0);
      // Without the kernel's numbers, clients have more time.
      const kernel = isAnyWaitedFor ? await readUnacknowledged().catch(() => undefined) : undefined;
      for (const connection of all) checkOne(connection, kernel);
    },
  };
}

/** The number of the written bytes that the client's machine has acknowledged, as far as it is known. */
function takenBytesOf(
  { socket }: Connection,
  handedOver: number | undefined,
  kernel: Unacknowledged | undefined,
): number {
  // The chunk that is being written does not count: Node does not say how much of it is left.
  if (handedOver === undefined) return socket.bytesWritten - socket.writableLength;
  const { localPort = 0, remoteAddress, remotePort = 0 } = socket;
  // A connection that the client reset has no address.
  if (remoteAddress === undefined) return handedOver;
  return handedOver - (kernel?.get(connectionKey(localPort, remoteAddress, remotePort)) ?? 0);
}

/** Bytes in the kernel's send buffer that are not acknowledged yet, by connection. */
export type Unacknowledged = ReadonlyMap<string, number>;

const connectionKey = (localPort: number, address: string, port: number): string =>
  `${localPort} ${ipaddr.process(address).toString()} ${port}`;

/** Reads Linux's tables of connections; undefined on other systems, which do not have them. */
async function readKernel(): Promise<Unacknowledged | undefined> {
  if (process.platform !== 'linux') return undefined;
  const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((file) =>
    readFile(file, 'latin1').catch(() => ''),
  );
  return parseConnections((await Promise.all(tables)).join('\n'));
}

/** @param text lines of `/proc/net/tcp` and `/proc/net/tcp6` (proc_net_tcp(5)) */
export function parseConnections(text: string): Unacknowledged {
  const row = /^\s*\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;
  const unacknowledged = new Map<string, number>();
  for (const [, localPort = '', remote = '', port = '', queued = ''] of text.matchAll(row)) {
    const bytes = Number.parseInt(queued, 16);
    if (bytes === 0) continue;
    const key = connectionKey(parseInt(localPort, 16), addressOf(remote), parseInt(port, 16));
    unacknowledged.set(key, bytes);
  }
  return unacknowledged;
}

/** The address is in groups of four bytes, each in little-endian order. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((group) =>
    [...Buffer.from(group, 'hex')].reverse(),
  );
  return ipaddr.fromByteArray(bytes).toString();
}
