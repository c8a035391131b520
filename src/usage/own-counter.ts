import type { Clock, Randomness } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import {
  type Counted,
  dayOf,
  MINUTE_MS,
  type MinuteRow,
  subtractRows,
  sumMinutes,
  sumRows,
} from './counts.ts';
import { renderSnapshot, type Snapshot } from './documents.ts';
import { snapshotKey } from './keys.ts';
import { createWhileCurrent, type Listing } from './listing.ts';
import type { StoredCounts } from './stored-counts.ts';
import { TALLY_ROWS_MAX, type Tally } from './tally.ts';

/** The counter of this process: moves counts from the tally to the store, as snapshots. */
export interface OwnCounter {
  /** Changes when a day ends, when the counter is full, and when another process has closed it. */
  id(): string;
  /** What this process counted and {@link StoredCounts} does not have. */
  counted(): readonly Counted[];
  /**
   * Goes on in a new counter when the total has this one.
   *
   * @param wasAbsent whether totals may have forgotten the counter since this process last read them
   * @throws AppError the store's
   */
  leaveIfAdded(listing: Listing, wasAbsent: boolean): Promise<void>;
  /**
   * Stores what was counted since the last time. What the store does not confirm is kept and sent again.
   *
   * @throws AppError the store's
   */
  flush(listing: Listing): Promise<void>;
}

export interface OwnCounterDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly tally: Tally;
  readonly stored: StoredCounts;
  readonly minutesKeptMs: number;
}

export function createOwnCounter(deps: OwnCounterDeps): OwnCounter {
  const { store, clock, tally, stored } = deps;
  const open = (): Snapshot => ({
    counter: deps.randomness.id(),
    ...{ number: 0, isClosed: false, from: clock.now(), rows: [], minutes: [] },
  });
  /** The newest snapshot that is surely in the store; number 0 for none. */
  let settled = open();
  /** The next one. Its content stays the same until the store has confirmed it. */
  let pending: Snapshot | undefined;

  /** What is under the key then: this snapshot, or the one with which another process closed the counter. */
  const put = async (listing: Listing, snapshot: Snapshot): Promise<Snapshot | 'corrupt'> => {
    const { counter, number } = snapshot;
    const key = snapshotKey(counter, number);
    const outcome = await createWhileCurrent(deps, listing, key, renderSnapshot(snapshot));
    const found = outcome === 'created' ? snapshot : await stored.readSnapshot(counter, number);
    if (found !== 'missing' && found !== 'newer') return found;
    throw new AppError('store_unavailable', `${key} exists and cannot be read.`);
  };

  /** Goes on in a new counter with what the closed one does not have. */
  const moveOn = (closed: Pick<Snapshot, 'rows' | 'minutes'>): void => {
    const { rows, minutes } = pending ?? settled;
    const rest = subtractRows(rows, closed.rows);
    const lastMinute = Math.max(...closed.minutes.map(({ minute }) => minute));
    settled = open();
    pending =
      rest.length === 0
        ? undefined
        : {
            ...settled,
            number: 1,
            rows: rest,
            minutes: minutes.filter(({ minute }) => minute > lastMinute),
          };
  };

  const leaveIfAdded = async (listing: Listing, wasAbsent: boolean): Promise<void> => {
    const { counter } = settled;
    const added = stored.total()?.counters.get(counter);
    const isForgotten = wasAbsent && !listing.counters.has(counter);
    if (added === undefined && !isForgotten) return;
    const closed =
      added === undefined ? 'missing' : await stored.readSnapshot(counter, added.number);
    if (typeof closed === 'object') return moveOn(closed);
    if (pending !== undefined) {
      // It may have been stored, and to store it again would count it twice.
      deps.log.warn(
        { counter },
        'counts of one flush are given up: the store never confirmed them',
      );
    }
    moveOn(pending ?? settled);
  };

  const send = async (listing: Listing): Promise<void> => {
    while (pending !== undefined) {
      const found = await put(listing, pending);
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

  const prepare = (): void => {
    const taken = tally.take();
    if (taken === undefined) return;
    const isOver = dayOf(settled.from) !== dayOf(clock.now());
    if (settled.number > 0 && (isOver || settled.rows.length >= TALLY_ROWS_MAX)) {
      stored.addSnapshot(settled);
      settled = open();
    }
    pending = {
      ...settled,
      number: settled.number + 1,
      rows: sumRows([...settled.rows, ...taken.rows]),
      minutes: recentMinutes([...settled.minutes, ...taken.minutes]),
    };
  };

  const recentMinutes = (minutes: readonly MinuteRow[]): MinuteRow[] => {
    const oldest = (clock.now() - deps.minutesKeptMs) / MINUTE_MS;
    return sumMinutes(minutes.filter(({ minute }) => minute >= oldest));
  };

  /** The one before the newest is kept, in case the newest becomes corrupt. */
  const deleteSuperseded = async (listing: Listing): Promise<void> => {
    for (const { key, number } of listing.counters.get(settled.counter) ?? []) {
      if (number < settled.number - 1) await store.delete(key);
    }
  };

  return {
    id: () => settled.counter,
    leaveIfAdded,
    counted: () => [pending ?? settled, tally.peek()].filter((counted) => counted !== undefined),
    flush: async (listing) => {
      await send(listing);
      prepare();
      await send(listing);
      await deleteSuperseded(listing);
    },
  };
}
