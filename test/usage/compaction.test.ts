import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { renderEnvelope } from '../../src/sequence/envelope.ts';
import { compactionKey } from '../../src/usage/keys.ts';
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

const FLUSHES = 'events/flushes/';
const COMPACTIONS = 'events/compactions/';

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

/** What somebody else did to an object: nothing of ours overwrites. */
async function damage(key: string, bytes: Uint8Array = Buffer.from('{"signed":')): Promise<void> {
  await memory.delete(key);
  await memory.create(key, bytes);
}

describe('compactions', () => {
  it('hold everything, their flushes go a day later, old ones of them after two', async () => {
    const [one, two] = [start(), start()];
    for (let hour = 0; hour < 96; hour++) {
      countLinks(one, 2);
      countLinks(two, 1);
      clock.advance(HOUR);
      await refreshAll([one, two], 1);
    }
    const expected = 96 * 3;
    await refreshAll([one, two], 1);
    expect([allTime(one), allTime(two)]).toEqual([expected, expected]);
    const flushes = await keysBelow(store, FLUSHES);
    const compactions = await keysBelow(store, COMPACTIONS);
    console.log(
      `96 hours of 2 processes: ${flushes.length} flushes and ${compactions.length} compactions left of 192 and 96`,
    );
    expect(flushes.length).toBeGreaterThan(40);
    expect(flushes.length).toBeLessThan(60);
    expect(compactions.length).toBeGreaterThan(40);
    expect(compactions.length).toBeLessThan(55);
    // The first numbers are gone: nobody may count from 1.
    expect(compactions).not.toContain(compactionKey(1));
    const late = start();
    await late.refresh();
    expect(allTime(late)).toBe(expected);
  });

  it('forget a process that is idle for a week, which goes on counting where it was', async () => {
    const [one, two] = [start(), start()];
    countLinks(one, 5);
    await refreshAll([one, two], 1);
    for (let quarter = 0; quarter < 36; quarter++) {
      countLinks(two, 1);
      clock.advance(6 * HOUR);
      await refreshAll([two, one], 1);
    }
    const newest = (await keysBelow(store, COMPACTIONS)).at(-1) ?? '';
    const { signed } = JSON.parse(Buffer.from((await store.get(newest))?.body ?? []).toString());
    expect(Object.keys(signed.through)).toHaveLength(1);
    countLinks(one, 2);
    clock.advance(MINUTE);
    await one.refresh();
    expect(allTime(one)).toBe(43);
    await refreshAll([two], 3);
    expect(allTime(two)).toBe(43);
  });

  it('of processes that race hold each flush once', async () => {
    const all = [start(), start(), start(), start()];
    for (let hour = 0; hour < 5; hour++) {
      for (const one of all) countLinks(one, 1);
      clock.advance(2 * HOUR);
      await Promise.all(all.map((one) => one.refresh()));
    }
    await refreshAll(all, 2);
    expect(all.map(allTime)).toEqual([20, 20, 20, 20]);
  });

  it('that are corrupt are stepped over and named, and nothing that they held is lost', async () => {
    const one = start();
    for (let i = 0; i < 3; i++) {
      countLinks(one, 5);
      clock.advance(2 * HOUR);
      await one.refresh();
    }
    const newest = (await keysBelow(store, COMPACTIONS)).at(-1) ?? '';
    await damage(newest);
    const late = start();
    await refreshAll([late], 2);
    expect(allTime(late)).toBe(15);
    expect(log.lines.filter((line) => line.includes('corrupt compaction'))).toHaveLength(1);
    const next = (await keysBelow(store, COMPACTIONS)).at(-1) ?? '';
    expect(next).toBe(compactionKey(4));
    const { signed } = JSON.parse(Buffer.from((await store.get(next))?.body ?? []).toString());
    expect(signed).toMatchObject({ previous: { number: 2 }, skipped: [{ number: 3 }], number: 4 });
    countLinks(one, 1);
    clock.advance(2 * HOUR);
    await refreshAll([one, late], 1);
    expect([allTime(one), allTime(late)]).toEqual([16, 16]);
  });

  it('of a newer Slipway stop the merging, said once, and not the counting', async () => {
    const one = start();
    countLinks(one, 1);
    await one.refresh();
    await memory.create(compactionKey(50), renderEnvelope({ schema_version: 2, number: 50 }));
    countLinks(one, 1);
    clock.advance(2 * HOUR);
    await refreshAll([one], 3);
    expect(allTime(one)).toBe(2);
    expect(await keysBelow(store, FLUSHES)).toHaveLength(2);
    expect((await keysBelow(store, COMPACTIONS)).at(-1)).toBe(compactionKey(50));
    expect(log.lines.filter((line) => line.includes('document_newer'))).toHaveLength(1);
  });

  it('go on from memory when somebody emptied the store', async () => {
    const one = start();
    countLinks(one, 5);
    await one.refresh();
    clock.advance(2 * HOUR);
    await one.refresh();
    for (const key of await keysBelow(memory, 'events/')) await memory.delete(key);
    countLinks(one, 1);
    clock.advance(2 * HOUR);
    await refreshAll([one], 2);
    const late = start();
    await refreshAll([late], 1);
    expect([allTime(one), allTime(late)]).toEqual([6, 6]);
    countLinks(late, 2);
    clock.advance(2 * HOUR);
    await refreshAll([late, one], 1);
    countLinks(one, 4);
    clock.advance(2 * HOUR);
    await refreshAll([one, late, start()], 2);
    expect([allTime(one), allTime(late)]).toEqual([12, 12]);
  });
});

describe('flushes', () => {
  it('that are corrupt are left out, said once, and block nothing', async () => {
    const one = start();
    await one.refresh();
    countLinks(one, 100);
    await one.refresh();
    await damage((await keysBelow(store, FLUSHES))[0] ?? '');
    countLinks(one, 3);
    clock.advance(MINUTE);
    await one.refresh();
    const two = start();
    await refreshAll([two], 3);
    expect(allTime(two)).toBe(3);
    expect(log.lines.filter((line) => line.includes('corrupt flush'))).toHaveLength(1);
  });

  it('that vanished before anybody read them are stepped over', async () => {
    const [one, two] = [start(), start()];
    await refreshAll([one, two], 1);
    countLinks(one, 100);
    await one.refresh();
    await memory.delete((await keysBelow(store, FLUSHES))[0] ?? '');
    countLinks(one, 3);
    clock.advance(MINUTE);
    await one.refresh();
    await refreshAll([two], 3);
    expect(allTime(two)).toBe(3);
  });

  it('that one listing did not have yet are waited for', async () => {
    const one = start();
    for (let i = 0; i < 3; i++) {
      countLinks(one, 1);
      await one.refresh();
      clock.advance(MINUTE);
    }
    const [, hidden = ''] = await keysBelow(store, FLUSHES);
    let listings = 0;
    const slow: ObjectStore = {
      ...store,
      async *list(prefix, options) {
        const isFirst = prefix.startsWith(FLUSHES) && listings++ === 0;
        for await (const info of store.list(prefix, options)) {
          if (!isFirst || info.key !== hidden) yield info;
        }
      },
    };
    const two = createProcess(slow, clock);
    await two.refresh();
    expect(allTime(two)).toBe(1);
    await two.refresh();
    expect(allTime(two)).toBe(3);
  });

  it('of a newer Slipway wait for one that can read them', async () => {
    const two = start();
    const id = '00000000-0000-4000-8000-000000000000';
    const key = `${FLUSHES}2026-11-21T09/${id}.00000001.json`;
    await memory.create(key, renderEnvelope({ schema_version: 2, instance: id, number: 1 }));
    await refreshAll([two], 3);
    countLinks(two, 1);
    clock.advance(2 * HOUR);
    await refreshAll([two], 2);
    clock.advance(3 * DAY);
    countLinks(two, 1);
    await refreshAll([two], 2);
    expect(await memory.head(key)).toBeDefined();
    expect(log.lines.filter((line) => line.includes('newer Slipway'))).toHaveLength(1);
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
