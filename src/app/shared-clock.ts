import type { Clock } from '../clock.ts';
import type { ObjectStore } from '../object-store/object-store.ts';

/** Less says nothing: the store tells whole seconds, and an answer takes its time. */
const OFFSET_MIN_MS = 2_000;

/**
 * The store's time, which every process on it shares, whatever the clocks of their machines say: ages of
 * sessions, links and messages are told by it. On a directory both are the clock of the machine.
 */
export function createSharedClock(clock: Clock, store: Pick<ObjectStore, 'clockOffsetMs'>): Clock {
  return {
    sleep: clock.sleep,
    now: () => {
      const offset = store.clockOffsetMs?.() ?? 0;
      return clock.now() + (Math.abs(offset) < OFFSET_MIN_MS ? 0 : Math.round(offset));
    },
  };
}
