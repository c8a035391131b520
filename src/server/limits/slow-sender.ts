/**
 * A client that may have an unfinished request, or an answer that it does not read. A process holds a connection and
 * memory for each such client. When it runs out of connections or memory, it cuts the slowest clients first: an
 * attacker that sends a byte a second must not keep other clients out. It cuts a client on a slow link only after all
 * slower clients.
 */
export interface Sender {
  /** True when the client stopped reading the answer. */
  readonly isStalled: boolean;
  /** The time for which the client has read less of its answer than the lowest rate; 0 while it keeps that rate. */
  readonly stalledMs: number;
  /** True when the server waits until the client sends a request, or the rest of a request. */
  readonly isAwaited: boolean;
  /** Bytes per second that the client sends; undefined until it was measured. */
  readonly sendingRate: number | undefined;
}

/** In bytes per second. A bad mobile connection is forty times as fast. */
const SLOW_RATE = 50;

/** The interval between two calls of `measureSending` for a connection. */
export const SENDING_MEASURED_EVERY_MS = 1_000;
/** The weight of the newest second: a pause of a few seconds lowers the rate of a slow link, but not to zero. */
const NEWEST_SHARE = 0.25;

/** The rate at which a client sends one request, as far as the server has measured it. */
export interface Sending {
  /** A different number for each request of a connection, and for each time between two requests. */
  readonly phase: number;
  readonly bytes: number;
  readonly rate: number | undefined;
}

/** @param bytes the total that the client has sent on the connection */
export function measureSending(
  before: Sending | undefined,
  { phase, bytes }: Pick<Sending, 'phase' | 'bytes'>,
): Sending {
  // The first bytes do not count: an attacker can send most of a body at once, and then nothing.
  if (before?.phase !== phase) return { phase, bytes, rate: undefined };
  const newest = ((bytes - before.bytes) * 1_000) / SENDING_MEASURED_EVERY_MS;
  const { rate = newest } = before;
  return { phase, bytes, rate: rate + (newest - rate) * NEWEST_SHARE };
}

/**
 * The clients that the server waits for, in the order in which it cuts them when there is no room for all:
 * 1. the clients that stopped reading their answers, the longest ago first; of several that stopped together, the newest
 *    first. A client that reads in steps is cut only after the clients that read nothing;
 * 2. the slow senders, the slowest first;
 * 3. the older half of the clients whose rate is unknown, the newest of this half first: so an attacker that opens many
 *    connections quickly displaces its own connections, and not the clients that the server measures soon;
 * 4. the other measured clients, the slowest first;
 * 5. the newer half of the clients whose rate is unknown, the oldest first: their requests may be on their way.
 *
 * @param senders the oldest first
 */
export function inCutOrder<T extends Sender>(senders: Iterable<T>): readonly T[] {
  const all = [...senders];
  const awaited = all.filter(({ isAwaited, isStalled }) => isAwaited && !isStalled);
  const unknown = awaited.filter(({ sendingRate }) => sendingRate === undefined);
  const known = awaited
    .filter(({ sendingRate }) => sendingRate !== undefined)
    .sort((a, b) => rateOf(a) - rateOf(b));
  const older = Math.floor(unknown.length / 2);
  return [
    ...all
      .filter(({ isStalled }) => isStalled)
      .reverse()
      .sort((a, b) => b.stalledMs - a.stalledMs),
    ...known.filter((sender) => rateOf(sender) < SLOW_RATE),
    ...unknown.slice(0, older).reverse(),
    ...known.filter((sender) => rateOf(sender) >= SLOW_RATE),
    ...unknown.slice(older),
  ];
}

const rateOf = ({ sendingRate = 0 }: Sender): number => sendingRate;
