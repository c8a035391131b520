import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { systemClock } from '../../src/system.ts';
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
  it('loses what was counted since the last flush, and nothing before', async () => {
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
  it('for ten minutes: counts go on, and are counted once afterwards', async () => {
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
    expect(log.lines.filter((line) => line.includes('cannot be kept'))).toHaveLength(2);
    clock.advance(MINUTE);
    await refreshAll([one, two, one], 1);
    expect([allTime(one), allTime(two)]).toEqual([70, 70]);
    expect(log.lines.filter((line) => line.includes('again'))).toHaveLength(2);
    const late = start();
    await refreshAll([late], 1);
    expect(allTime(late)).toBe(70);
  });

  it('for days: memory stays bounded, and every count of a known version is there', async () => {
    const one = start();
    await one.refresh();
    store.goDown();
    for (let day = 0; day < 5; day++) {
      for (let i = 0; i < 1_000; i++) countChecks(one, 1, { version: `1.${day}.${i}` });
      clock.advance(DAY);
      await one.refresh();
    }
    store.comeUp();
    await refreshAll([one], 2);
    const sizes: number[] = [];
    for await (const { size } of store.list('events/flushes/')) sizes.push(size);
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeLessThan(200_000);
    const rows = one.analytics({ application: 'desktop', from: '2026-11-01', to: '2026-12-30' });
    expect(rows.reduce((sum, { checks }) => sum + checks, 0)).toBe(5_000);
  });
});

describe('an answer that is lost', () => {
  it('is asked for again with the same bytes, and counts once', async () => {
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

  it('is not needed when somebody else has compacted the flush meanwhile', async () => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    countLinks(one, 4);
    // Its flush is there, though it cannot know; its listing fails, too.
    store.setPlan(({ method, key }) => {
      if (method === 'create' && key.startsWith('events/flushes/')) return { when: 'after' };
      return method === 'list' && key.startsWith('events/flushes/')
        ? { when: 'before' }
        : undefined;
    });
    await one.refresh();
    store.setPlan(undefined);
    clock.advance(2 * HOUR);
    await two.refresh();
    expect(await keysBelow(store, 'events/compactions/')).toHaveLength(1);
    store.setPlan(({ key }) =>
      key.startsWith('events/flushes/') ? { when: 'before' } : undefined,
    );
    await one.refresh();
    expect([allTime(one), allTime(two)]).toEqual([4, 4]);
    // The next one has the next number.
    store.setPlan(undefined);
    countLinks(one, 1);
    await refreshAll([one, two], 2);
    expect([allTime(one), allTime(two)]).toEqual([5, 5]);
  });

  it.each([
    ['two days', 2 * DAY],
    ['eight days, longer than processes are remembered', 8 * DAY],
  ])('to a process that then sleeps for %s counts once', async (_name, ms) => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    store.setPlan(({ method, key }) => {
      if (method === 'create' && key.startsWith('events/flushes/')) return { when: 'after' };
      return method === 'list' ? { when: 'before' } : undefined;
    });
    countLinks(one, 4);
    await one.refresh();
    store.setPlan(undefined);
    // Meanwhile it is read, compacted, deleted and, in the second case, forgotten.
    for (let slept = 0; slept < ms; slept += 6 * HOUR) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await two.refresh();
    }
    const expected = 4 + ms / (6 * HOUR);
    expect(allTime(two)).toBe(expected);
    // It wakes, and its first requests fail.
    store.setPlan(({ method }) => (method === 'list' ? { when: 'before' } : undefined));
    await one.refresh();
    store.setPlan(undefined);
    await refreshAll([one, two], 4);
    expect([allTime(one), allTime(two)]).toEqual([expected, expected]);
    countLinks(one, 10);
    await refreshAll([one, two], 4);
    expect([allTime(one), allTime(two)]).toEqual([expected + 10, expected + 10]);
  });
});

describe('starting and stopping', () => {
  it('flushes every interval, and the rest at the end', async () => {
    const memory = createFaultyStore(createMemoryStore({ clock: systemClock }));
    const one = createProcess(memory, systemClock, { flushIntervalMs: 20 });
    one.start();
    countLinks(one, 2);
    while ((await keysBelow(memory, 'events/flushes/')).length === 0) await systemClock.sleep(5);
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

describe('on a directory', () => {
  it('two processes agree, through compaction and deletion', async () => {
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
      real.advance(2 * HOUR);
    }
    await refreshAll([one, two], 2);
    expect([allTime(one), allTime(two)]).toEqual([12, 12]);
    real.advance(2 * DAY);
    countLinks(one, 1);
    await refreshAll([one, two], 2);
    const late = createProcess(await open(), real);
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([13, 13, 13]);
    // To this clock, every file is more than a day old.
    expect(await keysBelow(first, 'events/flushes/')).toEqual([]);
    await directory.remove();
  });
});
