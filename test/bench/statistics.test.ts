import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, medianInterval } from '../../scripts/bench/statistics.ts';

const VALUES = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), {
  minLength: 1,
  maxLength: 40,
});
const CONFIDENCE = fc.double({ min: 0.5, max: 0.999, noNaN: true });

/** For values that are each above or below the median: the share of all cases in which the interval contains it. */
function coverage(count: number, confidence: number): number {
  let covered = 0;
  for (let coins = 0; coins < 2 ** count; coins++) {
    const values = Array.from({ length: count }, (_, at) => ((coins >> at) & 1 ? 1 : -1));
    const { low, high } = medianInterval(values, confidence);
    if (low < 0 && high > 0) covered++;
  }
  return covered / 2 ** count;
}

describe('the interval of a median', () => {
  it('contains the true median as often as it says, and is not wider than it needs to be', () => {
    for (const confidence of [0.5, 0.8, 0.95, 0.99]) {
      for (let count = 1; count <= 12; count++) {
        expect(coverage(count, confidence)).toBeGreaterThanOrEqual(confidence);
        // A little more confidence than it has would need a wider interval.
        const exact = coverage(count, confidence);
        if (exact < 1) expect(coverage(count, exact + 1e-9)).toBeGreaterThan(exact);
      }
    }
  });

  it('contains the median of the values, and is infinite when the values are too few', () => {
    fc.assert(
      fc.property(VALUES, CONFIDENCE, (values, confidence) => {
        const { low, high } = medianInterval(values, confidence);
        expect(low).toBeLessThanOrEqual(median(values));
        expect(high).toBeGreaterThanOrEqual(median(values));
        expect(Number.isFinite(low)).toBe(2 * 0.5 ** values.length <= 1 - confidence);
        expect(Number.isFinite(high)).toBe(Number.isFinite(low));
      }),
    );
  });

  it('does not depend on the order or the unit, and grows with the confidence', () => {
    fc.assert(
      fc.property(VALUES, CONFIDENCE, CONFIDENCE, (values, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const { low, high } = medianInterval(values, less);
        expect(medianInterval(values.toReversed(), less)).toEqual({ low, high });
        const doubled = values.map((value) => 2 * value);
        expect(medianInterval(doubled, less)).toEqual({ low: 2 * low, high: 2 * high });
        const wider = medianInterval(values, more);
        expect(wider.low).toBeLessThanOrEqual(low);
        expect(wider.high).toBeGreaterThanOrEqual(high);
      }),
    );
  });

  it('is narrow for thousands of values', () => {
    const values = Array.from({ length: 5_000 }, (_, index) => index);
    expect(medianInterval(values, 0.95)).toEqual({ low: 2_430, high: 2_569 });
  });
});
