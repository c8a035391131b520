import type { ObjectStore } from '../../store/object-store.ts';
import { type CreateDeps, createSettled } from '../../store/sequence/create-settled.ts';
import { OPEN_ROOT, openKey, openPrefix, parseOpenKey } from './keys.ts';

/**
 * Markers name the messages that are to be delivered. With them, one listing finds these messages, however many old
 * ones are kept.
 *
 * A marker has the number of the transition that opens the message (`accepted` or `requeued`) and is created
 * before that transition: an open message always has one. A later transition that closes the message
 * (`delivered` or `dead`) makes it removable. A marker without its transition is harmless.
 */

const EMPTY = Buffer.from('{}\n');

/** A marker without its transition is removed when it is older than this. */
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

/** @param upTo the number of the transition that closed the message; markers above it stay */
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
