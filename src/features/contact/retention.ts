import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import { removeEnded } from '../../store/sequence/end.ts';
import { listSequences } from '../../store/sequence/trim.ts';
import { eraseMessage } from './erase.ts';
import { CONTACT_ROOT, END_NUMBER, openKey, parseMessageKey, transitionKey } from './keys.ts';
import { listOpen, ORPHAN_KEPT_MS } from './open-marker.ts';
import { readMessage } from './transition.ts';

interface RetentionDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/**
 * Erases the messages that the service accepted more than `keptMs` ago, even if they were not delivered. Also removes
 * the remaining objects of erased messages. It runs in the background, because it lists every message. After a failure,
 * the next run continues.
 *
 * @returns the number of messages that were erased
 */
export async function removeOldMessages(deps: RetentionDeps, keptMs: number): Promise<number> {
  const { store, clock } = deps;
  const old: string[] = [];
  for await (const { of: id, documents } of listSequences(store, CONTACT_ROOT, parseMessageKey)) {
    if (documents.some(({ number }) => number === END_NUMBER)) continue;
    const storedAt = Math.min(...documents.map(({ writtenAt }) => writtenAt));
    if (storedAt >= clock.now() - keptMs) continue;
    // The listing may state a wrong date. So the date in the message also has to be old before the service erases the
    // message.
    if ((await acceptedAt(store, id, storedAt)) < clock.now() - keptMs) old.push(id);
  }
  for (const id of old) await eraseMessage(deps, id, 'retention');
  await removeEnded(deps, CONTACT_ROOT);
  await removeOrphans(deps);
  return old.length;
}

/**
 * The time when the service accepted a message, in milliseconds since the epoch. When the message is missing or
 * corrupt, the time from the listing.
 */
async function acceptedAt(store: ObjectStore, id: string, storedAt: number): Promise<number> {
  try {
    const message = await readMessage(store, id);
    return message === undefined ? storedAt : Date.parse(message.acceptedAt);
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) return storedAt;
    throw error;
  }
}

/** Removes open markers without a transition: their process stopped before it created the transition. */
async function removeOrphans({ store, clock }: RetentionDeps): Promise<void> {
  for await (const { id, number, createdAt } of listOpen(store)) {
    if (clock.now() - createdAt.getTime() < ORPHAN_KEPT_MS) continue;
    if (!(await isPresent(store, transitionKey(id, number)))) {
      await store.delete(openKey(id, number));
    }
  }
}
