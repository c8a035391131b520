import type { Clock } from '../../src/core/clock.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createSharedClock } from '../../src/store/shared-clock.ts';
import { createSeededRandomness } from './clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
export const OFFSETS = [HOUR, -HOUR, DAY, -DAY, 400 * DAY, -400 * DAY, 90_000, -90_000];

/** A process whose clock is off, and how it sees the store. */
export function processOff(store: ObjectStore, storeClock: Clock, aheadMs: number) {
  const own = { ...storeClock, now: () => storeClock.now() + aheadMs };
  const seen: ObjectStore = { ...store, clockOffsetMs: () => storeClock.now() - own.now() };
  return {
    store: seen,
    clock: createSharedClock(own, seen),
    randomness: createSeededRandomness(aheadMs),
  };
}
