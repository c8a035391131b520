import pLimit from 'p-limit';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { isPresent } from '../object-store/presence.ts';
import { type AppendDeps, appendDocument } from '../sequence/append.ts';
import { isEnded } from '../sequence/end.ts';
import { SCHEMA_VERSION } from '../sequence/envelope.ts';
import { seal } from '../sequence/sealed.ts';
import { findNewest } from '../sequence/sequence.ts';
import {
  attemptSequence,
  type Message,
  type RedeliveryDocument,
  readMessage,
  redeliverySequence,
} from './documents.ts';
import { isMessageId, messageKey, messagePrefix } from './keys.ts';
import type { MessageState } from './message-state.ts';
import { markPending } from './pending.ts';
import { type Attempt, decideNext, loadProgress, type Progress, readOutcome } from './progress.ts';
import { eraseMessage } from './retention.ts';
import { scanMessages } from './scan.ts';

/** What people look at and do with messages. */

export interface ListedMessage extends Message {
  readonly state: MessageState;
  /** Of the last attempt; undefined when there was none, or it is under way. */
  readonly detail: string | undefined;
  /** ISO 8601; undefined when nothing is planned. */
  readonly nextAt: string | undefined;
  readonly attemptCount: number;
}

const READ_AT_ONCE = 8;

/**
 * Messages, newest first. Reads every one of them.
 *
 * @param wanted `hasMail`: whether a mail server is set up; without one, messages are kept and not pending
 * @param unreadable is told the id of each that cannot be read
 * @throws AppError the store's
 */
export async function listMessages(
  store: ObjectStore,
  wanted: {
    readonly state: MessageState | undefined;
    readonly limit: number;
    readonly hasMail: boolean;
  },
  unreadable: (id: string, reason: string) => void = () => {},
): Promise<readonly ListedMessage[]> {
  const limit = pLimit(READ_AT_ONCE);
  const reading: Promise<ListedMessage | undefined>[] = [];
  for await (const { id, hasMessage, isEnded: isOver, redeliveries } of scanMessages(store)) {
    if (!hasMessage || isOver) continue;
    const read = async () => {
      try {
        return await readListed(store, id, { round: redeliveries, hasMail: wanted.hasMail });
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        unreadable(id, error.message);
        return undefined;
      }
    };
    reading.push(limit(read));
  }
  return (await Promise.all(reading))
    .filter((message) => message !== undefined)
    .filter(({ state }) => wanted.state === undefined || state === wanted.state)
    .sort((a, b) => b.acceptedAt.localeCompare(a.acceptedAt) || a.id.localeCompare(b.id))
    .slice(0, wanted.limit);
}

async function readListed(
  store: ObjectStore,
  id: string,
  { round, hasMail }: { readonly round: number; readonly hasMail: boolean },
): Promise<ListedMessage | undefined> {
  const [message, progress] = await Promise.all([
    readMessage(store, id),
    loadProgress(store, id, round),
  ]);
  // Erased meanwhile.
  if (message === undefined || progress === undefined) return undefined;
  return { ...message, ...summarise(progress, hasMail) };
}

function summarise(progress: Progress, hasMail: boolean) {
  const next = decideNext(progress);
  const last = progress.attempts.at(-1)?.outcome;
  const attemptCount = progress.after + progress.attempts.length;
  return {
    state: next.step === 'done' ? next.result : hasMail || attemptCount > 0 ? 'pending' : 'kept',
    detail: last?.detail,
    nextAt: next.step === 'attempt' ? (last?.next_at ?? undefined) : undefined,
    attemptCount,
  } as const;
}

export interface ShownMessage extends ListedMessage {
  /** Of all rounds, oldest first. */
  readonly attempts: readonly Attempt[];
  readonly redeliveries: number;
}

/** @throws AppError `unknown_message`, `document_corrupt`, and the store's */
export async function showMessage(
  store: ObjectStore,
  id: string,
  hasMail: boolean,
): Promise<ShownMessage> {
  const message = await readExisting(store, id);
  const redeliveries = (await findNewest(store, redeliverySequence(id))).last;
  const [first, latest] = await Promise.all([
    loadProgress(store, id, 0),
    loadProgress(store, id, redeliveries),
  ]);
  if (first === undefined || latest === undefined) throw unknownMessage(id);
  return { ...message, ...summarise(latest, hasMail), attempts: first.attempts, redeliveries };
}

/**
 * Begins a new round of attempts, whatever came of those before: at once, by a service that runs.
 *
 * @param by for the record
 * @throws AppError `unknown_message`, `ended`, `outcome_unknown`, and the store's
 */
export async function redeliverMessage(
  deps: AppendDeps,
  id: string,
  by: string,
): Promise<{ readonly round: number }> {
  const { store, clock } = deps;
  await readExisting(store, id);
  const { last } = await findNewest(store, attemptSequence(id));
  // A mail that is being sent at this moment is the redelivery, if it arrives.
  const isUnderWay = last > 0 && (await readOutcome(store, id, last)) === undefined;
  const appended = await appendDocument(deps, redeliverySequence(id), ({ number, changeId }) =>
    seal<RedeliveryDocument>({
      schema_version: SCHEMA_VERSION,
      type: 'contact_redelivery',
      id,
      number,
      change_id: changeId,
      at: new Date(clock.now()).toISOString(),
      by: by.slice(0, 200),
      after: isUnderWay ? last - 1 : last,
    }),
  );
  if (appended.outcome !== 'created') throw new AppError('internal', 'Nothing was appended.');
  const round = appended.entry.number;
  await markPending(deps, id, round);
  return { round };
}

/** @throws AppError `unknown_message` also for one that has been erased */
async function readExisting(store: ObjectStore, id: string): Promise<Message> {
  if (!isMessageId(id) || (await isEnded(store, messagePrefix(id)))) throw unknownMessage(id);
  const message = await readMessage(store, id);
  if (message === undefined) throw unknownMessage(id);
  return message;
}

/**
 * Erases a message for good; of one that has been erased, what may be left.
 *
 * @throws AppError `unknown_message`, and the store's: erase it again
 */
export async function eraseExisting(deps: AppendDeps, id: string): Promise<void> {
  const { store } = deps;
  // Not read: a corrupt one can be erased too.
  const isKnown =
    isMessageId(id) &&
    ((await isPresent(store, messageKey(id))) || (await isEnded(store, messagePrefix(id))));
  if (!isKnown) throw unknownMessage(id);
  await eraseMessage(deps, id, 'erased');
}

function unknownMessage(id: string): AppError {
  return new AppError(
    'unknown_message',
    `There is no message ${JSON.stringify(id.slice(0, 64))}; "slipway contact list" shows those that there are.`,
  );
}
