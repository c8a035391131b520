import { readdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/system.ts';
import { openFilesystemStore } from '../../src/store/filesystem/filesystem.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { TALLY_ROWS_MAX } from '../../src/usage/tally.ts';
import type { Usage } from '../../src/usage/usage.ts';
import { createFixedClock, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../support/faulty-store.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import {
  allTime,
  countChecks,
  countLinks,
  createProcess,
  createRecordedLog,
  DAY,
  HOUR,
  keysBelow,
  MINUTE,
  type RecordedLog,
  refreshAll,
} from './support.ts';

let clock: FixedClock;
let store: FaultyStore;
let log: RecordedLog;

beforeEach(() => {
  clock = createFixedClock();
  store = createFaultyStore(createMemoryStore({ clock }));
  log = createRecordedLog();
});

const start = () => createProcess(store, clock, { log });

describe('a crash', () => {
  it('loses the counts since the last flush, and no earlier ones', async () => {
    const one = start();
    countLinks(one, 10);
    await one.refresh();
    clock.advance(MINUTE);
    countLinks(one, 3);
    // Killed: nothing is told, nothing is stopped.
    const two = start();
    await refreshAll([two], 2);
    expect(allTime(two)).toBe(10);
  });
});

describe('a store that is down', () => {
  it('for ten minutes: counting continues, and every count is stored once afterwards', async () => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    store.goDown();
    for (let minute = 0; minute < 10; minute++) {
      countLinks(one, 7);
      clock.advance(MINUTE);
      await one.refresh();
      expect(allTime(one)).toBe(7 * (minute + 1));
    }
    store.comeUp();
    expect(log.lines.filter((line) => line.includes('cannot be kept'))).toHaveLength(1);
    clock.advance(MINUTE);
    await refreshAll([one, two, one], 1);
    expect([allTime(one), allTime(two)]).toEqual([70, 70]);
    expect(log.lines.filter((line) => line.includes('again'))).toHaveLength(1);
    const late = start();
    await refreshAll([late], 1);
    expect(allTime(late)).toBe(70);
  });

  it.each([
    ['altogether', () => ({ when: 'before' }) as const],
    [
      'for writes',
      (method: string) => (method === 'create' ? ({ when: 'before' } as const) : undefined),
    ],
  ])(
    'for days, %s: memory stays bounded, and every count of a known version is there',
    async (_name, faultOf) => {
      const one = start();
      await one.refresh();
      store.setPlan(({ method }) => faultOf(method));
      for (let day = 0; day < 5; day++) {
        for (let i = 0; i < 1_000; i++) countChecks(one, 1, { version: `1.${day}.${i}` });
        clock.advance(DAY);
        await one.refresh();
      }
      store.setPlan(undefined);
      await refreshAll([one], 2);
      const sizes: number[] = [];
      for await (const { size } of store.list('usage/counters/')) sizes.push(size);
      expect(sizes.length).toBeLessThanOrEqual(2);
      expect(Math.max(...sizes)).toBeLessThan(3 * 200_000);
      const late = start();
      await late.refresh();
      for (const each of [one, late]) {
        const rows = each.analytics({
          application: 'desktop',
          from: '2026-11-01',
          to: '2026-12-30',
        });
        expect(rows.reduce((sum, { checks }) => sum + checks, 0)).toBe(5_000);
        expect(rows.length).toBeLessThan(2 * TALLY_ROWS_MAX);
      }
    },
  );

  it('at the end of a day: the counts of the day are in it, and nothing is counted twice', async () => {
    const one = start();
    countLinks(one, 1);
    await one.refresh();
    store.goDown();
    countLinks(one, 2);
    clock.advance(DAY);
    countLinks(one, 4);
    await one.refresh();
    store.comeUp();
    await one.refresh();
    const late = start();
    await late.refresh();
    const rows = late.analytics({ application: 'desktop', from: '2026-11-01', to: '2026-12-30' });
    expect(rows.map(({ day, links }) => [day, links])).toEqual([
      ['2026-11-21', 3],
      ['2026-11-22', 4],
    ]);
  });
});

describe('an answer that is lost', () => {
  const loseAnswers = () =>
    store.setPlan(({ method }) => (method === 'create' ? { when: 'after' } : undefined));

  it('is requested again with the same bytes, and counts once', async () => {
    const one = start();
    const bodies: string[] = [];
    let lost = 0;
    store.setPlan(({ method, body }) => {
      if (method !== 'create') return undefined;
      bodies.push(Buffer.from(body ?? []).toString());
      return lost++ < 2 ? { when: 'after' } : undefined;
    });
    countLinks(one, 4);
    await one.refresh();
    expect(bodies.slice(0, 3)).toEqual([bodies[0], bodies[0], bodies[0]]);
    store.setPlan(undefined);
    const two = start();
    await refreshAll([one, two, one], 1);
    expect([allTime(one), allTime(two)]).toEqual([4, 4]);
  });

  it('is not needed when another process has closed and added the counter meanwhile', async () => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    countLinks(one, 4);
    // Its snapshot is there, though it cannot know.
    loseAnswers();
    await one.refresh();
    store.setPlan(undefined);
    clock.advance(3 * HOUR);
    countLinks(two, 2);
    await refreshAll([two], 2);
    expect(await keysBelow(store, 'usage/totals/')).toHaveLength(1);
    countLinks(one, 3);
    store.setPlan(({ method }) => (method === 'create' ? { when: 'before' } : undefined));
    await one.refresh();
    expect([allTime(one), allTime(two)]).toEqual([9, 6]);
    store.setPlan(undefined);
    await refreshAll([one, two, one], 1);
    expect([allTime(one), allTime(two)]).toEqual([9, 9]);
    // It goes on in a new counter.
    countLinks(one, 1);
    await refreshAll([one, two], 2);
    expect([allTime(one), allTime(two)]).toEqual([10, 10]);
  });

  it('of a counter that another process has closed and not added yet', async () => {
    const [one, two] = [start(), start()];
    countLinks(one, 4);
    await refreshAll([one, two], 1);
    clock.advance(3 * HOUR);
    countLinks(two, 2);
    // It closes the counter, and dies before it has made the total.
    store.setPlan(({ key }) => (key.startsWith('usage/totals/') ? { when: 'before' } : undefined));
    await refreshAll([two], 2);
    const closed = (await keysBelow(store, 'usage/counters/')).filter((key) =>
      key.endsWith('2.json'),
    );
    expect(closed).toHaveLength(1);
    countLinks(one, 3);
    await refreshAll([one, two], 2);
    expect([allTime(one), allTime(two)]).toEqual([9, 9]);
    expect((await keysBelow(store, 'usage/counters/')).length).toBe(4);
    store.setPlan(undefined);
    countLinks(one, 1);
    await refreshAll([two, one, two], 2);
    expect(await keysBelow(store, 'usage/totals/')).toHaveLength(1);
    const late = start();
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([10, 10, 10]);
  });

  it.each([
    ['two days', 2 * DAY],
    ['five days', 5 * DAY],
    ['eight days, longer than totals remember counters', 8 * DAY],
    ['twenty days', 20 * DAY],
  ])('to a process that then sleeps for %s counts once', async (_name, ms) => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    loseAnswers();
    countLinks(one, 4);
    await one.refresh();
    store.setPlan(undefined);
    // Meanwhile the counter is read, closed, added, deleted and, in the longer cases, forgotten.
    for (let slept = 0; slept < ms; slept += 6 * HOUR) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await two.refresh();
    }
    const expected = 4 + ms / (6 * HOUR);
    expect(allTime(two)).toBe(expected);
    // It wakes, and its first requests fail: the listing, then the total.
    for (const failing of ['list', 'get']) {
      store.setPlan(({ method }) => (method === failing ? { when: 'before' } : undefined));
      await one.refresh();
    }
    store.setPlan(undefined);
    await refreshAll([one, two], 4);
    expect([allTime(one), allTime(two)]).toEqual([expected, expected]);
    countLinks(one, 10);
    await refreshAll([one, two], 4);
    expect([allTime(one), allTime(two)]).toEqual([expected + 10, expected + 10]);
  });
});

describe('many applications and an interval of an hour', () => {
  it('do not make a snapshot that is too large to be stored', async () => {
    const one = createProcess(store, clock, { log, flushIntervalMs: HOUR });
    const prefix = 'a'.repeat(100);
    for (let minute = 0; minute < 120; minute++) {
      for (let i = 0; i < 500; i++) countChecks(one, 1, { application: `${prefix}${i}` });
      clock.advance(MINUTE);
      if (minute % 60 === 59) await one.refresh();
    }
    expect(log.lines).toEqual([]);
    const late = start();
    await late.refresh();
    const rows = late.analytics({
      application: `${prefix}7`,
      from: '2026-11-01',
      to: '2026-12-30',
    });
    expect(rows.reduce((sum, { checks }) => sum + checks, 0)).toBe(120);
  });
});

describe('a process that is suspended for ten days between a listing and a write', () => {
  /** Runs `meanwhile` after the next listing of the process, when it is set. */
  const createSuspended = () => {
    const next: { meanwhile: (() => Promise<void>) | undefined } = { meanwhile: undefined };
    const own: ObjectStore = {
      ...store,
      async *list(prefix, options) {
        yield* store.list(prefix, options);
        const { meanwhile } = next;
        next.meanwhile = undefined;
        await meanwhile?.();
      },
    };
    return { one: createProcess(own, clock, { log }), next };
  };

  /** Another process closes and adds the counters of the others, deletes them and forgets them. */
  const goOn = async (two: Usage): Promise<void> => {
    for (let quarter = 0; quarter < 40; quarter++) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await two.refresh();
    }
  };

  it('keeps what it counted, and stores it later', async () => {
    const two = start();
    const { one, next } = createSuspended();
    countLinks(one, 5);
    await refreshAll([one, two], 1);
    countLinks(one, 2);
    next.meanwhile = () => goOn(two);
    await refreshAll([one, two], 3);
    const late = start();
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([47, 47, 47]);
  });

  it('does not store a snapshot again whose answer was lost before', async () => {
    const two = start();
    const { one, next } = createSuspended();
    countLinks(one, 5);
    await refreshAll([one, two], 1);
    countLinks(one, 2);
    store.setPlan(({ method }) => (method === 'create' ? { when: 'after' } : undefined));
    await one.refresh();
    store.setPlan(undefined);
    next.meanwhile = () => goOn(two);
    await refreshAll([one, two], 3);
    const late = start();
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([47, 47, 47]);
  });

  it('does not close the counter of a third one again', async () => {
    const [gone, two] = [start(), start()];
    const { one, next } = createSuspended();
    countLinks(gone, 3);
    await refreshAll([gone, one], 1);
    clock.advance(3 * HOUR);
    countLinks(one, 1);
    await one.refresh();
    next.meanwhile = () => goOn(two);
    await refreshAll([one, two], 1);
    clock.advance(3 * HOUR);
    countLinks(two, 1);
    await refreshAll([two, one, two], 3);
    const late = start();
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([45, 45, 45]);
  });
});

describe('starting and stopping', () => {
  it('flushes every interval, and the rest at the end', async () => {
    const memory = createFaultyStore(createMemoryStore({ clock: systemClock }));
    const one = createProcess(memory, systemClock, { flushIntervalMs: 20 });
    one.start();
    countLinks(one, 2);
    while ((await keysBelow(memory, 'usage/counters/')).length === 0) await systemClock.sleep(5);
    countLinks(one, 3);
    await one.stop();
    const late = createProcess(memory, systemClock);
    await late.refresh();
    expect(allTime(late)).toBe(5);
    const written = memory.counts.create;
    await systemClock.sleep(60);
    expect(memory.counts.create).toBe(written);
  });

  it('ends in time, and without an error, when the store hangs or is down', async () => {
    const hanging = createFaultyStore(createMemoryStore({ clock: systemClock }), () => ({
      when: 'hang',
    }));
    // The three seconds it may take, sooner.
    const impatient = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 30, signal),
    };
    const one = createProcess(hanging, impatient);
    one.start();
    countLinks(one, 1);
    const before = systemClock.now();
    await one.stop();
    expect(systemClock.now() - before).toBeLessThan(2_000);
    const down = createFaultyStore(createMemoryStore({ clock: systemClock }));
    down.goDown();
    const two = createProcess(down, impatient);
    two.start();
    countLinks(two, 1);
    await two.stop();
    expect(allTime(two)).toBe(1);
  });
});

async function makeOlder(directory: string, ms: number): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { mtimeMs } = await stat(file);
    const time = new Date(mtimeMs - ms);
    await utimes(file, time, time);
  }
}

describe('on a directory', () => {
  it('two processes agree, through roll-up and deletion', async () => {
    const directory = await makeTemporaryDirectory();
    const open = () =>
      openFilesystemStore({
        directory: path.join(directory.path, 'objects'),
        signUrl: () => {
          throw new Error('no links here');
        },
      });
    // Files carry the real time.
    const real = createFixedClock(systemClock.now());
    const [first, second] = [await open(), await open()];
    const [one, two] = [createProcess(first, real), createProcess(second, real)];
    for (let round = 0; round < 4; round++) {
      countLinks(one, 1);
      countLinks(two, 2);
      await Promise.all([one.refresh(), two.refresh()]);
    }
    await refreshAll([one, two], 2);
    expect([allTime(one), allTime(two)]).toEqual([12, 12]);
    // The files of a process that is gone are made two days old, then of the one that added them.
    const files = path.join(directory.path, 'objects');
    await makeOlder(files, 2 * DAY);
    const three = createProcess(await open(), real);
    countLinks(three, 1);
    await refreshAll([three], 2);
    expect(await keysBelow(first, 'usage/totals/')).toHaveLength(1);
    await makeOlder(files, 2 * DAY);
    const late = createProcess(await open(), real);
    countLinks(late, 1);
    await refreshAll([late], 2);
    expect(allTime(late)).toBe(14);
    expect(await keysBelow(first, 'usage/totals/')).toHaveLength(2);
    countLinks(one, 5);
    await refreshAll([one, two, late], 2);
    expect([one, two, late].map(allTime)).toEqual([19, 19, 19]);
    await directory.remove();
  });
});
