import type { ObjectStore } from '../object-store/object-store.ts';
import { type CreateDeps, createSettled } from '../sequence/create-settled.ts';
import { PENDING_ROOT, parsePendingKey, pendingKey, pendingPrefix } from './keys.ts';
import { scanMessages } from './scan.ts';

/**
 * Which messages are to be delivered: an index, and nothing but one. The documents of a message say
 * whether it was delivered; a marker too many is removed by whoever finds it so, and one too few is
 * put back by {@link restorePending}.
 */

const EMPTY = Buffer.from('{}\n');

/** @throws AppError `outcome_unknown` and the store's */
export async function markPending(deps: CreateDeps, id: string, round: number): Promise<void> {
  await createSettled(deps, pendingKey(id, round), EMPTY);
}

/** Every message that has a marker, with its newest round; older rounds' markers are removed. */
export async function listPending(store: ObjectStore): Promise<ReadonlyMap<string, number>> {
  const rounds = new Map<string, number>();
  const outdated: string[] = [];
  for await (const { key } of store.list(PENDING_ROOT)) {
    const marker = parsePendingKey(key);
    if (marker === undefined) continue;
    const other = rounds.get(marker.id);
    rounds.set(marker.id, Math.max(other ?? 0, marker.round));
    if (other !== undefined) outdated.push(pendingKey(marker.id, Math.min(other, marker.round)));
  }
  for (const key of outdated) await store.delete(key);
  return rounds;
}

export async function removePending(store: ObjectStore, id: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(pendingPrefix(id))) keys.push(key);
  for (const key of keys) await store.delete(key);
}

/**
 * Marks the messages that nobody ever tried to deliver: those whose writer was stopped between storing
 * one and marking it. Their senders were never told that they had been accepted; they are delivered
 * all the same.
 *
 * @returns how many
 */
export async function restorePending(deps: CreateDeps): Promise<number> {
  // Before the messages: one that is accepted meanwhile can only be marked once more, which is harmless.
  const marked = await listPending(deps.store);
  let restored = 0;
  for await (const found of scanMessages(deps.store)) {
    const { id, hasMessage, isEnded, attempts, redeliveries } = found;
    if (!hasMessage || isEnded || attempts > 0 || marked.has(id)) continue;
    await markPending(deps, id, redeliveries);
    restored++;
  }
  return restored;
}
