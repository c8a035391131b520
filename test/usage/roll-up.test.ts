import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { renderEnvelope } from '../../src/store/sequence/envelope.ts';
import { snapshotKey, totalKey } from '../../src/usage/keys.ts';
import { createFixedClock, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../support/faulty-store.ts';
import {
  allTime,
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

const COUNTERS = 'usage/counters/';
const TOTALS = 'usage/totals/';
const ID = '00000000-0000-4000-8000-000000000000';

let clock: FixedClock;
let memory: ObjectStore;
let store: FaultyStore;
let log: RecordedLog;

beforeEach(() => {
  clock = createFixedClock();
  memory = createMemoryStore({ clock });
  store = createFaultyStore(memory);
  log = createRecordedLog();
});

const start = () => createProcess(store, clock, { log });

/** Replaces an object, which no code of this project does. */
async function corrupt(key: string, bytes: Uint8Array = Buffer.from('{"signed":')): Promise<void> {
  await memory.delete(key);
  await memory.create(key, bytes);
}

async function signedOf(key: string): Promise<Record<string, unknown>> {
  const object = await memory.get(key);
  return JSON.parse(Buffer.from(object?.body ?? []).toString()).signed;
}

const newest = async (prefix: string): Promise<string> =>
  (await keysBelow(memory, prefix)).at(-1) ?? '';
const logged = (text: string): number => log.lines.filter((line) => line.includes(text)).length;

describe('totals', () => {
  it('have every closed counter; counters are deleted after a day, old totals after two', async () => {
    const [one, two] = [start(), start()];
    for (let hour = 0; hour < 10 * 24; hour++) {
      countLinks(one, 2);
      countLinks(two, 1);
      clock.advance(HOUR);
      await refreshAll([one, two], 1);
    }
    const expected = 240 * 3;
    await refreshAll([one, two], 1);
    expect([allTime(one), allTime(two)]).toEqual([expected, expected]);
    const counters = await keysBelow(store, COUNTERS);
    const totals = await keysBelow(store, TOTALS);
    console.log(
      `10 days of 2 processes, 480 flushes: ${counters.length} snapshots and ${totals.length} totals left`,
    );
    expect(counters.length).toBeLessThanOrEqual(2 * 2 + 2 * 2 * 3);
    expect(totals.length).toBeLessThanOrEqual(9);
    expect(totals).not.toContain(totalKey(1));
    const late = start();
    await late.refresh();
    expect(allTime(late)).toBe(expected);
  });

  it('forget a counter a week after it was deleted, and its process goes on counting', async () => {
    const [one, two] = [start(), start()];
    countLinks(one, 5);
    await refreshAll([one, two], 1);
    const [first = ''] = await keysBelow(memory, COUNTERS);
    const id = first.split('/')[2] ?? '';
    const isNamed = async (): Promise<boolean> =>
      id in ((await signedOf(await newest(TOTALS))).counters as object);
    for (let quarter = 0; quarter < 4; quarter++) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await refreshAll([two], 1);
    }
    expect(await isNamed()).toBe(true);
    for (let quarter = 0; quarter < 36; quarter++) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await refreshAll([two], 1);
    }
    expect(await isNamed()).toBe(false);
    countLinks(one, 2);
    clock.advance(MINUTE);
    await refreshAll([one, two, one], 2);
    expect([allTime(one), allTime(two)]).toEqual([47, 47]);
  });

  it('of processes that roll up at the same time have each counter once', async () => {
    const all = [start(), start(), start(), start()];
    for (let round = 0; round < 5; round++) {
      for (const one of all) countLinks(one, 1);
      clock.advance(25 * HOUR);
      await Promise.all(all.map((one) => one.refresh()));
    }
    await refreshAll(all, 2);
    expect(all.map(allTime)).toEqual([20, 20, 20, 20]);
  });

  it('that are corrupt are left out, and none of their counts is lost', async () => {
    const one = start();
    for (let day = 0; day < 6; day++) {
      countLinks(one, 5);
      clock.advance(DAY);
      await refreshAll([one], 2);
    }
    expect(await newest(TOTALS)).toBe(totalKey(5));
    await corrupt(totalKey(5));
    const late = start();
    await refreshAll([late], 2);
    expect(allTime(late)).toBe(30);
    expect(logged('corrupt document')).toBe(1);
    for (let day = 0; day < 2; day++) {
      countLinks(one, 1);
      clock.advance(DAY);
      await refreshAll([one, late], 1);
    }
    await refreshAll([one, late, start()], 2);
    expect(await keysBelow(store, TOTALS)).toContain(totalKey(6));
    const later = start();
    await later.refresh();
    expect([one, late, later].map(allTime)).toEqual([32, 32, 32]);
  });

  it('of a newer Slipway stop the roll-up, reported once, and not the counting', async () => {
    const one = start();
    countLinks(one, 1);
    await one.refresh();
    await memory.create(totalKey(50), renderEnvelope({ schema_version: 2, number: 50 }));
    countLinks(one, 1);
    clock.advance(2 * HOUR);
    await refreshAll([one], 3);
    expect(allTime(one)).toBe(2);
    expect(await signedOf(await newest(COUNTERS))).toMatchObject({
      number: 2,
      rows: [{ links: 2 }],
    });
    expect(await newest(TOTALS)).toBe(totalKey(50));
    expect(logged('newer Slipway')).toBe(2);
    await refreshAll([one], 3);
    expect(logged('newer Slipway')).toBe(2);
  });

  it('continue from memory when an operator has emptied the store', async () => {
    const one = start();
    countLinks(one, 5);
    await one.refresh();
    clock.advance(DAY);
    countLinks(one, 1);
    await one.refresh();
    for (const key of await keysBelow(memory, 'usage/')) await memory.delete(key);
    clock.advance(DAY);
    countLinks(one, 2);
    await refreshAll([one], 2);
    clock.advance(DAY);
    countLinks(one, 4);
    await refreshAll([one], 2);
    const late = start();
    await late.refresh();
    expect([allTime(one), allTime(late)]).toEqual([12, 12]);
  });

  it('sum old days, and lose no count', async () => {
    const one = start();
    countLinks(one, 3);
    for (const days of [1, 100, 400, 2]) {
      clock.advance(days * DAY);
      countLinks(one, 1);
      await refreshAll([one], 2);
    }
    clock.advance(DAY);
    countLinks(one, 1);
    await refreshAll([one], 2);
    const { rows } = await signedOf(await newest(TOTALS));
    expect(rows).toContainEqual(expect.objectContaining({ day: '0000-00-00', links: 5 }));
    expect(allTime(one)).toBe(8);
  });
});

describe('snapshots', () => {
  it('that are corrupt are replaced by the next one, and reported once', async () => {
    const one = start();
    countLinks(one, 100);
    await one.refresh();
    await corrupt(await newest(COUNTERS));
    const two = start();
    await refreshAll([two], 3);
    expect(allTime(two)).toBe(0);
    expect(logged('corrupt document')).toBe(1);
    countLinks(one, 3);
    clock.advance(MINUTE);
    await refreshAll([one, two], 2);
    expect(allTime(two)).toBe(103);
  });

  it('that are corrupt, of a process that has ended: the one before counts', async () => {
    const one = start();
    for (const times of [100, 3]) {
      countLinks(one, times);
      await one.refresh();
      clock.advance(MINUTE);
    }
    await corrupt(await newest(COUNTERS));
    const two = start();
    await refreshAll([two], 2);
    expect(allTime(two)).toBe(100);
    clock.advance(3 * HOUR);
    countLinks(two, 1);
    await refreshAll([two], 2);
    expect(await keysBelow(memory, TOTALS)).toEqual([totalKey(1)]);
    const late = start();
    await late.refresh();
    expect([two, late].map(allTime)).toEqual([101, 101]);
  });

  it('that are corrupt, of a slow process: it stores their counts again', async () => {
    const [one, two] = [start(), start()];
    for (const times of [100, 3]) {
      countLinks(one, times);
      await one.refresh();
      clock.advance(MINUTE);
    }
    await corrupt(await newest(COUNTERS));
    clock.advance(3 * HOUR);
    countLinks(two, 1);
    await refreshAll([two], 2);
    expect(await keysBelow(memory, TOTALS)).toEqual([totalKey(1)]);
    countLinks(one, 10);
    await refreshAll([one, two], 2);
    const late = start();
    await late.refresh();
    expect([one, two, late].map(allTime)).toEqual([114, 114, 114]);
  });

  it('that a listing did not have are read from the next one', async () => {
    const one = start();
    for (let i = 0; i < 3; i++) {
      countLinks(one, 1);
      await one.refresh();
      clock.advance(MINUTE);
    }
    const hidden = await newest(COUNTERS);
    let listings = 0;
    const stale: ObjectStore = {
      ...store,
      async *list(prefix, options) {
        const isFirst = listings++ === 0;
        for await (const info of store.list(prefix, options)) {
          if (!isFirst || info.key !== hidden) yield info;
        }
      },
    };
    const two = createProcess(stale, clock);
    await two.refresh();
    expect(allTime(two)).toBe(2);
    await two.refresh();
    expect(allTime(two)).toBe(3);
  });

  it('that one read did not find are not left out of a total', async () => {
    const [one, two] = [start(), start()];
    for (const times of [100, 3]) {
      countLinks(one, times);
      await one.refresh();
    }
    const hidden = await newest(COUNTERS);
    clock.advance(3 * HOUR);
    countLinks(two, 1);
    await two.refresh();
    let reads = 0;
    const wrong: ObjectStore = {
      ...store,
      get: async (key, options) =>
        key === hidden && reads++ === 0 ? undefined : store.get(key, options),
    };
    const three = createProcess(wrong, clock);
    await refreshAll([three], 1);
    expect(await keysBelow(memory, TOTALS)).toEqual([]);
    await refreshAll([three, two], 2);
    const late = start();
    await late.refresh();
    expect([two, three, late].map(allTime)).toEqual([104, 104, 104]);
  });

  it('of a newer Slipway are neither counted, nor closed, nor deleted', async () => {
    const two = start();
    const key = snapshotKey(ID, 1);
    await memory.create(key, renderEnvelope({ schema_version: 2, counter: ID, number: 1 }));
    await refreshAll([two], 3);
    for (let day = 0; day < 4; day++) {
      countLinks(two, 1);
      clock.advance(DAY);
      await refreshAll([two], 2);
    }
    expect((await keysBelow(memory, COUNTERS)).filter((one) => one.includes(ID))).toEqual([key]);
    expect(allTime(two)).toBe(4);
    expect(logged('newer Slipway')).toBe(1);
  });

  it('that a process supersedes are deleted by it, except the last two', async () => {
    const one = start();
    for (let i = 0; i < 20; i++) {
      countLinks(one, 1);
      clock.advance(MINUTE);
      await one.refresh();
    }
    await one.refresh();
    expect((await keysBelow(memory, COUNTERS)).map((key) => key.slice(-8))).toEqual([
      '019.json',
      '020.json',
    ]);
  });

  it('that came late, after an outage of hours, are counted', async () => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    countLinks(one, 5);
    store.goDown();
    await one.refresh();
    clock.advance(5 * HOUR);
    store.comeUp();
    await refreshAll([one, two, two], 1);
    expect(allTime(two)).toBe(5);
  });
});

describe('a clock that is off', () => {
  it.each([
    ['a year ahead', 365 * DAY],
    ['a year behind', -365 * DAY],
    ['a day ahead', DAY],
    ['an hour behind', -HOUR],
  ])('by %s does not close or delete anything early', async (_name, aheadMs) => {
    const off = { ...clock, now: () => clock.now() + aheadMs };
    const [one, two] = [start(), createProcess(store, off, { log })];
    countLinks(one, 5);
    await one.refresh();
    clock.advance(HOUR);
    for (let round = 0; round < 3; round++) {
      countLinks(two, 1);
      await two.refresh();
      clock.advance(MINUTE);
    }
    expect(await keysBelow(memory, TOTALS)).toEqual([]);
    // The process itself has deleted its first snapshot.
    expect((await keysBelow(memory, COUNTERS)).length).toBe(1 + 2);
    countLinks(one, 1);
    await refreshAll([one, two, one], 2);
    expect([allTime(one), allTime(two)]).toEqual([9, 9]);
  });

  it('an object with a time in the future does not make other objects old', async () => {
    const one = start();
    countLinks(one, 5);
    await one.refresh();
    const two = createProcess(
      {
        ...store,
        async *list(prefix, options) {
          yield* store.list(prefix, options);
          const lastModified = new Date(clock.now() + 365 * DAY);
          yield { key: snapshotKey(ID, 1), size: 1, etag: '"1"', lastModified };
        },
      },
      clock,
      { log },
    );
    countLinks(two, 1);
    await refreshAll([two], 3);
    expect(await keysBelow(memory, TOTALS)).toEqual([]);
  });
});
