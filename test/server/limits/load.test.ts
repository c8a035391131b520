import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLoad, type Load } from '../../../src/server/limits/load.ts';

/** The delay of a real event loop is tested in `server/health.test.ts`. */

/** Samples of one second, in milliseconds. */
type Samples = readonly number[];

const QUIET: Samples = Array.from({ length: 100 }, () => 10);
const BUSY: Samples = [400, 300, 300];

let samples: Samples;
let load: Load;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  samples = [];
  load = createLoad({
    get count() {
      return samples.length;
    },
    get mean() {
      return (samples.reduce((sum, each) => sum + each, 0) / samples.length) * 1e6;
    },
    reset: () => {
      samples = [];
    },
    enable: () => true,
    disable: () => true,
  });
});

afterEach(() => {
  load.stop();
  vi.useRealTimers();
});

/** @returns for each of the seconds, whether the service refuses requests after it */
function refusedAfter(...seconds: readonly Samples[]): boolean[] {
  return seconds.map((second) => {
    samples = second;
    vi.advanceTimersByTime(1_000);
    return load.isTooMuch();
  });
}

describe('createLoad', () => {
  it('refuses nothing before its first measurement, and nothing while the event loop is in time', () => {
    expect(load.isTooMuch()).toBe(false);
    expect(refusedAfter(QUIET, QUIET, QUIET)).toEqual([false, false, false]);
  });

  it.each([
    ['a second', [1_000]],
    ['a minute', [60_000]],
    ['longer than anything was measured', []],
  ])('refuses nothing after one pause of %s', (_length, pause) => {
    expect(refusedAfter(QUIET, pause, QUIET, QUIET)).toEqual([false, false, false, false]);
  });

  it('refuses requests from the second late second on, until one is in time', () => {
    expect(refusedAfter(BUSY, BUSY, BUSY, QUIET)).toEqual([false, true, true, false]);
  });

  it('refuses requests when the event loop comes to no sample in two seconds', () => {
    expect(refusedAfter([], [])).toEqual([false, true]);
  });

  it('allows a mean delay of 250 ms', () => {
    expect(refusedAfter([260], [260])).toEqual([false, false]);
    expect(refusedAfter([261], [261])).toEqual([false, true]);
  });
});
