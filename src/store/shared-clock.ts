import type { Clock } from '../core/clock.ts';
import type { ObjectStore } from './object-store.ts';

/** A smaller offset is no evidence that the clocks differ: the store states whole seconds, and an answer takes time. */
const OFFSET_MIN_MS = 2_000;

/**
 * Creates a clock with the store's time, which all processes on a store share, even if the clocks of their machines are
 * wrong. The service measures the ages of sessions, links and messages with this clock. A directory store has the time
 * of its machine.
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
