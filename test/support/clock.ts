import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/core/clock.ts';
import { systemClock } from '../../src/core/system.ts';

export { createSeededRandomness } from '../../src/features/demo/seeded-randomness.ts';

/** A clock that moves only with `advance` and `sleep`. */
export interface FixedClock extends Clock {
  advance(ms: number): void;
}

export function createFixedClock(start = Date.parse('2026-11-21T09:00:00Z')): FixedClock {
  let now = start;
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      // Real clocks have whole milliseconds.
      now += Math.ceil(ms);
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/**
 * The real time plus all advances, or a time that begins at `start`. Short sleeps advance the clock at once; long sleeps
 * really wait.
 */
export function createHastyClock(start = systemClock.now()): Clock & { advance(ms: number): void } {
  const SKIPPED_MS_MAX = 10_000;
  let ahead = start - systemClock.now();
  return {
    now: () => systemClock.now() + ahead,
    sleep: async (ms, signal) => {
      if (ms > SKIPPED_MS_MAX) return systemClock.sleep(ms, signal);
      signal?.throwIfAborted();
      ahead += ms;
      // A loop that sleeps must let other tasks run.
      await setImmediate();
    },
    advance: (ms) => {
      ahead += ms;
    },
  };
}
