import type { ObjectStore } from '../../store/object-store.ts';
import { type CreateDeps, createSettled } from '../../store/sequence/create-settled.ts';
import { OPEN_ROOT, openKey, openPrefix, parseOpenKey } from './keys.ts';

/**
 * Markers name the messages that the service still has to deliver. With the markers, one listing finds these messages,
 * however many old messages the store has.
 *
 * A marker has the number of the transition that opens the message (`accepted` or `requeued`). The service creates the
 * marker before the transition, so that an open message always has a marker. The service may remove the marker after a
 * later transition that closes the message (`delivered` or `dead`). A marker without its transition is harmless.
 */

const EMPTY = Buffer.from('{}\n');

/** When a marker without its transition is older than this, the service removes it. */
export const ORPHAN_KEPT_MS = 24 * 3_600_000;

/** @throws AppError `outcome_unknown` */
export async function markOpen(deps: CreateDeps, id: string, number: number): Promise<void> {
  await createSettled(deps, openKey(id, number), EMPTY);
}

interface OpenMarker {
  readonly id: string;
  readonly number: number;
  readonly createdAt: Date;
}

export async function* listOpen(store: ObjectStore): AsyncGenerator<OpenMarker> {
  for await (const { key, lastModified } of store.list(OPEN_ROOT)) {
    const marker = parseOpenKey(key);
    if (marker !== undefined) yield { ...marker, createdAt: lastModified };
  }
}

/** @param upTo the number of the transition that closed the message; markers with higher numbers stay */
export async function removeOpen(
  store: ObjectStore,
  id: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(openPrefix(id))) {
    if ((parseOpenKey(key)?.number ?? 0) <= upTo) keys.push(key);
  }
  for (const key of keys) await store.delete(key);
}
