import type { Clock, Randomness } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { runInTurns } from '../core/run-in-turns.ts';
import type { Steps } from '../core/steps.ts';
import type { ObjectStore } from '../store/object-store.ts';
import {
  type Counted,
  dayOf,
  MINUTE_MS,
  subtractRows,
  sumMinutesInSteps,
  sumRowsInSteps,
} from './counts.ts';
import { renderSnapshot, type Snapshot } from './documents.ts';
import { snapshotKey } from './keys.ts';
import { createWhileCurrent, type Listing, requireCurrent } from './listing.ts';
import type { StoredCounts } from './stored-counts.ts';
import { TALLY_ROWS_MAX, type Tally } from './tally.ts';

/** The counter of this process. It moves counts from the tally to the store, as snapshots. */
export interface OwnCounter {
  /**
   * The id of the counter. It changes when a day ends, when the counter is full, and when another process closes the
   * counter.
   */
  id(): string;
  /** The counts of this process that {@link StoredCounts} does not have. */
  counted(): readonly Counted[];
  /**
   * Continues in a new counter when the total contains this counter.
   *
   * @param wasAbsent true when totals may have forgotten the counter since this process last read a total
   */
  leaveIfAdded(listing: Listing, wasAbsent: boolean): Promise<void>;
  /**
   * Stores the counts since the last call. It keeps counts that the store does not confirm, and sends these counts
   * again.
   */
  flush(listing: Listing): Promise<void>;
}

interface OwnCounterDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly tally: Tally;
  readonly stored: StoredCounts;
  readonly minutesKeptMs: number;
}

/**
 * Bounds a snapshot's size, because a snapshot that is too large could never be stored. With hundreds of applications
 * and a flush interval near an hour, a snapshot leaves out the oldest minutes, and public rates are too low.
 */
const MINUTE_ROWS_MAX = 20_000;

export function createOwnCounter(deps: OwnCounterDeps): OwnCounter {
  const { clock, tally, stored } = deps;
  /** The newest snapshot that the store has confirmed; its number is 0 before the first one. */
  let settled = openCounter(deps);
  /** The next snapshot. Its content stays the same until the store has confirmed it. */
  let pending: Snapshot | undefined;
  /** The counts that move from the tally to the next snapshot at this moment. */
  let moving: Counted | undefined;

  /** Continues in a new counter with the counts that the closed counter does not have. */
  const moveOn = (closed: Snapshot): void => {
    const own = pending ?? settled;
    settled = openCounter(deps);
    pending = restOf(own, closed, settled);
  };

  const send = async (listing: Listing): Promise<void> => {
    while (pending !== undefined) {
      const found = await putSnapshot(deps, listing, pending);
      if (found === 'corrupt') {
        pending = { ...pending, number: pending.number + 1 };
      } else if (found.isClosed) {
        stored.addSnapshot(found);
        moveOn(found);
      } else {
        settled = found;
        pending = undefined;
      }
    }
  };

  const prepare = async (): Promise<void> => {
    // `take` cannot run in steps, so this does most of its work before.
    await runInTurns(tally.settleInSteps());
    moving = tally.take();
    if (moving === undefined) return;
    const isOver = dayOf(settled.from) !== dayOf(clock.now());
    if (settled.number > 0 && (isOver || settled.rows.length >= TALLY_ROWS_MAX)) {
      stored.addSnapshot(settled);
      settled = openCounter(deps);
    }
    const minutesFrom = clock.now() - deps.minutesKeptMs;
    pending = await runInTurns(addCountedInSteps(settled, moving, minutesFrom));
    moving = undefined;
  };

  return {
    id: () => settled.counter,
    counted: () =>
      [pending ?? settled, moving, tally.peek()].filter((counted) => counted !== undefined),
    leaveIfAdded: async (listing, wasAbsent) => {
      const { counter } = settled;
      const added = stored.total()?.counters.get(counter);
      const isForgotten = wasAbsent && !listing.counters.has(counter);
      if (added === undefined && !isForgotten) return;
      const closed =
        added === undefined ? 'missing' : await stored.readSnapshot(counter, added.number);
      if (typeof closed === 'object') return moveOn(closed);
      if (pending !== undefined) {
        // The store may have this snapshot already. Storing it again would count it twice.
        const what = 'counts of one flush are given up: the store never confirmed them';
        deps.log.warn({ counter }, what);
      }
      moveOn(pending ?? settled);
    },
    flush: async (listing) => {
      await send(listing);
      // This check comes before `prepare`, so that the tally keeps counts that cannot be sent now. Once counts are in a
      // snapshot, this process must assume that the store may have them.
      requireCurrent(clock, listing);
      await prepare();
      await send(listing);
      await deleteSuperseded(deps, listing, settled);
    },
  };
}

function openCounter({ randomness, clock }: OwnCounterDeps): Snapshot {
  const counter = randomness.id();
  return { counter, number: 0, isClosed: false, from: clock.now(), rows: [], minutes: [] };
}

function* addCountedInSteps(
  before: Snapshot,
  { rows, minutes }: Counted,
  minutesFrom: number,
): Steps<Snapshot> {
  const recent = [...before.minutes, ...minutes].filter(
    ({ minute }) => minute >= minutesFrom / MINUTE_MS,
  );
  return {
    ...before,
    number: before.number + 1,
    rows: yield* sumRowsInSteps([...before.rows, ...rows]),
    minutes: (yield* sumMinutesInSteps(recent)).slice(-MINUTE_ROWS_MAX),
  };
}

/**
 * Stores the snapshot. Returns the snapshot that the store then has under its key: this one, or the copy with which
 * another process closed the counter.
 */
async function putSnapshot(
  deps: OwnCounterDeps,
  listing: Listing,
  snapshot: Snapshot,
): Promise<Snapshot | 'corrupt'> {
  const { counter, number } = snapshot;
  const key = snapshotKey(counter, number);
  const outcome = await createWhileCurrent(deps, listing, key, await renderSnapshot(snapshot));
  if (outcome === 'created') return snapshot;
  const found = await deps.stored.readSnapshot(counter, number);
  if (found !== 'missing' && found !== 'newer') return found;
  throw new AppError('store_unavailable', `${key} exists and cannot be read.`);
}

/** The first snapshot of the next counter; undefined when the closed counter has all counts. */
function restOf(own: Snapshot, closed: Snapshot, next: Snapshot): Snapshot | undefined {
  const rows = subtractRows(own.rows, closed.rows);
  if (rows.length === 0) return undefined;
  const last = Math.max(...closed.minutes.map(({ minute }) => minute));
  return { ...next, number: 1, rows, minutes: own.minutes.filter(({ minute }) => minute > last) };
}

/**
 * Deletes old snapshots of the counter. It keeps the snapshot before the newest, in case the newest becomes corrupt.
 */
async function deleteSuperseded(
  { store }: OwnCounterDeps,
  { counters }: Listing,
  newest: Snapshot,
): Promise<void> {
  for (const { key, number } of counters.get(newest.counter) ?? []) {
    if (number < newest.number - 1) await store.delete(key);
  }
}
