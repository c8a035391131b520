import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { compareVersions, tryParseVersion } from '../../src/domain/version.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createSeries, type Names, SERIES_LIMITS, type Series } from '../../src/usage/series.ts';
import { createTally } from '../../src/usage/tally.ts';
import { createFixedClock } from '../support/clock.ts';
import { rounds } from '../support/rounds.ts';
import { countChecks, countLinks, createProcess, DAY, HOUR, MINUTE } from './support.ts';

const COUNTS = { checks: 1, offers: 0, links: 2 };
const namesOf = (version: string, rest: Partial<Names> = {}): Names => ({
  application: 'desktop',
  channel: 'stable',
  platform: 'windows',
  version,
  ...rest,
});
const keyOf = ({ application, channel, platform, version }: Names): string =>
  [application, channel, platform, version].join(' ');
const valuesOf = (all: Iterable<Series>): Map<string, number> =>
  new Map([...all].map((series) => [keyOf(series), series.checks]));

describe('series', () => {
  it('are one for each application, channel, platform and version', () => {
    const series = createSeries();
    series.add(namesOf('1.0.0'), COUNTS);
    series.add(namesOf('1.0.0'), { checks: 2, offers: 1, links: 0 });
    series.add(namesOf('1.0.0', { channel: 'beta' }), COUNTS);
    expect([...series.all()]).toEqual([
      { ...namesOf('1.0.0'), checks: 3, offers: 1, links: 2 },
      { ...namesOf('1.0.0', { channel: 'beta' }), ...COUNTS },
    ]);
  });

  it('of the oldest version end when an application has too many, and the version then counts as other', () => {
    const series = createSeries({ perApplication: 4, total: 100 });
    for (const version of ['1.2.0', '1.0.0', '1.1.0']) series.add(namesOf(version), COUNTS);
    series.add(namesOf('1.3.0'), COUNTS);
    expect([...valuesOf(series.all()).keys()]).toEqual([
      'desktop stable windows 1.2.0',
      'desktop stable windows 1.1.0',
      'desktop stable windows 1.3.0',
    ]);
    // Neither the ended version nor an older one displaces a newer one.
    series.add(namesOf('1.0.0'), COUNTS);
    series.add(namesOf('0.9.0'), COUNTS);
    const values = valuesOf(series.all());
    expect(values.get('desktop stable windows 1.3.0')).toBe(1);
    expect(values.get('desktop stable windows other')).toBe(2);
    expect(values.size).toBeLessThanOrEqual(4);
  });

  it('of the application with the most end when all together are too many', () => {
    const series = createSeries({ perApplication: 10, total: 8 });
    for (let i = 0; i < 6; i++) series.add(namesOf(`1.${i}.0`), COUNTS);
    for (const application of ['a', 'b']) series.add(namesOf('1.0.0', { application }), COUNTS);
    const keys = [...valuesOf(series.all()).keys()];
    expect(keys).toContain('a stable windows 1.0.0');
    expect(keys).toContain('b stable windows 1.0.0');
    expect(keys).not.toContain('desktop stable windows 1.0.0');
    expect(keys).toContain('desktop stable windows 1.5.0');
  });

  it('are bounded, only grow, never come back, and lose no new count, whatever is counted', () => {
    const version = fc.oneof(
      fc
        .tuple(fc.nat(4), fc.nat(4), fc.constantFrom('', '-rc.1', '+7'))
        .map(([minor, patch, rest]) => `1.${minor}.${patch}${rest}`),
      fc.constantFrom('other', 'unstated', 'not a version'),
    );
    const name = (prefix: string, max: number) => fc.nat(max).map((i) => `${prefix}${i}`);
    const added = fc.record({
      application: name('a', 4),
      channel: fc.oneof(name('c', 3), fc.constant('other')),
      platform: fc.oneof(name('p', 2), fc.constant('other')),
      version,
    });
    fc.assert(
      fc.property(
        fc.array(added, { minLength: 20, maxLength: 150, size: 'max' }),
        fc.integer({ min: 2, max: 9 }),
        fc.integer({ min: 2, max: 20 }),
        (all, perApplication, total) => {
          const series = createSeries({ perApplication, total });
          const ended = new Set<string>();
          let before = new Map<string, number>();
          for (const names of all) {
            series.add(names, COUNTS);
            const list = [...series.all()];
            const after = valuesOf(list);
            expect(list.length).toBeLessThanOrEqual(total);
            const own = list.filter(({ application }) => application === names.application);
            expect(own.length).toBeLessThanOrEqual(perApplication);
            let grown = 0;
            for (const [key, checks] of after) {
              expect(ended.has(key)).toBe(false);
              grown += checks - (before.get(key) ?? 0);
            }
            expect(grown).toBe(1);
            for (const key of before.keys()) if (!after.has(key)) ended.add(key);
            before = after;
            expectNewest(own, names);
          }
        },
      ),
      { numRuns: rounds(25, 100) },
    );
  });

  /** A version that counts as other is older than every version that has series. */
  function expectNewest(own: readonly Series[], { version: name }: Names): void {
    const version = tryParseVersion(name);
    if (version === undefined || own.some((series) => series.version === name)) return;
    for (const series of own) {
      const named = tryParseVersion(series.version);
      if (named !== undefined) expect(compareVersions(version, named)).toBeLessThanOrEqual(0);
    }
  }

  it('stay in their limits with 40,000 versions, channels and platforms that all are accepted', () => {
    const series = createSeries();
    for (let i = 0; i < 40_000; i++) {
      const made = { channel: `c${i % 1_000}`, platform: `p${i % 333}`, application: `a${i % 7}` };
      series.add(namesOf(`1.0.${(i * 7919) % 40_000}`, made), COUNTS);
    }
    const all = [...series.all()];
    expect(all.length).toBeLessThanOrEqual(SERIES_LIMITS.total);
    const largest = Math.max(
      ...[0, 1, 2, 3, 4, 5, 6].map(
        (i) => all.filter(({ application }) => application === `a${i}`).length,
      ),
    );
    expect(largest).toBeLessThanOrEqual(SERIES_LIMITS.perApplication);
    // No count is lost to the limits: the series that all applications share has the rest.
    const before = all.reduce((sum, { checks }) => sum + checks, 0);
    series.add(namesOf('9.0.0', { application: 'late' }), { checks: 7, offers: 0, links: 0 });
    const grown = [...series.all()].reduce((sum, { checks }) => sum + checks, 0);
    expect(grown).toBe(before + 7);
  });
});

describe('the series of a process', () => {
  it('are few, whatever versions and platforms clients make up', () => {
    const clock = createFixedClock();
    const series = createSeries();
    const tally = createTally({
      clock,
      series,
      isKnownVersion: (_application, _channel, version) => version === '1.0.0',
      minutesKeptMs: MINUTE,
    });
    for (let i = 0; i < 40_000; i++) {
      countChecks(tally, 1, { version: `2.0.${i}`, platform: `p${i}` });
      if (i % 10_000 === 0) tally.take();
    }
    countChecks(tally, 3);
    runAtOnce(tally.settleInSteps());
    expect([...series.all()]).toEqual([
      { ...namesOf('other', { platform: 'other' }), checks: 40_000, offers: 0, links: 0 },
      { ...namesOf('1.0.0'), checks: 3, offers: 0, links: 0 },
    ]);
  });

  it('have every count once: before and after a flush, over midnight, and while the store is down', async () => {
    const clock = createFixedClock();
    const usage = createProcess(createMemoryStore({ clock }), clock);
    const checksAndLinks = async (): Promise<readonly number[]> => {
      const series = await usage.series();
      return [
        series.reduce((sum, one) => sum + one.checks, 0),
        series.reduce((sum, one) => sum + one.links, 0),
      ];
    };
    let counted = 0;
    for (let round = 0; round < 40; round++) {
      countChecks(usage, round, { offered: '1.1.0' });
      countLinks(usage, round);
      counted += round;
      if (round % 3 === 0) expect(await checksAndLinks()).toEqual([counted, counted]);
      if (round % 4 === 0) await usage.refresh();
      clock.advance(round % 5 === 0 ? DAY : HOUR);
      expect(await checksAndLinks()).toEqual([counted, counted]);
    }
    expect(await usage.series()).toHaveLength(2);
  });
});
