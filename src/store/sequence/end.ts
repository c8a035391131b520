import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import type { ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import { createRetrying } from './create-settled.ts';

/**
 * Ends a stored thing: a session, an account or a message.
 *
 * All objects of a thing lie below one prefix. The object `end.json` marks the end of the thing. The service creates
 * this marker once, looks for it on every read and before every write, and deletes it last. So a write that was under
 * way at the end cannot restore the thing, even when it arrives after the service has deleted everything else.
 */

export interface EndDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/** Longer than any write can take, including its retries. */
export const END_KEPT_MS_MIN = 3_600_000;
const SCHEMA_VERSION = 1;
const END_BYTES_MAX = 4_096;

const MARKER = 'end.json';

/** @param prefix with its trailing slash: `sessions/{account}/{session}/` */
export function endKey(prefix: string): string {
  return `${prefix}${MARKER}`;
}

/** True for the key of a marker. */
export function isMarker(key: string): boolean {
  return key.endsWith(`/${MARKER}`);
}

/** @throws AppError `store_unavailable`, `store_denied` */
export async function isEnded(store: ObjectStore, prefix: string): Promise<boolean> {
  return isPresent(store, endKey(prefix));
}

/**
 * Ends the thing below a prefix; ending it again changes nothing.
 *
 * @param ending `keptMs`: the time for which the service keeps the marker from now on, at least an hour. `reason`: a
 *   word for the record, without personal data
 * @returns whether this call created the marker
 * @throws AppError `store_unavailable`: the thing may or may not have ended
 */
export async function endSequence(
  deps: EndDeps,
  prefix: string,
  ending: { readonly reason: string; readonly keptMs: number },
): Promise<boolean> {
  const now = deps.clock.now();
  const document = {
    schema_version: SCHEMA_VERSION,
    type: 'end',
    at: new Date(now).toISOString(),
    reason: ending.reason,
    kept_until: new Date(now + Math.max(ending.keptMs, END_KEPT_MS_MIN)).toISOString(),
  };
  const bytes = Buffer.from(`${JSON.stringify(document)}\n`);
  // Another process may have created the marker: either way the thing has ended.
  return (await createRetrying(deps, endKey(prefix), bytes)) === 'created';
}

/** Ends the thing, then deletes all its objects but the marker; returns how many it deleted. */
export async function eraseSequence(
  deps: EndDeps,
  prefix: string,
  ending: { readonly reason: string; readonly keptMs: number },
): Promise<number> {
  await endSequence(deps, prefix, ending);
  return deleteBelow(deps.store, prefix);
}

async function deleteBelow(store: ObjectStore, prefix: string): Promise<number> {
  let deleted = 0;
  const marker = endKey(prefix);
  for await (const { key } of store.list(prefix)) {
    if (key === marker) continue;
    await store.delete(key);
    deleted++;
  }
  return deleted;
}

/**
 * Deletes all ended things below a root such as `sessions/`: their objects at once, and each marker when its time is
 * over. Makes two listings, however many things have ended.
 *
 * @param keptMs the shortest time for which the service keeps markers below this root: it does not read younger markers
 * @returns how many objects were deleted
 * @throws AppError `store_unavailable`, `store_denied`: the next call deletes the rest
 */
export async function removeEnded(
  deps: EndDeps,
  root: string,
  keptMs = END_KEPT_MS_MIN,
): Promise<number> {
  const { store, clock } = deps;
  const endedAt = new Map<string, number>();
  for await (const { key, lastModified } of store.list(root)) {
    const prefix = key.slice(0, -MARKER.length);
    // The root itself never ends: a stray marker there must not delete everything.
    if (isMarker(key) && prefix !== root) endedAt.set(prefix, lastModified.getTime());
  }
  if (endedAt.size === 0) return 0;
  let deleted = 0;
  for await (const { key, lastModified } of store.list(root)) {
    // An object that is younger than the marker by more than END_KEPT_MS_MIN belongs to a new thing: another process
    // has deleted the marker since this process listed it.
    const isOver = (prefix: string): boolean =>
      lastModified.getTime() <= (endedAt.get(prefix) ?? Number.NEGATIVE_INFINITY) + END_KEPT_MS_MIN;
    if (isMarker(key) || !parentsOf(key).some(isOver)) continue;
    await store.delete(key);
    deleted++;
  }
  for (const [prefix, at] of endedAt) {
    if (clock.now() - at < keptMs || (await keptUntil(store, prefix)) > clock.now()) continue;
    await store.delete(endKey(prefix));
    deleted++;
  }
  return deleted;
}

/** For `a/b/c`: `a/` and `a/b/`. */
function parentsOf(key: string): readonly string[] {
  const steps = key.split('/').slice(0, -1);
  return steps.map((_, index) => `${steps.slice(0, index + 1).join('/')}/`);
}

/** Milliseconds since the epoch; infinite for an unreadable marker, which the service keeps forever. */
async function keptUntil(store: ObjectStore, prefix: string): Promise<number> {
  const object = await store.get(endKey(prefix), { bytesMax: END_BYTES_MAX }).catch((error) => {
    // One corrupt marker must not prevent the deletion of everything else.
    if (isAppError(error, 'document_too_large')) return undefined;
    throw error;
  });
  if (object === undefined) return Number.POSITIVE_INFINITY;
  try {
    const marker: unknown = JSON.parse(Buffer.from(object.body).toString());
    const until = isRecord(marker) ? Date.parse(String(marker.kept_until)) : Number.NaN;
    return Number.isNaN(until) ? Number.POSITIVE_INFINITY : until;
  } catch {
    // Not JSON: the marker is corrupt.
    return Number.POSITIVE_INFINITY;
  }
}
