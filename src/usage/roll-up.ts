import pLimit from 'p-limit';
import type { Clock } from '../core/clock.ts';
import { runInTurns } from '../core/run-in-turns.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { condenseInSteps } from './condense.ts';
import { DAY_MS } from './counts.ts';
import {
  type AddedCounter,
  renderSnapshot,
  renderTotal,
  type Snapshot,
  type Total,
} from './documents.ts';
import { snapshotKey, totalKey } from './keys.ts';
import { createWhileCurrent, type Listing } from './listing.ts';
import type { StoredCounts } from './stored-counts.ts';

const HOUR_MS = 3_600_000;
/**
 * A counter is idle when it has had no new snapshot for this long. The time is longer than the time for which rates
 * need minutes, because totals have no minutes.
 */
const IDLE_MS = 2 * HOUR_MS;
const ROLL_UP_EVERY_MS = HOUR_MS;
/**
 * The time for which added counters stay in the store. A process that finds the newest total corrupt can read these
 * counters instead.
 */
export const ADDED_KEPT_MS = DAY_MS;
const TOTALS_KEPT_MS = 2 * DAY_MS;
const TOTALS_KEPT_MIN = 8;
/** A total names a closed counter for at least this long, so that the counter's process cannot continue the counter. */
export const REMEMBERED_MS = 7 * DAY_MS;
/**
 * The most tries to close a counter. After so many tries, the counter is still in use, because its process keeps
 * writing.
 */
const CLOSE_TRIES = 5;
const REQUESTS_AT_ONCE = 4;

interface RollUpDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly stored: StoredCounts;
}

/**
 * Closes the counters that no process has written for hours, and adds them to a new total.
 *
 * To close a counter, a process creates the counter's next number, as a copy of the last snapshot. If the counter's own
 * process is only slow, it then finds the number taken. So the content of a closed counter is final, and any number of
 * processes may roll up at once.
 */
export async function rollUp(deps: RollUpDeps, listing: Listing): Promise<void> {
  const { stored } = deps;
  const newest = listing.totals[0];
  if (newest !== undefined && listing.present - newest.writtenAt < ROLL_UP_EVERY_MS) return;
  const limit = pLimit(REQUESTS_AT_ONCE);
  const idle = [...stored.snapshots().values()].filter((one) => isIdle(deps, listing, one));
  const closed = await Promise.all(
    idle.map((snapshot) => limit(() => close(deps, listing, snapshot))),
  );
  const added = closed.filter((snapshot) => snapshot !== undefined);
  if (added.length === 0) return;
  const total = await nextTotal(stored.total(), added, listing);
  const outcome = await createWhileCurrent(
    deps,
    listing,
    totalKey(total.number),
    await renderTotal(total),
  );
  // Another process created the total first, or this process created it and the answer was lost. The next listing has
  // the total.
  if (outcome === 'exists') return;
  stored.addTotal(total);
  await Promise.all(removable(total, listing).map((key) => limit(() => deps.store.delete(key))));
}

function isIdle(
  { stored }: RollUpDeps,
  { counters, present }: Listing,
  { counter, isClosed }: Snapshot,
): boolean {
  const listed = counters.get(counter) ?? [];
  const isOld = present - (listed[0]?.writtenAt ?? 0) >= IDLE_MS;
  return (isOld || isClosed) && stored.hasNewest(counter, listed);
}

/** Closes a counter, and returns its last snapshot; undefined when the counter is still in use. */
async function close(
  deps: RollUpDeps,
  listing: Listing,
  newest: Snapshot,
): Promise<Snapshot | undefined> {
  const { counter } = newest;
  let last = newest;
  // The newest snapshot may be corrupt, but its number is taken.
  let number = Math.max(last.number, listing.counters.get(counter)?.[0]?.number ?? 0) + 1;
  for (let tries = 0; tries < CLOSE_TRIES && !last.isClosed; tries++, number++) {
    const copy = { ...last, number, isClosed: true };
    const key = snapshotKey(counter, number);
    const bytes = await renderSnapshot(copy);
    if ((await createWhileCurrent(deps, listing, key, bytes)) === 'created') return copy;
    const found = await deps.stored.readSnapshot(counter, number);
    if (found === 'missing' || found === 'newer') return undefined;
    if (found !== 'corrupt') last = found;
  }
  return last.isClosed ? last : undefined;
}

async function nextTotal(
  base: Total | undefined,
  added: readonly Snapshot[],
  { totals, counters, present }: Listing,
): Promise<Total> {
  const named = new Map<string, AddedCounter>();
  for (const [counter, entry] of base?.counters ?? []) {
    // If the total forgot a counter whose objects are in the store, a later total would count the counter again.
    const isKept = counters.has(counter) || present - entry.addedAt < REMEMBERED_MS;
    if (isKept) named.set(counter, entry);
  }
  const rows = [...(base?.rows ?? []), ...added.flatMap((snapshot) => snapshot.rows)];
  for (const { counter, number } of added) named.set(counter, { number, addedAt: present });
  return {
    number: Math.max(base?.number ?? 0, totals[0]?.number ?? 0) + 1,
    countedSince: Math.min(
      base?.countedSince ?? Number.POSITIVE_INFINITY,
      ...added.map(({ from }) => from),
    ),
    counters: named,
    rows: await runInTurns(condenseInSteps(rows, present)),
  };
}

/**
 * The keys to delete: the keys of counters that totals have contained for long enough, and of totals that no process
 * reads any more.
 */
function removable({ counters: added }: Total, { totals, counters, present }: Listing): string[] {
  const oldCounters = [...counters].filter(([counter]) => {
    const addedAt = added.get(counter)?.addedAt ?? Number.POSITIVE_INFINITY;
    return present - addedAt >= ADDED_KEPT_MS;
  });
  const oldTotals = totals
    .slice(TOTALS_KEPT_MIN)
    .filter(({ writtenAt }) => present - writtenAt >= TOTALS_KEPT_MS);
  return [...oldCounters.flatMap(([, objects]) => objects), ...oldTotals].map(({ key }) => key);
}
