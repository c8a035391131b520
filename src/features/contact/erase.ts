import type { Clock } from '../../core/clock.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import { eraseSequence, isEnded } from '../../store/sequence/end.ts';
import { unknownMessage } from './inspect.ts';
import { isMessageId, messagePrefix, transitionKey } from './keys.ts';
import { removeOpen } from './open-marker.ts';

interface EraseDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/**
 * The time for which the service keeps the end marker of a message, in milliseconds. After this time, no process that
 * knew the message can still write.
 */
const END_KEPT_MS = 24 * 3_600_000;

/**
 * Removes all objects of a message except its end marker. The service keeps the end marker for a day, so that a late
 * outcome cannot restore the message. After a failure, call this again.
 *
 * @param reason a word for the record, without personal data
 */
export async function eraseMessage(deps: EraseDeps, id: string, reason: string): Promise<void> {
  await eraseSequence(deps, messagePrefix(id), { reason, keptMs: END_KEPT_MS });
  await removeOpen(deps.store, id);
}

/**
 * Erases a message for an operator, even if the message is corrupt or an earlier erasure failed half way. After a
 * failure, call this again.
 *
 * @throws AppError `unknown_message`
 */
export async function eraseExisting(deps: EraseDeps, id: string): Promise<void> {
  const { store } = deps;
  const isKnown =
    isMessageId(id) &&
    ((await isPresent(store, transitionKey(id, 1))) || (await isEnded(store, messagePrefix(id))));
  if (!isKnown) throw unknownMessage(id);
  await eraseMessage(deps, id, 'erased');
}
