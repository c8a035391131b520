/**
 * Clients that have not finished a request. A process holds a connection and memory for each, so when it runs out of
 * them it cuts the slowest first: whoever sends a byte a second must not keep others out. A client on a slow link is
 * cut only after all that are slower.
 */
export interface Sender {
  /** Whether the server waits for the client to send a request, or the rest of one. */
  readonly isAwaited: boolean;
  /** Bytes per second that the client sends; undefined until it was measured. */
  readonly sendingRate: number | undefined;
}

/** In bytes per second. A bad mobile connection reaches forty times this rate. */
const SLOW_RATE = 50;

/** How often `measureSending` is called for a connection. */
export const SENDING_MEASURED_EVERY_MS = 1_000;
/** Of the newest second in the rate: a pause of a few seconds lowers the rate of a slow link without making it zero. */
const NEWEST_SHARE = 0.25;

/** What is known of how a client sends one request, or waits with it. */
export interface Sending {
  /** Differs for each request of a connection, and for the times between two. */
  readonly phase: number;
  readonly bytes: number;
  readonly rate: number | undefined;
}

/** @param bytes that the client has sent on the connection */
export function measureSending(
  before: Sending | undefined,
  { phase, bytes }: Pick<Sending, 'phase' | 'bytes'>,
): Sending {
  // What came at the beginning says nothing: an attacker sends most of a body at once, and then nothing.
  if (before?.phase !== phase) return { phase, bytes, rate: undefined };
  const newest = ((bytes - before.bytes) * 1_000) / SENDING_MEASURED_EVERY_MS;
  const { rate = newest } = before;
  return { phase, bytes, rate: rate + (newest - rate) * NEWEST_SHARE };
}

/**
 * The clients that the server waits for, in the order in which they lose their place when there is no room for all:
 * 1. the slow ones, the slowest first;
 * 2. those whose rate is unknown, the newest first: clients that quickly open connections compete with one another, and
 *    not with those that will be measured soon;
 * 3. the others, the slowest first;
 * 4. the newest half of those whose rate is unknown, the oldest first: their requests may be on their way.
 *
 * @param senders the oldest first
 */
export function inCutOrder<T extends Sender>(senders: Iterable<T>): readonly T[] {
  const awaited = [...senders].filter(({ isAwaited }) => isAwaited);
  const unknown = awaited.filter(({ sendingRate }) => sendingRate === undefined);
  const known = awaited
    .filter(({ sendingRate }) => sendingRate !== undefined)
    .sort((a, b) => rateOf(a) - rateOf(b));
  const older = Math.floor(unknown.length / 2);
  return [
    ...known.filter((sender) => rateOf(sender) < SLOW_RATE),
    ...unknown.slice(0, older).reverse(),
    ...known.filter((sender) => rateOf(sender) >= SLOW_RATE),
    ...unknown.slice(older),
  ];
}

const rateOf = ({ sendingRate = 0 }: Sender): number => sendingRate;
