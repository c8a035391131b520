import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicShares } from '../../src/usage/shares.ts';
import { rounds } from '../support/rounds.ts';

const shares = (groups: Record<string, number>, groupMin = 10) =>
  publicShares(Object.entries(groups), groupMin).map(({ name, percent }) => `${name} ${percent}`);

describe('public shares', () => {
  it('are whole percents, the largest first', () => {
    expect(shares({ linux: 100, windows: 200, macos: 33 })).toEqual([
      'windows 60',
      'linux 30',
      'macos 10',
    ]);
  });

  it('name no group below the minimum, and sum those as other', () => {
    expect(shares({ a: 100, b: 6, c: 9 })).toEqual(['a 87', 'other 13']);
  });

  it('hide a second group when a visitor could compute the first by subtraction', () => {
    expect(shares({ a: 100, b: 50, c: 9 })).toEqual(['a 63', 'other 37']);
    // What rounds to nothing does not show.
    expect(shares({ a: 5_000, b: 3 })).toEqual(['a 100']);
  });

  it('are empty for a small total, and without counts', () => {
    expect(shares({ a: 5, b: 4 })).toEqual([]);
    expect(shares({}, 1)).toEqual([]);
    expect(shares({ a: 5, b: 5 })).toEqual(['other 100']);
  });

  it('sum versions that the catalog does not know as other', () => {
    expect(shares({ '1.0.0': 50, other: 50 })).toEqual(['1.0.0 50', 'other 50']);
  });

  it('leave no remainder that is a small group, for any groups', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.nat({ max: 60 })),
        fc.integer({ min: 1, max: 30 }),
        (groups, groupMin) => {
          const shown = publicShares(Object.entries(groups), groupMin);
          const whole = Object.values(groups).reduce((sum, count) => sum + count, 0);
          const named = shown.filter(({ name }) => name !== 'other');
          for (const { name } of named) expect(groups[name]).toBeGreaterThanOrEqual(groupMin);
          if (shown.length === 0) {
            expect(whole).toBeLessThan(Math.max(groupMin, 1));
            return;
          }
          const rest = named.reduce((sum, { name }) => sum - (groups[name] ?? 0), whole);
          const isVisible = Math.round((100 * rest) / whole) > 0;
          if (isVisible) expect(rest).toBeGreaterThanOrEqual(groupMin);
          expect(shown.some(({ name }) => name === 'other')).toBe(rest >= groupMin);
        },
      ),
      { numRuns: rounds(200, 2_000) },
    );
  });
});
