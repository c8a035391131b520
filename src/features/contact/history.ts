import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { readNewer } from '../../store/sequence/sequence.ts';
import { PAUSE_MAX_MS } from './back-off.ts';
import { type Message, messageOf, messageSequence, type Transition } from './transition.ts';

/** The transitions of one message, and the state that follows from them. */
export interface History {
  readonly message: Message;
  /** The readable transitions, oldest first; the first is `accepted`. */
  readonly transitions: readonly Transition[];
  readonly newest: Transition;
  /** The highest number of a document, including corrupt documents. */
  readonly last: number;
}

/**
 * @returns undefined when there is no such message
 * @throws AppError `document_corrupt` when the message itself is corrupt; `document_newer`
 */
export async function readHistory(store: ObjectStore, id: string): Promise<History | undefined> {
  const { entries, corrupt, last, failure } = await readNewer(store, messageSequence(id), 0);
  if (failure !== undefined) throw failure;
  if (last === 0) return undefined;
  const transitions = entries.map(({ document }) => document.signed);
  const [first] = transitions;
  const newest = transitions.at(-1);
  if (first === undefined || newest === undefined || first.number !== 1) {
    throw new AppError('document_corrupt', corrupt[0]?.reason ?? `${id} is corrupt.`);
  }
  return { message: messageOf(first), transitions, newest, last };
}

/** One attempt to deliver a message. */
export interface Attempt {
  /** The number of the attempt, counted from 1. */
  readonly number: number;
  /** ISO 8601. */
  readonly at: string;
  /** Undefined while the attempt is under way, and when the process died before it stored an outcome. */
  readonly outcome: Extract<Transition, { claim: number }> | undefined;
}

/** Every attempt, oldest first. */
export function attemptsOf({ transitions }: History): readonly Attempt[] {
  return transitions
    .filter(({ state }) => state === 'sending')
    .map(({ number: claim, at }, index) => ({
      number: index + 1,
      at,
      outcome: transitions
        .filter((transition) => 'claim' in transition)
        .find((transition) => transition.claim === claim),
    }));
}

/** The start of the latest delivery, in milliseconds since the epoch, and the number of attempts in this delivery. */
export function deliveryOf({ transitions }: History): {
  readonly startedAt: number;
  readonly attempts: number;
} {
  const from = transitions.findLastIndex(({ state }) => state === 'requeued');
  const own = transitions.slice(Math.max(from, 0));
  return {
    startedAt: Date.parse(own[0]?.at ?? ''),
    attempts: own.filter(({ state }) => state === 'sending').length,
  };
}

export function redeliveriesOf({ transitions }: History): number {
  return transitions.filter(({ state }) => state === 'requeued').length;
}

/** When a process has seen a claim without an outcome for this long, by its own clock, it may make a new attempt. */
export const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * The time from which a process may send the message, in milliseconds since the epoch; undefined when the delivery is
 * over.
 *
 * @param firstSeenAt the time at which this process first saw the newest transition
 */
export function decideSendAt({ newest }: History, firstSeenAt: number): number | undefined {
  if (newest.state === 'delivered' || newest.state === 'dead') return undefined;
  if (newest.state === 'sending') return firstSeenAt + ABANDONED_AFTER_MS;
  if (newest.state !== 'failed') return firstSeenAt;
  // Another machine may have written `next_at`. If the clock of that machine is far ahead, the mail must not wait
  // longer than the longest pause.
  return Math.min(Date.parse(newest.next_at), firstSeenAt + PAUSE_MAX_MS);
}
