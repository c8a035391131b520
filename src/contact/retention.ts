import type { Clock } from '../clock.ts';
import { isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { eraseSequence, removeEnded } from '../sequence/end.ts';
import { readMessage } from './documents.ts';
import { CONTACT_ROOT, messagePrefix } from './keys.ts';
import { listPending, removePending } from './pending.ts';
import { type ScannedMessage, scanMessages } from './scan.ts';

/** How messages end: because somebody wants it, or because they are old. */

interface RetentionDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/** Longer than anything that still knows the message can go on writing. */
const END_KEPT_MS = 24 * 3_600_000;

/**
 * Removes everything of a message; only the marker that it ended is left, for a day.
 *
 * @param reason a word for the record, nothing about a person
 * @throws AppError the store's: erase it again
 */
export async function eraseMessage(deps: RetentionDeps, id: string, reason: string): Promise<void> {
  await eraseSequence(deps, messagePrefix(id), { reason, keptMs: END_KEPT_MS });
  await removePending(deps.store, id);
}

/**
 * Erases the messages that were accepted more than `keptMs` ago, delivered or not, and clears away what
 * is left of those that ended. A background job: it lists and reads everything.
 *
 * @returns how many messages were erased
 * @throws AppError the store's; the next run goes on
 */
export async function removeOldMessages(deps: RetentionDeps, keptMs: number): Promise<number> {
  const old: string[] = [];
  const present = new Set<string>();
  for await (const found of scanMessages(deps.store)) {
    if (found.isEnded) continue;
    present.add(found.id);
    // Not old by the store's clock: not worth reading.
    if (found.storedAt !== undefined && found.storedAt.getTime() > deps.clock.now() - keptMs)
      continue;
    const acceptedAt = await acceptedAtOf(deps.store, found);
    if (acceptedAt !== undefined && acceptedAt < deps.clock.now() - keptMs) old.push(found.id);
  }
  for (const id of old) await eraseMessage(deps, id, 'retention');
  await removeEnded(deps, CONTACT_ROOT);
  // What is erased while its marker is written leaves the marker behind, and no mail may be set up.
  for (const id of (await listPending(deps.store)).keys()) {
    if (!present.has(id) && (await readMessageOrCorrupt(deps.store, id)) === undefined) {
      await removePending(deps.store, id);
    }
  }
  return old.length;
}

/** Milliseconds since the epoch; the store's own time where the document cannot be read. */
async function acceptedAtOf(
  store: ObjectStore,
  { id, storedAt }: ScannedMessage,
): Promise<number | undefined> {
  if (storedAt === undefined) return undefined;
  const message = await readMessageOrCorrupt(store, id);
  return message === 'corrupt' ? storedAt.getTime() : message && Date.parse(message.acceptedAt);
}

async function readMessageOrCorrupt(store: ObjectStore, id: string) {
  try {
    return await readMessage(store, id);
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) return 'corrupt';
    throw error;
  }
}
