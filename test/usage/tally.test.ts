import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { createSeries } from '../../src/usage/series.ts';
import { createTally, TALLY_ROWS_MAX } from '../../src/usage/tally.ts';
import { createFixedClock } from '../support/clock.ts';
import { countChecks, countLinks, DAY, MINUTE } from './support.ts';

function createCounting(isKnownVersion = (version: string) => version.startsWith('1.')) {
  const clock = createFixedClock(Date.parse('2026-11-21T23:58:30Z'));
  let asked = 0;
  const series = createSeries({ perApplication: 1_000, total: 1_000 });
  const tally = createTally({
    clock,
    isKnownVersion: (_application, _channel, version) => {
      asked++;
      return isKnownVersion(version);
    },
    series,
    minutesKeptMs: 10 * MINUTE,
  });
  return { clock, tally, series, asked: () => asked };
}

describe('the counts of a process', () => {
  it('is a check of the version that the client runs, an offer of the offered one, a link of the linked one', () => {
    const { tally } = createCounting();
    countChecks(tally, 3, { offered: '1.1.0' });
    countChecks(tally, 2, { version: null });
    countLinks(tally, 4);
    const group = {
      day: '2026-11-21',
      application: 'desktop',
      channel: 'stable',
      platform: 'windows',
    };
    expect(tally.take()?.rows).toEqual([
      { ...group, version: '1.0.0', checks: 3, offers: 0, links: 0 },
      { ...group, version: '1.1.0', checks: 0, offers: 3, links: 4 },
      { ...group, version: 'unstated', checks: 2, offers: 0, links: 0 },
    ]);
    expect(tally.take()).toBeUndefined();
  });

  it('has one row for all versions and platforms that clients make up', () => {
    const { tally } = createCounting();
    for (let i = 0; i < 50_000; i++)
      countChecks(tally, 1, { version: `9.0.${i}`, platform: `p${i}` });
    expect(tally.take()?.rows).toMatchObject([
      { version: 'other', platform: 'other', checks: 50_000 },
    ]);
  });

  it('settles in steps what it settles at once, whatever is counted or taken between the steps', () => {
    const change = fc.oneof(
      fc.record({ count: fc.integer({ min: 1, max: 5 }), version: fc.nat(400) }),
      fc.constant('take' as const),
      fc.constant('step' as const),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const { tally, series } = createCounting();
        for (let i = 0; i < 120; i++) countChecks(tally, 1, { version: `1.${i}.0` });
        let counted = 120;
        let steps = tally.settleInSteps();
        for (const each of changes) {
          if (each === 'take') tally.take();
          else if (each === 'step') {
            if (steps.next().done === true) steps = tally.settleInSteps();
          } else {
            countChecks(tally, each.count, { version: `1.${each.version}.0` });
            counted += each.count;
          }
        }
        runAtOnce(tally.settleInSteps());
        const sum = [...series.all()].reduce((checks, one) => checks + one.checks, 0);
        expect(sum).toBe(counted);
      }),
    );
  });

  it('asks the catalog once for each known version, and does not fail when the catalog fails', () => {
    const counting = createCounting();
    countChecks(counting.tally, 1_000);
    expect(counting.asked()).toBe(1);
    const broken = createCounting(() => {
      throw new Error('no catalog yet');
    });
    countChecks(broken.tally, 2);
    expect(broken.tally.take()?.rows).toMatchObject([{ version: 'other', checks: 2 }]);
  });

  it('has one row for each application and minute, however often it is looked at', () => {
    const { tally, clock } = createCounting();
    for (let second = 0; second < 120; second++) {
      countChecks(tally, 1);
      tally.peek();
      clock.advance(1_000);
    }
    const minutes = tally.peek()?.minutes ?? [];
    expect(minutes.map(({ checks }) => checks)).toEqual([30, 60, 30]);
    expect(tally.take()?.minutes).toEqual(minutes);
    countChecks(tally, 1);
    expect(tally.take()?.minutes).toMatchObject([{ checks: 1 }]);
  });

  it('stays in bounded memory, however many versions there are, and loses no count', () => {
    const { tally, clock } = createCounting();
    for (let i = 0; i < 3 * TALLY_ROWS_MAX; i++) countChecks(tally, 1, { version: `1.0.${i}` });
    clock.advance(DAY);
    countChecks(tally, 5);
    const rows = tally.take()?.rows ?? [];
    expect(rows.length).toBe(TALLY_ROWS_MAX + 2);
    expect(rows.reduce((sum, { checks }) => sum + checks, 0)).toBe(3 * TALLY_ROWS_MAX + 5);
  });

  it('belongs to its UTC day and minute, and old minutes are dropped', () => {
    const { tally, clock } = createCounting();
    countChecks(tally, 1, { offered: '1.1.0' });
    clock.advance(2 * MINUTE);
    countChecks(tally, 2);
    // Looking does not take away, and does not count again.
    expect(tally.peek()?.rows.length).toBe(3);
    countChecks(tally, 4);
    const { rows = [], minutes = [] } = tally.peek() ?? {};
    expect(rows.map(({ day, checks }) => [day, checks])).toEqual([
      ['2026-11-21', 1],
      ['2026-11-21', 0],
      ['2026-11-22', 6],
    ]);
    const midnight = Date.parse('2026-11-22T00:00:00Z') / MINUTE;
    expect(
      minutes.map(({ minute, checks, offers }) => [minute - midnight, checks, offers]),
    ).toEqual([
      [-2, 1, 1],
      [0, 6, 0],
    ]);
    clock.advance(12 * MINUTE);
    countChecks(tally, 1);
    expect(tally.take()?.minutes.map(({ checks }) => checks)).toEqual([1]);
  });

  it('is kept when the clock is set back', () => {
    const { tally, clock } = createCounting();
    countChecks(tally, 1);
    clock.advance(-DAY);
    countChecks(tally, 1);
    expect(tally.take()?.rows.map(({ day }) => day)).toEqual(['2026-11-21', '2026-11-20']);
  });
});
