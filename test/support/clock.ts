import { setImmediate } from 'node:timers/promises';
import type { Clock, Randomness } from '../../src/clock.ts';
import { systemClock } from '../../src/system.ts';

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

/** Pseudo-random numbers from a seed, so that a failure can be repeated. The ids are valid UUIDs. */
export function createSeededRandomness(seed: number): Randomness {
  let state = seed >>> 0;
  // Mulberry32.
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(fraction() * 16).toString(16)).join('');
  return { fraction, id: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}` };
}

/** The real time plus all advances. Short sleeps advance the clock at once; long sleeps really wait. */
export function createHastyClock(): Clock & { advance(ms: number): void } {
  const SKIPPED_MS_MAX = 10_000;
  let ahead = 0;
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
