import { isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { readDocument, readNewer } from '../sequence/sequence.ts';
import {
  attemptSequence,
  type OutcomeDocument,
  outcomeSequence,
  readMessage,
  redeliverySequence,
} from './documents.ts';

/** How far the delivery of a message has come, in the round that was last asked for. */
export interface Progress {
  readonly round: number;
  /** Milliseconds since the epoch: acceptance, or when the redelivery was asked for. */
  readonly startedAt: number;
  /** Attempts up to this one belong to earlier rounds. */
  readonly after: number;
  /** Oldest first, without gaps. */
  readonly attempts: readonly Attempt[];
}

export interface Attempt {
  readonly number: number;
  /** ISO 8601; undefined where the document is corrupt. */
  readonly at: string | undefined;
  readonly outcome: Outcome | undefined;
}

export type Outcome = Pick<OutcomeDocument, 'at' | 'result' | 'detail' | 'next_at'>;

/**
 * @param known what was read before, of the same round: only what is new is read then
 * @returns undefined when there is no such message or round
 * @throws AppError `document_corrupt` for the message or the round; `document_newer`; the store's
 */
export async function loadProgress(
  store: ObjectStore,
  id: string,
  round: number,
  known?: Progress,
): Promise<Progress | undefined> {
  const start = known?.round === round ? known : await loadStart(store, id, round);
  if (start === undefined) return undefined;
  const before = known?.round === round ? known.attempts : [];
  const last = start.after + before.length;
  const newer = await readNewer(store, attemptSequence(id), last);
  const times = new Map(newer.entries.map(({ number, document }) => [number, document.signed.at]));
  const claimed: Attempt[] = [...before];
  for (let number = last + 1; number <= newer.last; number++) {
    claimed.push({ number, at: times.get(number), outcome: undefined });
  }
  const attempts = await Promise.all(
    claimed.map(async (attempt) =>
      attempt.outcome === undefined
        ? { ...attempt, outcome: await readOutcome(store, id, attempt.number) }
        : attempt,
    ),
  );
  return { round, startedAt: start.startedAt, after: start.after, attempts };
}

async function loadStart(store: ObjectStore, id: string, round: number) {
  if (round === 0) {
    const message = await readMessage(store, id);
    return message && { startedAt: Date.parse(message.acceptedAt), after: 0 };
  }
  const redelivery = await readDocument(store, redeliverySequence(id), round);
  return (
    redelivery && { startedAt: Date.parse(redelivery.signed.at), after: redelivery.signed.after }
  );
}

/** Undefined when it has not been written. A corrupt one counts as a failure: twice beats never. */
export async function readOutcome(
  store: ObjectStore,
  id: string,
  number: number,
): Promise<Outcome | undefined> {
  try {
    const document = await readDocument(store, outcomeSequence(id), number);
    return document?.signed;
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    const at = new Date(0).toISOString();
    return { at, result: 'failed', detail: error.message, next_at: at };
  }
}

export type Next =
  | { readonly step: 'done'; readonly result: 'delivered' | 'dead' }
  /** Somebody holds this attempt, or was stopped while holding it. */
  | { readonly step: 'wait_for_outcome'; readonly number: number }
  /** `at`: not before then, in milliseconds since the epoch. */
  | { readonly step: 'attempt'; readonly number: number; readonly at: number };

/** What is to be done next. */
export function decideNext({ attempts, after }: Progress): Next {
  if (attempts.some(({ outcome }) => outcome?.result === 'delivered')) {
    return { step: 'done', result: 'delivered' };
  }
  const last = attempts.at(-1);
  if (last === undefined) return { step: 'attempt', number: after + 1, at: 0 };
  if (last.outcome === undefined) return { step: 'wait_for_outcome', number: last.number };
  if (last.outcome.result === 'dead') return { step: 'done', result: 'dead' };
  const at = Date.parse(last.outcome.next_at ?? last.outcome.at);
  return { step: 'attempt', number: last.number + 1, at };
}

export const BACKOFF_FIRST_MS = 60_000;
export const BACKOFF_MAX_MS = 6 * 3_600_000;
/** After this long, a failure is the last one. */
export const GIVE_UP_AFTER_MS = 72 * 3_600_000;

/**
 * When to try again after a failure; undefined: not any more.
 *
 * @param attempts of this round, the failed one included
 * @param chance from 0 to 1, for the jitter
 */
export function nextAttemptAt(
  { startedAt, attempts, now }: { startedAt: number; attempts: number; now: number },
  chance: number,
): number | undefined {
  const end = startedAt + GIVE_UP_AFTER_MS;
  if (now >= end) return undefined;
  const pause = Math.min(BACKOFF_FIRST_MS * 2 ** (attempts - 1), BACKOFF_MAX_MS);
  return Math.min(now + pause * (0.9 + 0.2 * chance), end);
}
