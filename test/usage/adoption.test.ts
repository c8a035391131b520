import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { describeAdoption, periodOf, summarizeUsage } from '../../src/usage/adoption.ts';
import { condenseInSteps, DAILY_DAYS, DETAIL_DAYS } from '../../src/usage/condense.ts';
import { dayOf, EARLIER_DAYS, OTHER, type Row } from '../../src/usage/counts.ts';
import { rounds } from '../support/rounds.ts';
import { DAY } from './support.ts';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const TODAY = '2026-11-22';

function row(version: string, checks: number, rest: Partial<Row> = {}): Row {
  const group = { day: TODAY, application: 'desktop', channel: 'stable', platform: 'windows' };
  return { ...group, version, checks, offers: 0, links: 0, ...rest };
}

const query = (days: number, channel?: string) => ({
  application: 'desktop',
  channel,
  ...periodOf(NOW, days),
});

describe('a period', () => {
  it('is that many UTC days, and ends with the day that is not over', () => {
    expect(periodOf(NOW, 1)).toEqual({ from: TODAY, to: TODAY });
    expect(periodOf(NOW, 30)).toEqual({ from: '2026-10-24', to: TODAY });
  });
});

describe('the use of all versions', () => {
  it('is listed newest first, with clients that state no version and other versions at the end', () => {
    const rows = [
      row('unstated', 10),
      row('1.9.0', 20),
      row('1.10.0', 30),
      row('2.0.0-beta.1', 5, { channel: 'beta', platform: 'linux' }),
      row('other', 15),
      row('1.9.0', 20, { day: '2026-11-21', links: 3 }),
    ];
    const { versions, platforms, channels, whole } = summarizeUsage(rows, query(30), ['1.11.0']);
    expect(versions.map(({ name, checks, share }) => [name, checks, share])).toEqual([
      ['2.0.0-beta.1', 5, 0.05],
      ['1.11.0', 0, 0],
      ['1.10.0', 30, 0.3],
      ['1.9.0', 40, 0.4],
      ['unstated', 10, 0.1],
      ['other', 15, 0.15],
    ]);
    expect(whole).toEqual({ checks: 100, offers: 0, links: 3 });
    expect(platforms.map(({ name, checks }) => [name, checks])).toEqual([
      ['windows', 95],
      ['linux', 5],
    ]);
    expect(channels.map(({ name }) => name)).toEqual(['stable', 'beta']);
  });

  it('leaves out other applications, other channels and other days', () => {
    const rows = [
      row('1.0.0', 1),
      row('1.0.0', 2, { application: 'mobile' }),
      row('1.0.0', 4, { channel: 'beta' }),
      row('1.0.0', 8, { day: '2026-11-21' }),
      row('1.0.0', 16, { day: EARLIER_DAYS }),
    ];
    expect(summarizeUsage(rows, query(1)).whole.checks).toBe(5);
    expect(summarizeUsage(rows, query(2, 'stable')).whole.checks).toBe(9);
    expect(summarizeUsage(rows, query(DAILY_DAYS)).whole.checks).toBe(13);
  });

  it('has no shares without checks', () => {
    const { versions } = summarizeUsage([row('1.0.0', 0, { links: 1 })], query(1));
    expect(versions).toMatchObject([{ share: null, links: 1 }]);
    expect(summarizeUsage([], query(1))).toMatchObject({ versions: [], whole: { checks: 0 } });
  });

  it('states counts apart whose versions and channels were not kept, and makes them part of no share', () => {
    const old = NOW - (DETAIL_DAYS + 5) * DAY;
    const rows = [
      row('1.0.0', 70, { day: dayOf(old) }),
      row('1.1.0', 30, { day: dayOf(old) }),
      row('1.1.0', 8),
      row('1.0.0', 2),
    ];
    const condensed = runAtOnce(condenseInSteps(rows, NOW));
    const all = summarizeUsage(condensed, query(DAILY_DAYS));
    expect(all.withoutDetail).toEqual({ days: 1, checks: 100, offers: 0, links: 0 });
    expect(all.versions.map(({ name, share }) => [name, share])).toEqual([
      ['1.1.0', 0.8],
      ['1.0.0', 0.2],
    ]);
    const stable = summarizeUsage(condensed, query(DAILY_DAYS, 'stable'));
    expect(stable).toMatchObject({ whole: { checks: 10 }, withoutDetail: { checks: 100 } });
    const { days } = describeAdoption(condensed, { ...query(DAILY_DAYS), version: '1.1.0' });
    expect(days.filter(({ isDetailed }) => !isDetailed).map(({ name }) => name)).toEqual([
      dayOf(old),
    ]);
  });

  it('counts every check of the period once, whatever the versions are called', () => {
    const name = fc.oneof(
      fc.constantFrom('1.0.0', '1.1.0', '2.0.0-rc.1', 'unstated', OTHER),
      fc.string({ minLength: 1, maxLength: 12 }),
    );
    const rows = fc.array(
      fc.record({
        version: name,
        platform: fc.constantFrom('windows', 'linux', OTHER),
        channel: fc.constantFrom('stable', 'beta', OTHER),
        checks: fc.nat({ max: 1000 }),
        ago: fc.nat({ max: 40 }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 40 }), (all, days) => {
        const stored = all.map(({ ago, version, ...rest }) =>
          row(version, 0, { ...rest, day: dayOf(NOW - ago * DAY) }),
        );
        const expected = all.reduce((sum, one) => sum + (one.ago < days ? one.checks : 0), 0);
        const found = summarizeUsage(stored, query(days));
        expect(found.whole.checks + found.withoutDetail.checks).toBe(expected);
        for (const groups of [found.versions, found.platforms, found.channels]) {
          expect(groups.reduce((sum, { checks }) => sum + checks, 0)).toBe(found.whole.checks);
        }
        // Texts that are no versions cannot fill the list.
        expect(found.versions.length).toBeLessThanOrEqual(
          new Set(all.map(({ version }) => version).filter((text) => /^\d+\.\d+\.\d/.test(text)))
            .size + 2,
        );
        const own = describeAdoption(stored, { ...query(days), version: '1.0.0' });
        expect(own.days).toHaveLength(days);
        expect(own.days.reduce((sum, { checks }) => sum + checks, 0)).toBe(own.own.checks);
        expect(own.days.reduce((sum, { allChecks }) => sum + allChecks, 0)).toBe(own.whole.checks);
      }),
      { numRuns: rounds(100, 300) },
    );
  });
});

describe('the adoption of a version', () => {
  const rows = [
    row('1.1.0', 25, { day: '2026-11-21', offers: 9 }),
    row('1.0.0', 75, { day: '2026-11-21' }),
    row('1.1.0', 60, { links: 4 }),
    row('1.0.0', 20),
    row('1.0.0', 20, { platform: 'linux', channel: 'beta' }),
  ];
  const { own, days, platforms, channels } = describeAdoption(rows, {
    ...query(3),
    version: '1.1.0',
  });

  it('is its share of the checks of each day', () => {
    expect(days).toMatchObject([
      { name: '2026-11-20', checks: 0, share: null, allChecks: 0, isDetailed: true },
      { name: '2026-11-21', checks: 25, share: 0.25, offers: 9, allChecks: 100 },
      { name: TODAY, checks: 60, share: 0.6, links: 4, allChecks: 100 },
    ]);
    expect(own).toEqual({ name: '1.1.0', checks: 85, offers: 9, links: 4, share: 0.425 });
  });

  it('is its share of the checks of each platform and channel', () => {
    expect(platforms.map(({ name, share }) => [name, share])).toEqual([
      ['windows', 85 / 180],
      ['linux', 0],
    ]);
    expect(channels.map(({ name, share }) => [name, share])).toEqual([
      ['stable', 85 / 180],
      ['beta', 0],
    ]);
  });
});
