import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFreezeWindow } from '../../src/domain/freeze-window.ts';
import {
  BUCKETS,
  bucketOf,
  bucketSeed,
  installationHash,
} from '../../src/domain/installation-bucket.ts';
import { admits, createRolloutStages, shareAt } from '../../src/domain/rollout.ts';
import {
  elapsedAt,
  type PlanClock,
  type RolloutPlan,
  rampOf,
  runningMs,
} from '../../src/domain/rollout-plan.ts';
import { parseRollout } from '../../src/domain/rollout-text.ts';
import { rounds } from '../support/rounds.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const STARTED: PlanClock = { at: NOW, elapsedMs: 0, isRunning: true };

const plan = (text: string, ...windows: string[]): RolloutPlan => parseRollout(text, windows, NOW);
/** The share after some hours. */
const sharesOf = (text: string, hours: readonly number[], ...windows: string[]) => {
  const ramp = rampOf(plan(text, ...windows), STARTED);
  return hours.map((hour) => shareAt(ramp, NOW + hour * HOUR));
};

const anyPlan: fc.Arbitrary<RolloutPlan> = fc
  .record({
    steps: fc.uniqueArray(fc.nat(200 * HOUR), { minLength: 1, maxLength: 6 }),
    shares: fc.array(fc.nat(BUCKETS), { minLength: 6, maxLength: 6 }),
    isLinear: fc.boolean(),
    windows: fc.subarray([
      'Fri 16:00..Mon 08:00 Europe/Berlin',
      'Wed 00:30..Wed 04:00 America/Los_Angeles',
      'Sun 01:00..Sun 04:00 Europe/London',
    ]),
  })
  .map(({ steps, shares, isLinear, windows }) => {
    const sorted = shares.toSorted((a, b) => a - b);
    return {
      text: '',
      steps: steps
        .toSorted((a, b) => a - b)
        .map((afterMs, index) => ({ afterMs, share: sorted[index] ?? 0 })),
      isLinear,
      windows: windows.map((text) => parseFreezeWindow(text)).filter((w) => w !== undefined),
    };
  });

const anyTimes = fc.array(fc.integer({ min: -HOUR, max: 800 * HOUR }), {
  minLength: 1,
  maxLength: 4,
});

describe('a rollout', () => {
  it('has the share of the last step', () => {
    const text = '1%@0h,10%@6h,50%@24h,100%@48h';
    expect(sharesOf(text, [-1, 0, 5.99, 6, 23, 24, 47.99, 48, 10_000])).toEqual([
      100, 100, 100, 1000, 1000, 5000, 5000, 10_000, 10_000,
    ]);
    expect(sharesOf('5%@6h', [0, 5, 6])).toEqual([0, 0, 500]);
    expect(sharesOf('25%', [-1, 0, 1000])).toEqual([2500, 2500, 2500]);
  });

  it('grows evenly between the steps of a linear plan', () => {
    expect(sharesOf('linear 0%@0h,50%@10h,100%@20h', [0, 1, 5, 10, 15, 20, 30])).toEqual([
      0, 500, 2500, 5000, 7500, 10_000, 10_000,
    ]);
  });

  it('reads absolute times', () => {
    expect(sharesOf('1%@2026-11-20T12:00:00Z,100%@2026-11-21T13:00+01:00', [0, 23.9, 24])).toEqual([
      100, 100, 10_000,
    ]);
  });

  it('stands still in freeze windows', () => {
    // Friday, 12:00 UTC; the window is from 15:00 on Friday to 07:00 UTC on Monday.
    const window = 'Fri 16:00..Mon 08:00 Europe/Berlin';
    expect(sharesOf('1%@0h,10%@2h,50%@4h', [2, 3, 4, 66, 67, 67.9, 68], window)).toEqual([
      1000, 1000, 1000, 1000, 1000, 1000, 5000,
    ]);
    const linear = sharesOf('linear 0%@0h,100%@10h', [3, 4, 40, 67, 68, 74], window);
    expect(linear).toEqual([3000, 3000, 3000, 3000, 4000, 10_000]);
    // An absolute time in a window takes effect at its end.
    expect(sharesOf('1%@0h,50%@2026-11-21T12:00:00Z', [24, 67, 67.01], window)).toEqual([
      100, 100, 5000,
    ]);
  });

  it('knows daylight-saving time', () => {
    const window = parseFreezeWindow('Sat 20:00..Sun 20:00 Europe/Berlin');
    if (window === undefined) throw new Error('not a window');
    const week = 7 * 24 * HOUR;
    // The clock is put forward on 2026-03-29 and back on 2026-10-25.
    for (const [monday, hours] of [
      ['2026-03-22T23:00:00Z', 23],
      ['2026-06-21T22:00:00Z', 24],
      ['2026-10-18T22:00:00Z', 25],
    ] as const) {
      const start = Date.parse(monday);
      expect((week - runningMs([window], start, start + week)) / HOUR).toBe(hours);
    }
    // 02:30 does not exist on that day: it is 03:30 summer time.
    const gap = parseFreezeWindow('Sun 02:30..Sun 04:00 Europe/Berlin');
    if (gap === undefined) throw new Error('not a window');
    const start = Date.parse('2026-03-29T00:00:00Z');
    expect(5 * HOUR - runningMs([gap], start, start + 5 * HOUR)).toBe(HOUR / 2);
  });

  it('goes on after a freeze from where it stood', () => {
    const four = plan('1%@0h,10%@6h,100%@12h');
    const frozen: PlanClock = {
      at: NOW + 8 * HOUR,
      elapsedMs: elapsedAt(four, STARTED, NOW + 8 * HOUR),
      isRunning: false,
    };
    expect(shareAt(rampOf(four, frozen), NOW + 1000 * HOUR)).toBe(1000);
    const later = NOW + 100 * HOUR;
    const elapsedMs = elapsedAt(four, frozen, later);
    const ramp = rampOf(four, { at: later, elapsedMs, isRunning: true });
    expect([0, 3.9, 4].map((hours) => shareAt(ramp, later + hours * HOUR))).toEqual([
      1000, 1000, 10_000,
    ]);
  });

  it('never shrinks, ends at its last step, and a freeze changes no share', () => {
    fc.assert(
      fc.property(anyPlan, anyTimes, (any, times) => {
        const ramp = rampOf(any, STARTED);
        const shares = times.toSorted((a, b) => a - b).map((ms) => shareAt(ramp, NOW + ms));
        expect(shares).toEqual(shares.toSorted((a, b) => a - b));
        expect(shareAt(ramp, NOW + 2000 * HOUR)).toBe(any.steps.at(-1)?.share);
        for (const ms of times) {
          const at = NOW + Math.max(0, ms);
          const clock = { at, elapsedMs: elapsedAt(any, STARTED, at), isRunning: true };
          const before = shareAt(ramp, at);
          expect(Math.abs(shareAt(rampOf(any, clock), at) - before)).toBeLessThanOrEqual(1);
          const frozen = rampOf(any, { ...clock, isRunning: false });
          expect(shareAt(frozen, at + 100 * HOUR)).toBe(shareAt(rampOf(any, clock), at));
        }
      }),
      { numRuns: rounds(20, 40) },
    );
  });

  it('reports when it is partial and when it is complete', () => {
    fc.assert(
      fc.property(fc.array(anyPlan, { maxLength: 4 }), anyTimes, (plans, times) => {
        const rollouts = plans.map((any) => ({ seed: 1, ramp: rampOf(any, STARTED) }));
        const stageAt = createRolloutStages(rollouts);
        for (const ms of times) {
          const shares = rollouts.map(({ ramp }) => shareAt(ramp, NOW + ms));
          const stage = stageAt(NOW + ms);
          expect(stage.completed).toBe(shares.filter((share) => share === BUCKETS).length);
          if (shares.some((share) => share > 0 && share < BUCKETS)) {
            expect(stage.isPartial).toBe(true);
          }
        }
      }),
    );
  });
});

describe('buckets', () => {
  const seeds = ['a', 'b'].map(bucketSeed);
  const idOf = (n: number) => installationHash('desktop', `installation-${n}`);

  it('come from FNV-1a and MurmurHash3', () => {
    // Of the reference implementation: of the four bytes of the word.
    expect(bucketOf(0, 0)).toBe(0x2362f9de % BUCKETS);
    expect(bucketOf(0x9747b28c, Buffer.from('aaaa').readInt32LE())).toBe(0x5a97808a % BUCKETS);
    expect(bucketOf(0, 0x87654321)).toBe(0xf55b516b % BUCKETS);
    expect(bucketOf(0x5082edee, 0x87654321)).toBe(0x2362f9de % BUCKETS);
    // Of FNV-1a: of no text, and of "foobar".
    expect(bucketSeed('') >>> 0).toBe(0x811c9dc5);
    expect(bucketSeed('foobar') >>> 0).toBe(0xbf9cf968);
    expect(installationHash('foo', 'bar')).toBe(bucketSeed('foobar'));
  });

  it('are sticky, differ between applications, and admit at every share what a smaller one admits', () => {
    const ramps = Array.from({ length: BUCKETS + 1 }, (_, share) => ({
      points: [{ at: 0, share }],
      isLinear: false,
    }));
    const [seed = 0] = seeds;
    for (let n = 0; n < 15; n++) {
      const bucket = bucketOf(seed, idOf(n));
      expect(bucketOf(seed, idOf(n))).toBe(bucket);
      for (const [share, ramp] of ramps.entries()) {
        expect(admits({ seed, ramp }, idOf(n), 1)).toBe(share > bucket);
      }
    }
    const other = installationHash('other', 'installation-1');
    expect(bucketOf(seed, other)).not.toBe(bucketOf(seed, idOf(1)));
    expect(bucketSeed('a')).toBe(bucketSeed('a'));
  });

  it('admit no client at 0 %, and clients without an id at 100 % only', () => {
    const at = (share: number) => ({
      seed: 7,
      ramp: { points: [{ at: 0, share }], isLinear: false },
    });
    for (let n = 0; n < 1000; n++) expect(admits(at(0), idOf(n), 1)).toBe(false);
    expect([0, 9999, 10_000].map((share) => admits(at(share), null, 1))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('share a million installations out evenly, and independently between two releases', () => {
    const [a = 0, b = 0] = seeds;
    const counts = new Uint32Array(BUCKETS);
    let [both, early] = [0, 0];
    for (let n = 0; n < 1_000_000; n++) {
      const id = idOf(n);
      const bucket = bucketOf(a, id);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      if (bucket >= 1000) continue;
      early += 1;
      if (bucketOf(b, id) < 1000) both += 1;
    }
    // Chi-squared with 9,999 degrees of freedom: 10,600 is above the 99.999th percentile.
    const chi = counts.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
    expect(chi).toBeGreaterThan(9_400);
    expect(chi).toBeLessThan(10_620);
    // Of 100,000 early ones, 10 % are early again: 10,000, with a standard deviation of 95.
    expect(Math.abs(both - early / 10)).toBeLessThan(500);
  });
});
