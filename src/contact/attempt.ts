import { isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { appendDocument } from '../sequence/append.ts';
import { type CreateDeps, createSettled } from '../sequence/create-settled.ts';
import { isEnded } from '../sequence/end.ts';
import { SCHEMA_VERSION } from '../sequence/envelope.ts';
import { seal } from '../sequence/sealed.ts';
import {
  type AttemptDocument,
  attemptSequence,
  DETAIL_LENGTH_MAX,
  type Message,
  type OutcomeDocument,
  outcomeSequence,
  readMessage,
} from './documents.ts';
import { messagePrefix, outcomeKey } from './keys.ts';
import type { Mailer, SendResult } from './mail.ts';
import { nextAttemptAt, type Progress, readOutcome } from './progress.ts';

/** One attempt to deliver one message: claim it, send, say how it ended. */

export interface AttemptDeps extends CreateDeps {
  readonly log: Log;
  readonly mailer: Mailer;
}

export type Attempted =
  /** Somebody else has this attempt. */
  | { readonly step: 'taken' }
  /** The message is gone, or has been erased meanwhile. */
  | { readonly step: 'gone' }
  | {
      readonly step: 'over';
      readonly outcome: OutcomeDocument;
      readonly isReachable: boolean;
    };

/** @throws AppError `outcome_unknown` when it may or may not be ours: nothing was sent then; the store's */
export async function attemptDelivery(
  deps: AttemptDeps,
  id: string,
  number: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<Attempted> {
  const message = await readMessage(deps.store, id);
  if (message === undefined) return { step: 'gone' };
  const claim = await claimAttempt(deps, id, number);
  if (claim !== 'claimed') return { step: claim };
  // Claiming took time, and the message may have been erased in it.
  if (await isEnded(deps.store, messagePrefix(id))) return { step: 'gone' };
  const sent = await sendOnce(deps, message, { number, after: progress.after }, signal);
  const now = deps.clock.now();
  const attempts = number - progress.after;
  const next =
    sent.outcome === 'sent'
      ? undefined
      : nextAttemptAt({ startedAt: progress.startedAt, attempts, now }, deps.randomness.fraction());
  const failed = next === undefined ? 'dead' : 'failed';
  const outcome: OutcomeDocument = {
    schema_version: SCHEMA_VERSION,
    type: 'contact_outcome',
    id,
    number,
    change_id: deps.randomness.id(),
    at: new Date(now).toISOString(),
    result: sent.outcome === 'sent' ? 'delivered' : failed,
    detail: sent.detail.slice(0, DETAIL_LENGTH_MAX),
    next_at: next === undefined ? null : new Date(next).toISOString(),
  };
  tell(deps.log, outcome);
  return { step: 'over', outcome, isReachable: sent.outcome === 'sent' || sent.isReachable };
}

/** Of all who want attempt n, one gets it. */
async function claimAttempt(
  deps: AttemptDeps,
  id: string,
  number: number,
): Promise<'claimed' | 'taken' | 'gone'> {
  const makeClaim = (base: { number: number; changeId: string }) => {
    if (base.number !== number) return undefined;
    return seal<AttemptDocument>({
      schema_version: SCHEMA_VERSION,
      type: 'contact_attempt',
      id,
      number,
      change_id: base.changeId,
      at: new Date(deps.clock.now()).toISOString(),
    });
  };
  try {
    const appended = await appendDocument(deps, attemptSequence(id), makeClaim);
    return appended.outcome === 'created' ? 'claimed' : 'taken';
  } catch (error) {
    if (isAppError(error, 'ended')) return 'gone';
    throw error;
  }
}

/** Looks once more whether the attempt before this one, taken for dead, has come to a good end. */
async function sendOnce(
  { store, mailer }: AttemptDeps,
  message: Message,
  { number, after }: { readonly number: number; readonly after: number },
  signal: AbortSignal,
): Promise<SendResult> {
  const isFirst = number === after + 1;
  const before = isFirst ? undefined : await readOutcome(store, message.id, number - 1);
  return before?.result === 'delivered'
    ? { outcome: 'sent', detail: `Attempt ${number - 1} had delivered it.` }
    : mailer.send(message, signal);
}

/**
 * Writes down how an attempt ended; without that, others take it for abandoned and send again.
 *
 * @throws AppError `outcome_unknown` and the store's: write it again later
 */
export async function writeOutcome(deps: CreateDeps, outcome: OutcomeDocument): Promise<void> {
  const { id, number } = outcome;
  if (await isEnded(deps.store, messagePrefix(id))) return;
  const bytes = outcomeSequence(id).render(seal(outcome));
  await createSettled(deps, outcomeKey(id, number), bytes);
}

function tell(log: Log, { id, number, result, detail, next_at }: OutcomeDocument): void {
  const facts = { message: id, attempt: number, detail, ...(next_at === null ? {} : { next_at }) };
  if (result === 'delivered') log.info(facts, 'a contact message was delivered');
  else if (result === 'failed') log.warn(facts, 'a contact message could not be delivered yet');
  else log.error(facts, 'a contact message was given up; "slipway contact redeliver" tries again');
}
