import { isAppError } from '../../core/errors.ts';
import { isEnded } from '../../store/sequence/end.ts';
import { type AttemptDeps, attemptDelivery, storeOutcome } from './attempt.ts';
import { decideSendAt, type History, readHistory } from './history.ts';
import { messagePrefix } from './keys.ts';
import { removeOpen } from './open-marker.ts';
import type { Outcome } from './transition.ts';

export interface DeliverDeps extends AttemptDeps {
  /** The process calls this with the outcome of every attempt, for the status page. */
  readonly onOutcome?: (ok: boolean, sentence: string) => void;
}

/** The facts that this process knows about an open message. Times are in milliseconds since the epoch. */
interface Known {
  /** The number of the newest transition; infinite when the message is corrupt. */
  readonly last: number;
  /** The time at which this process first saw the newest transition. */
  readonly firstSeenAt: number;
  /** The process need not read the message again before this time. */
  readonly readAgainAt: number;
}

/** The facts that a process remembers between two looks at the open messages, by message id. */
export interface Memory {
  readonly known: Map<string, Known>;
  /** Outcomes that the process still has to store. */
  readonly unstored: Map<string, Outcome>;
  /** Messages that this process is delivering now. */
  readonly active: Set<string>;
}

const CORRUPT_READ_AGAIN_MS = 6 * 3_600_000;

/**
 * Reads a message, and sends it when it is due. The promise never rejects: the process logs a failure and tries the
 * message again.
 *
 * @param signal stops the sending of the mail
 * @returns false when the mail server could not be reached
 */
export async function deliverMessage(
  deps: DeliverDeps,
  memory: Memory,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (memory.active.has(id)) return true;
  memory.active.add(id);
  try {
    // Stores an earlier outcome first: without it, the attempt of this process would look abandoned.
    await storeUnstored(deps, memory, id);
    const history = await readDue(deps, memory, id);
    if (history === undefined) return true;
    const attempted = await attemptDelivery(deps, history, signal);
    if (attempted === undefined) return true;
    const { outcome, isReachable } = attempted;
    // A mail server that refuses one message still works. So a visitor's text cannot change the status page.
    deps.onOutcome?.(outcome.state === 'delivered' || isReachable, outcome.detail);
    memory.unstored.set(id, outcome);
    await storeUnstored(deps, memory, id);
    return isReachable;
  } catch (error) {
    if (isAppError(error) && error.kind === 'corrupt') {
      const now = deps.clock.now();
      const readAgainAt = now + CORRUPT_READ_AGAIN_MS;
      memory.known.set(id, { last: Number.POSITIVE_INFINITY, firstSeenAt: now, readAgainAt });
    }
    deps.log.warn(
      { message: id, err: error },
      'a contact message could not be processed; it is tried again',
    );
    return true;
  } finally {
    memory.active.delete(id);
  }
}

async function storeUnstored(deps: DeliverDeps, memory: Memory, id: string): Promise<void> {
  const outcome = memory.unstored.get(id);
  if (outcome === undefined) return;
  const number = await storeOutcome(deps, id, outcome);
  memory.unstored.delete(id);
  if (number !== undefined && outcome.state !== 'failed') await removeOpen(deps.store, id, number);
}

/**
 * Returns the message if the process may send it now. When the delivery of the message is over, removes its open
 * markers.
 */
async function readDue(
  { store, clock }: DeliverDeps,
  { known }: Memory,
  id: string,
): Promise<History | undefined> {
  if (await isEnded(store, messagePrefix(id))) {
    await removeOpen(store, id);
    return undefined;
  }
  const history = await readHistory(store, id);
  // The visitor's request creates the marker before the message, so the message may still follow.
  if (history === undefined) return undefined;
  const now = clock.now();
  const { last, newest } = history;
  const before = known.get(id);
  const firstSeenAt = before?.last === last ? before.firstSeenAt : now;
  const sendAt = decideSendAt(history, firstSeenAt);
  if (sendAt === undefined) {
    await removeOpen(store, id, last);
    return undefined;
  }
  // Another process that is sending the message may store its outcome at any time.
  const readAgainAt = newest.state === 'sending' ? now : sendAt;
  known.set(id, { last, firstSeenAt, readAgainAt });
  return sendAt <= now ? history : undefined;
}
