import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { createRetrying } from '../store/sequence/create-settled.ts';
import { getOrCreate } from './counts.ts';
import { parseUsageKey, USAGE_ROOT } from './keys.ts';

export interface ListedObject {
  readonly key: string;
  readonly number: number;
  /** Milliseconds since the Unix epoch, by the store's clock. */
  readonly writtenAt: number;
}

/** All objects of the usage counts in the store, as one listing shows them. */
export interface Listing {
  /** The highest number first. */
  readonly totals: readonly ListedObject[];
  /** By counter id, the highest number first. */
  readonly counters: ReadonlyMap<string, readonly ListedObject[]>;
  /**
   * The present time or an earlier time, in milliseconds since the Unix epoch. All ages are measured from this time, so
   * that neither a fast clock of this process nor a wrong time in the store makes an object look too old.
   */
  readonly present: number;
  /** The time when this process requested the listing, in milliseconds since the Unix epoch. */
  readonly askedAt: number;
}

const CURRENT_MAX_MS = 3_600_000;

export async function listUsage(store: ObjectStore, clock: Clock): Promise<Listing> {
  const totals: ListedObject[] = [];
  const counters = new Map<string, ListedObject[]>();
  const askedAt = clock.now();
  let newest = 0;
  for await (const { key, lastModified } of store.list(USAGE_ROOT)) {
    const name = parseUsageKey(key);
    if (name === undefined) continue;
    const writtenAt = lastModified.getTime();
    newest = Math.max(newest, writtenAt);
    const objects =
      name.counter === undefined ? totals : getOrCreate(counters, name.counter, () => []);
    objects.push({ key, number: name.number, writtenAt });
  }
  for (const objects of [totals, ...counters.values()]) {
    objects.sort((a, b) => b.number - a.number);
  }
  return { totals, counters, present: Math.min(newest, askedAt), askedAt };
}

/**
 * Refuses to write when the listing is old, for example after a pause of the machine. Since then, other processes may
 * have taken, used and deleted keys.
 *
 * @throws AppError `store_unavailable`
 */
export function requireCurrent(clock: Clock, { askedAt }: Listing): void {
  if (clock.now() - askedAt <= CURRENT_MAX_MS) return;
  throw new AppError('store_unavailable', 'No counts are written: this process was paused.');
}

/**
 * Creates an object if its key is free.
 *
 * @returns `exists` also when this call created the object and the answer was lost
 * @throws AppError `store_unavailable`: the object may exist then
 */
export async function createWhileCurrent(
  deps: { readonly store: ObjectStore; readonly clock: Clock },
  listing: Listing,
  key: string,
  bytes: Uint8Array,
): Promise<'created' | 'exists'> {
  requireCurrent(deps.clock, listing);
  return createRetrying(deps, key, bytes);
}
