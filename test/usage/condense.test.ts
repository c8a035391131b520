import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { condenseInSteps } from '../../src/usage/condense.ts';
import { type Counts, dayOf, EARLIER_DAYS, type Row } from '../../src/usage/counts.ts';
import { rounds } from '../support/rounds.ts';
import { DAY } from './support.ts';

const now = Date.parse('2026-11-21T09:00:00Z');

const rowOf = (age: number, version: string, links: number, application = 'desktop'): Row => ({
  day: dayOf(now - age * DAY),
  application,
  channel: 'stable',
  platform: 'linux',
  version,
  checks: 2 * links,
  offers: links,
  links,
});

const condense = (...given: Parameters<typeof condenseInSteps>): Row[] =>
  runAtOnce(condenseInSteps(...given));

const byText = (a: Row, b: Row): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const total = (counts: Iterable<Counts>): number => {
  let sum = 0;
  for (const { checks, offers, links } of counts) sum += checks + offers + links;
  return sum;
};

describe('condensed counts', () => {
  it('have detail for 90 days, one row a day for 400 days, then one sum', () => {
    const rows = [0, 89, 90, 399, 400, 900].flatMap((age) => [
      rowOf(age, '1.0.0', 1),
      rowOf(age, '1.1.0', 2),
    ]);
    const earlier = {
      ...rowOf(0, 'other', 1),
      day: EARLIER_DAYS,
      channel: 'other',
      platform: 'other',
    };
    const kept = condense([...rows, earlier], now);
    expect(kept.map(({ day, version, links }) => `${day} ${version} ${links}`).sort()).toEqual([
      '0000-00-00 other 7',
      '2025-10-18 other 3',
      '2026-08-23 other 3',
      '2026-08-24 1.0.0 1',
      '2026-08-24 1.1.0 2',
      '2026-11-21 1.0.0 1',
      '2026-11-21 1.1.0 2',
    ]);
    expect(condense(kept, now).sort(byText)).toEqual(kept.sort(byText));
  });

  it('have a bounded number of rows, and lose no count', () => {
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
          const kept = condense(rows, now, rowsMax);
          expect(kept.length).toBeLessThanOrEqual(rowsMax);
          expect(total(kept)).toBe(total(rows));
          // Again and again, as it happens to totals.
          expect(total(condense([...kept, ...rows], now + 50 * DAY, rowsMax))).toBe(
            2 * total(rows),
          );
        },
      ),
      { numRuns: rounds(100, 500) },
    );
  });
});
