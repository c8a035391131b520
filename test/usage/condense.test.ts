import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condense } from '../../src/usage/condense.ts';
import { type Counts, dayOf, type Row } from '../../src/usage/counts.ts';
import { DAY } from './support.ts';

const now = Date.parse('2026-11-21T09:00:00Z');

const rowOf = (age: number, version: string, links: number, application = 'desktop'): Row => ({
  ...{ day: dayOf(now - age * DAY), application, channel: 'stable', platform: 'linux', version },
  ...{ checks: 2 * links, offers: links, links },
});

const total = (counts: Iterable<Counts>): number => {
  let sum = 0;
  for (const { checks, offers, links } of counts) sum += checks + offers + links;
  return sum;
};

describe('what is kept of the past', () => {
  it('is detail for 90 days, a row a day for 400, then a sum', () => {
    const rows = [0, 89, 90, 399, 400, 900].flatMap((age) => [
      rowOf(age, '1.0.0', 1),
      rowOf(age, '1.1.0', 2),
    ]);
    const kept = condense(
      { rows, earlier: new Map([['desktop', { checks: 1, offers: 1, links: 1 }]]) },
      now,
    );
    expect(kept.rows.map(({ version, links }) => `${version} ${links}`)).toEqual([
      ...['1.0.0 1', '1.1.0 2', '1.0.0 1', '1.1.0 2'],
      ...['other 3', 'other 3'],
    ]);
    expect(kept.earlier.get('desktop')).toEqual({ checks: 13, offers: 7, links: 7 });
  });

  it('is bounded, and loses no count', () => {
    const row = fc.record({
      age: fc.nat({ max: 500 }),
      version: fc.constantFrom('1.0.0', '1.1.0', '1.2.0', '1.3.0'),
      links: fc.nat({ max: 9 }),
      application: fc.constantFrom('desktop', 'constructor'),
    });
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 120 }),
        fc.integer({ min: 5, max: 60 }),
        (drawn, rowsMax) => {
          const rows = drawn.map((one) => rowOf(one.age, one.version, one.links, one.application));
          const kept = condense({ rows, earlier: new Map() }, now, rowsMax);
          expect(kept.rows.length).toBeLessThanOrEqual(rowsMax);
          expect(total(kept.rows) + total(kept.earlier.values())).toBe(total(rows));
        },
      ),
      { numRuns: 500 },
    );
  });
});
