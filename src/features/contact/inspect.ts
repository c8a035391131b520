import pLimit from 'p-limit';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isEnded } from '../../store/sequence/end.ts';
import { listSequences } from '../../store/sequence/trim.ts';
import { type Attempt, attemptsOf, type History, readHistory, redeliveriesOf } from './history.ts';
import { CONTACT_ROOT, END_NUMBER, isMessageId, messagePrefix, parseMessageKey } from './keys.ts';
import type { MessageState } from './message-state.ts';
import type { Message } from './transition.ts';

/** A message as operators see it. */

export interface ShownMessage extends Message {
  readonly state: MessageState;
  /** The attempts of all deliveries, oldest first. */
  readonly attempts: readonly Attempt[];
  /**
   * The time of the next attempt, in ISO 8601; undefined unless the last attempt failed and the service will try again.
   */
  readonly nextAt: string | undefined;
  /** The number of redeliveries that operators asked for. */
  readonly redeliveries: number;
}

const READ_AT_ONCE = 8;

/**
 * Lists messages, newest first. The function reads every message.
 *
 * @param wanted `hasMail`: true when a mail server is set up. Without a mail server, the state is `kept` instead of
 *   `pending`
 * @param onUnreadable gets the id of each corrupt message, and the reason
 */
export async function listMessages(
  store: ObjectStore,
  wanted: {
    readonly state: MessageState | undefined;
    readonly limit: number;
    readonly hasMail: boolean;
  },
  onUnreadable: (id: string, reason: string) => void = () => {},
): Promise<readonly ShownMessage[]> {
  const limit = pLimit(READ_AT_ONCE);
  const read = async (id: string): Promise<ShownMessage | undefined> => {
    try {
      const history = await readHistory(store, id);
      // The history is undefined when the message was erased after the listing.
      return history && shownOf(history, wanted.hasMail);
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
      onUnreadable(id, error.message);
      return undefined;
    }
  };
  const reading: Promise<ShownMessage | undefined>[] = [];
  for await (const { of: id, documents } of listSequences(store, CONTACT_ROOT, parseMessageKey)) {
    if (documents.every(({ number }) => number !== END_NUMBER)) reading.push(limit(read, id));
  }
  return (await Promise.all(reading))
    .filter((message) => message !== undefined)
    .filter(({ state }) => wanted.state === undefined || state === wanted.state)
    .sort((a, b) => b.acceptedAt.localeCompare(a.acceptedAt) || a.id.localeCompare(b.id))
    .slice(0, wanted.limit);
}

/** @throws AppError `unknown_message`, `document_corrupt` */
export async function showMessage(
  store: ObjectStore,
  id: string,
  hasMail: boolean,
): Promise<ShownMessage> {
  return shownOf(await readExisting(store, id), hasMail);
}

function shownOf(history: History, hasMail: boolean): ShownMessage {
  const { message, newest } = history;
  const attempts = attemptsOf(history);
  const open = hasMail || attempts.length > 0 ? 'pending' : 'kept';
  const isOver = newest.state === 'delivered' || newest.state === 'dead';
  return {
    ...message,
    state: isOver ? newest.state : open,
    attempts,
    nextAt: newest.state === 'failed' ? newest.next_at : undefined,
    redeliveries: redeliveriesOf(history),
  };
}

/** @throws AppError `unknown_message`, even for an erased message; `document_corrupt` */
export async function readExisting(store: ObjectStore, id: string): Promise<History> {
  if (!isMessageId(id) || (await isEnded(store, messagePrefix(id)))) throw unknownMessage(id);
  const history = await readHistory(store, id);
  if (history === undefined) throw unknownMessage(id);
  return history;
}

export function unknownMessage(id: string): AppError {
  return new AppError(
    'unknown_message',
    `There is no message ${JSON.stringify(id.slice(0, 64))}; "slipway contact list" shows the messages that exist.`,
  );
}
