import type { Randomness } from '../../core/clock.ts';

/**
 * Pseudo-random numbers from a seed. The same seed gives the same numbers, so a run can be repeated. The ids are valid
 * UUIDs.
 */
export function createSeededRandomness(seed: number): Randomness {
  let state = seed >>> 0;
  // The algorithm is Mulberry32.
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
