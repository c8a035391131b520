import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Usage } from '../../src/usage/usage.ts';
import { createFixedClock, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../support/faulty-store.ts';
import {
  allTime,
  countChecks,
  countLinks,
  createProcess,
  DAY,
  HOUR,
  keysBelow,
  MINUTE,
  refreshAll,
} from './support.ts';

let clock: FixedClock;
let store: FaultyStore;

beforeEach(() => {
  clock = createFixedClock();
  store = createFaultyStore(createMemoryStore({ clock }));
});

const start = (groupMin = 1): Usage => createProcess(store, clock, { groupMin });

describe('counts of several processes', () => {
  it('are the same for all of them after an interval, and for one that starts later', async () => {
    const [one, two] = [start(), start()];
    countLinks(one, 3);
    countLinks(two, 4);
    expect([allTime(one), allTime(two)]).toEqual([3, 4]);
    await refreshAll([one, two, one], 1);
    expect([allTime(one), allTime(two)]).toEqual([7, 7]);
    const late = start();
    await late.refresh();
    expect(allTime(late)).toBe(7);
    // Read back, one's own are not counted again.
    await refreshAll([one, two, late], 3);
    expect([one, two, late].map(allTime)).toEqual([7, 7, 7]);
  });

  it('are read from memory: counting, metrics and analytics make no store request', async () => {
    const one = start();
    await one.refresh();
    store.forgetCalls();
    countChecks(one, 100, { offered: '1.1.0' });
    countLinks(one, 100);
    one.publicMetrics('desktop');
    one.analytics({ application: 'desktop', from: '2026-11-01', to: '2026-11-30' });
    expect(store.total()).toBe(0);
  });

  it('are complete at each moment of a flush, and so are the counts that clients cause meanwhile', async () => {
    const one = start();
    const days = { from: '2020-01-01', to: '2099-12-31' };
    const sum = (): number =>
      applications
        .flatMap((application) => one.analytics({ application, ...days }))
        .reduce((links, row) => links + row.links, 0);
    const applications = Array.from({ length: 400 }, (_, index) => `app-${index}`);
    let counted = 0;
    const count = (times: number): void => {
      for (let i = 0; i < times; i++) {
        countLinks(one, 1, {
          application: applications[counted++ % applications.length] as string,
        });
      }
    };
    for (let flush = 0; flush < 3; flush++) {
      count(600);
      let isDone = false;
      const refreshed = one.refresh().finally(() => {
        isDone = true;
      });
      while (!isDone) {
        expect(sum()).toBe(counted);
        count(1);
        await new Promise(setImmediate);
      }
      await refreshed;
      clock.advance(flush === 1 ? DAY : MINUTE);
    }
    await one.refresh();
    const late = start();
    await late.refresh();
    expect(allTime(late)).toBe(counted);
  });

  it('show nothing of a restricted channel in public metrics', async () => {
    const one = start();
    countChecks(one, 30, { version: '1.1.0' });
    countChecks(one, 30, { channel: 'insider', version: '1.9.0' });
    await one.refresh();
    const { shares } = one.publicMetrics('desktop');
    expect(JSON.stringify(shares)).not.toMatch(/insider|1\.9\.0/);
    expect(shares.versions).toEqual([{ name: '1.1.0', percent: 100 }]);
    const rows = one.analytics({ application: 'desktop', from: '2026-11-01', to: '2026-11-30' });
    expect(rows.map(({ channel }) => channel).sort()).toEqual(['insider', 'stable']);
  });

  it('cost one listing for an interval in which nothing was counted', async () => {
    const [one, two] = [start(), start()];
    countLinks(two, 1);
    await refreshAll([one, two, one], 1);
    store.forgetCalls();
    clock.advance(MINUTE);
    await one.refresh();
    expect([store.counts.list, store.total()]).toEqual([1, 1]);
    countLinks(two, 1);
    await refreshAll([two, one], 1);
    clock.advance(MINUTE);
    store.forgetCalls();
    await one.refresh();
    // What was read once is not read again.
    expect([store.counts.list, store.total()]).toEqual([1, 1]);
  });

  it('are stored without anything about a person', async () => {
    const one = start();
    countChecks(one, 1, { version: '9.9.9-of-alice', platform: 'alices-laptop' });
    countLinks(one, 1);
    await one.refresh();
    const [key = ''] = await keysBelow(store, 'usage/counters/');
    const { signed } = JSON.parse(Buffer.from((await store.get(key))?.body ?? []).toString());
    expect(Object.keys(signed).sort()).toEqual([
      'closed',
      'counter',
      'from',
      'minutes',
      'number',
      'rows',
      'schema_version',
      'type',
    ]);
    const group = { day: '2026-11-21', application: 'desktop', channel: 'stable' };
    expect(signed.rows).toEqual([
      { ...group, platform: 'other', version: 'other', checks: 1, offers: 0, links: 0 },
      { ...group, platform: 'windows', version: '1.1.0', checks: 0, offers: 0, links: 1 },
    ]);
    expect(JSON.stringify(signed)).not.toContain('alice');
  });

  it('are available to a publisher by day, version, platform and channel', async () => {
    const one = start();
    countChecks(one, 2, { offered: '1.1.0' });
    clock.advance(DAY);
    countLinks(one, 3, { channel: 'beta', platform: 'linux' });
    countLinks(one, 1, { application: 'constructor' });
    await one.refresh();
    const ask = (application: string, from: string, to: string) =>
      one.analytics({ application, from, to });
    const none = { checks: 0, offers: 0, links: 0 };
    const group = { day: '2026-11-21', channel: 'stable', platform: 'windows' };
    const first = [
      { ...none, ...group, version: '1.0.0', checks: 2 },
      { ...none, ...group, version: '1.1.0', offers: 2 },
    ];
    const linux = { ...group, day: '2026-11-22', channel: 'beta', platform: 'linux' };
    const second = { ...none, ...linux, version: '1.1.0', links: 3 };
    expect(ask('desktop', '2026-11-01', '2026-11-30')).toEqual([...first, second]);
    expect(ask('desktop', '2026-11-22', '2026-11-22')).toEqual([second]);
    expect(ask('constructor', '2026-11-22', '2026-11-22')).toMatchObject([{ links: 1 }]);
    expect(ask('other', '2026-11-01', '2026-11-30')).toEqual([]);
  });
});

describe('public metrics', () => {
  it('count links of today, of 30 days and of all time, for one application or all', async () => {
    const one = start();
    countLinks(one, 5);
    clock.advance(29 * DAY);
    await one.refresh();
    countLinks(one, 7);
    countLinks(one, 100, { application: 'tool' });
    const links = (application: string | null) => one.publicMetrics(application).links;
    expect(links('desktop')).toEqual({ today: 7, last30Days: 12, allTime: 12 });
    expect(links(null)).toEqual({ today: 107, last30Days: 112, allTime: 112 });
    clock.advance(DAY);
    expect(links('desktop')).toEqual({ today: 0, last30Days: 7, allTime: 12 });
    clock.advance(500 * DAY);
    await one.refresh();
    countLinks(one, 1);
    clock.advance(2 * HOUR);
    await refreshAll([one], 2);
    expect(links('desktop')).toEqual({ today: 1, last30Days: 1, allTime: 13 });
    const late = start();
    await late.refresh();
    expect(late.publicMetrics('desktop').links).toEqual(links('desktop'));
  });

  it('give rates over five full minutes that every process has reported', async () => {
    const [one, two] = [start(), start()];
    for (let minute = 0; minute < 12; minute++) {
      countChecks(one, 30, { offered: '1.1.0' });
      countChecks(two, 10);
      clock.advance(MINUTE);
      await refreshAll([one, two], 1);
    }
    for (const metrics of [one.publicMetrics('desktop'), two.publicMetrics(null)]) {
      expect(metrics).toMatchObject({ checksPerMinute: 40, offersPerMinute: 30 });
    }
    clock.advance(20 * MINUTE);
    expect(one.publicMetrics('desktop')).toMatchObject({ checksPerMinute: 0, offersPerMinute: 0 });
  });

  it('suppress small groups and small differences', async () => {
    const one = start(10);
    countLinks(one, 9);
    countLinks(one, 29, { application: 'tool' });
    countChecks(one, 95);
    countChecks(one, 5, { platform: 'linux', version: '1.2.0', channel: 'beta' });
    await one.refresh();
    expect(one.publicMetrics('desktop').links).toEqual({ today: 0, last30Days: 0, allTime: 0 });
    expect(one.publicMetrics('tool').links.today).toBe(20);
    expect(one.publicMetrics(null).links.today).toBe(30);
    const { shares } = one.publicMetrics('desktop');
    // Nothing but the two groups: to hide one is to hide both.
    const other = [{ name: 'other', percent: 100 }];
    expect(shares).toEqual({ versions: other, platforms: other, channels: other });
    countChecks(one, 5, { platform: 'linux', version: '1.2.0', channel: 'beta' });
    clock.advance(5_000);
    expect(one.publicMetrics('desktop').shares.platforms).toEqual([
      { name: 'windows', percent: 90 },
      { name: 'linux', percent: 10 },
    ]);
  });

  it('are computed every five seconds, not for every request', () => {
    const one = start();
    expect(one.publicMetrics(null)).toBe(one.publicMetrics(null));
    countLinks(one, 1);
    clock.advance(4_999);
    expect(allTime(one)).toBe(0);
    clock.advance(1);
    expect(allTime(one)).toBe(1);
  });
});
