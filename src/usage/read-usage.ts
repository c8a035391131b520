import type { Clock } from '../core/clock.ts';
import { AppError, isAppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { runInTurns } from '../core/run-in-turns.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type Row, sumRowsInSteps } from './counts.ts';
import { type ListedObject, type Listing, listUsage } from './listing.ts';
import { createStoredCounts, type StoredCounts, type UnreadableDocument } from './stored-counts.ts';

/** The stored counts of all processes, for a process that counts nothing itself. */
export interface ReadUsage {
  /** One row for each UTC day, application, channel, platform and version; fewer for old days: see `condense.ts`. */
  readonly rows: readonly Row[];
  /** Milliseconds since the Unix epoch; undefined when there are no counts. */
  readonly countedSince: number | undefined;
  /** The time when the newest counts were stored, by the store's clock; milliseconds since the Unix epoch. */
  readonly newestAt: number | undefined;
  /** The documents that could not be read, by key. Their counts may be missing in `rows`. */
  readonly unreadable: readonly (UnreadableDocument & { readonly key: string })[];
}

/**
 * The most listings of one call. A service deletes a snapshot two flushes after it wrote the snapshot, so a slow reader
 * may need a newer listing.
 */
const LISTINGS_MAX = 5;

interface ReadUsageDeps {
  /** The private store, in which the service stores its counts. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  /** The reader calls this after each counter that it has read. */
  readonly onProgress?: (done: number, of: number) => void;
}

/**
 * Reads the newest total, and the newest snapshot of each counter that the total does not have. The result contains
 * each count once, even while services count and roll up. The function never writes.
 *
 * @throws AppError `store_unavailable`, also when services replaced the objects faster than they could be read
 */
export async function readUsage(deps: ReadUsageDeps): Promise<ReadUsage> {
  const stored = createStoredCounts(deps);
  for (let tries = 0; tries < LISTINGS_MAX; tries++) {
    const listing = await listUsage(deps.store, deps.clock);
    await readNewestTotal(stored, listing);
    await stored.readSnapshots(listing, undefined, deps.onProgress);
    if (isComplete(stored, listing)) return describe(stored, listing);
  }
  const why = `The counts were replaced ${LISTINGS_MAX} times while they were read. Run the command again.`;
  throw new AppError('store_unavailable', why);
}

/**
 * Leaves out a total that a newer release of Slipway wrote, as if this total were corrupt. The counters and an older
 * total contain most of its counts.
 */
async function readNewestTotal(stored: StoredCounts, listing: Listing): Promise<void> {
  for (let from = 0; from < listing.totals.length; from++) {
    try {
      return await stored.readTotal({ ...listing, totals: listing.totals.slice(from) });
    } catch (error) {
      if (!isAppError(error, 'document_newer')) throw error;
    }
  }
}

/** False when a service deleted a listed document before this process read it. A newer document then has its counts. */
function isComplete(stored: StoredCounts, { totals, counters }: Listing): boolean {
  const total = stored.total();
  const problemOf = ({ key }: ListedObject) => stored.unreadable().get(key)?.problem;
  const wantedTotal = totals.find((listed) => problemOf(listed) === undefined);
  if ((wantedTotal?.number ?? 0) > (total?.number ?? 0)) return false;
  return [...counters].every(([counter, listed]) => {
    if (total?.counters.has(counter) === true) return true;
    // When a newer release of Slipway wrote a snapshot, `readSnapshots` reads no older snapshot of this counter.
    const wanted = listed.find((one) => problemOf(one) !== 'corrupt');
    if (wanted === undefined || problemOf(wanted) === 'newer') return true;
    return wanted.number <= (stored.snapshots().get(counter)?.number ?? 0);
  });
}

async function describe(stored: StoredCounts, listing: Listing): Promise<ReadUsage> {
  const total = stored.total();
  const snapshots = [...stored.snapshots().values()];
  const rows = [...(total?.rows ?? []), ...snapshots.flatMap((snapshot) => snapshot.rows)];
  const beginnings = [total?.countedSince ?? [], snapshots.map(({ from }) => from)].flat();
  const written = [...listing.counters.values(), listing.totals].flat();
  return {
    rows: await runInTurns(sumRowsInSteps(rows)),
    countedSince: beginnings.length === 0 ? undefined : Math.min(...beginnings),
    newestAt:
      written.length === 0 ? undefined : Math.max(...written.map(({ writtenAt }) => writtenAt)),
    unreadable: [...stored.unreadable()].map(([key, problem]) => ({ key, ...problem })),
  };
}
