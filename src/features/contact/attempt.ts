import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import { type CreateDeps, createSettled } from '../../store/sequence/create-settled.ts';
import { isEnded } from '../../store/sequence/end.ts';
import { readSoundDocument } from '../../store/sequence/sequence.ts';
import { nextAttemptAt } from './back-off.ts';
import { deliveryOf, type History } from './history.ts';
import { messagePrefix, transitionKey } from './keys.ts';
import type { Mailer, SendResult } from './mail.ts';
import {
  type Content,
  DETAIL_LENGTH_MAX,
  messageSequence,
  type Outcome,
  sealTransition,
  type Transition,
} from './transition.ts';

/** One attempt to deliver one message: claims the message, sends the mail, and stores the outcome. */

export interface AttemptDeps extends CreateDeps {
  readonly log: Log;
  readonly mailer: Mailer;
}

/**
 * A write takes this long only when the process was suspended. The service keeps the end marker of a message for
 * longer. While the marker exists, clean-up deletes a late outcome.
 */
const SUSPENDED_MS = 3_600_000;

/**
 * Creates the claim, and sends the mail if no other process has created the claim first. The caller stores the outcome
 * with {@link storeOutcome}.
 *
 * @returns undefined when no mail was sent, because another process was first or the message has been erased
 * @throws AppError `outcome_unknown` when the claim may or may not exist; no mail was sent then
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  history: History,
  signal: AbortSignal,
): Promise<{ readonly outcome: Outcome; readonly isReachable: boolean } | undefined> {
  const { message, last } = history;
  const { id } = message;
  const claim = last + 1;
  const at = new Date(deps.clock.now()).toISOString();
  const claimed = await createTransition(deps, id, claim, { state: 'sending', at });
  if (claimed !== 'created') return undefined;
  // Creating the claim took time, and an operator may have erased the message meanwhile.
  if (await isErased(deps.store, id)) {
    // Deletes the claim here, because the end marker may be gone, and no later clean-up would then know that the claim
    // belongs to an erased message.
    await deps.store.delete(transitionKey(id, claim));
    return undefined;
  }
  const sent = await deps.mailer.send(message, signal);
  const outcome = outcomeOf(deps, history, claim, sent);
  logOutcome(deps.log, id, outcome);
  return { outcome, isReachable: sent.outcome === 'sent' || sent.isReachable };
}

function outcomeOf(deps: AttemptDeps, history: History, claim: number, sent: SendResult): Outcome {
  const now = deps.clock.now();
  const detail = sent.detail.slice(0, DETAIL_LENGTH_MAX);
  const common = { claim, at: new Date(now).toISOString(), detail };
  if (sent.outcome === 'sent') return { ...common, state: 'delivered' };
  const { startedAt, attempts } = deliveryOf(history);
  const failure = { startedAt, attempts: attempts + 1, now };
  const next = nextAttemptAt(failure, deps.randomness.fraction());
  return next === undefined
    ? { ...common, state: 'dead' }
    : { ...common, state: 'failed', next_at: new Date(next).toISOString() };
}

/**
 * Stores the outcome of an attempt. Without a stored outcome, other processes consider the attempt abandoned and send
 * the mail again. After an error of the store, the caller has to call this again later.
 *
 * @returns the number of the outcome; undefined when the outcome is stored already, when it no longer counts, or when
 *   the message has been erased
 * @throws AppError `outcome_unknown`
 */
export async function storeOutcome(
  deps: CreateDeps,
  id: string,
  outcome: Outcome,
): Promise<number | undefined> {
  if (await isErased(deps.store, id)) return undefined;
  const checkedAt = deps.clock.now();
  for (let number = outcome.claim + 1; ; number++) {
    const created = await createTransition(deps, id, number, outcome);
    if (created === 'created') {
      const wasSuspended = deps.clock.now() - checkedAt > SUSPENDED_MS;
      if (!wasSuspended || !(await isErased(deps.store, id))) return number;
      await deps.store.delete(transitionKey(id, number));
      return undefined;
    }
    // Another process considered the attempt abandoned, and made a newer attempt. A failure of the replaced attempt no
    // longer counts, but the first delivery does.
    if (outcome.state !== 'delivered' || created.taken?.state === 'delivered') return undefined;
  }
}

/** True for an erased message, even after its end marker is deleted: a process may be suspended for a day. */
async function isErased(store: ObjectStore, id: string): Promise<boolean> {
  return (
    (await isEnded(store, messagePrefix(id))) || !(await isPresent(store, transitionKey(id, 1)))
  );
}

/**
 * Creates a transition. When several processes create the same number, exactly one succeeds.
 *
 * @returns `taken`: the existing transition with this number; undefined when that transition is corrupt
 * @throws AppError `outcome_unknown`
 */
async function createTransition(
  deps: CreateDeps,
  id: string,
  number: number,
  content: Content,
): Promise<'created' | { readonly taken: Transition | undefined }> {
  const sequence = messageSequence(id);
  const changeId = deps.randomness.id();
  const bytes = sequence.render(sealTransition(id, { number, changeId }, content));
  if ((await createSettled(deps, sequence.key(number), bytes)) === 'created') return 'created';
  const taken = (await readSoundDocument(deps.store, sequence, number))?.signed;
  // If the document has the change id of this call, this call created it and the store's answer was lost.
  return taken?.change_id === changeId ? 'created' : { taken };
}

function logOutcome(log: Log, message: string, outcome: Outcome): void {
  const { state, claim, detail } = outcome;
  if (state === 'delivered') {
    log.info({ message, claim, detail }, 'a contact message was delivered');
  } else if (state === 'failed') {
    const { next_at } = outcome;
    log.warn({ message, claim, detail, next_at }, 'a contact message could not be delivered yet');
  } else {
    log.error(
      { message, claim, detail },
      'a contact message is dead after 72 hours of attempts; "slipway contact redeliver" sends it again',
    );
  }
}
