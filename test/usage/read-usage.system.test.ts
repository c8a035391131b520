import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { renderEnvelope } from '../../src/store/sequence/envelope.ts';
import { snapshotKey, totalKey } from '../../src/usage/keys.ts';
import { type ReadUsage, readUsage } from '../../src/usage/read-usage.ts';
import { createFixedClock, createSeededRandomness, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../support/faulty-store.ts';
import { rounds } from '../support/rounds.ts';
import {
  countChecks,
  countLinks,
  createProcess,
  createRecordedLog,
  DAY,
  HOUR,
  keysBelow,
  MINUTE,
  refreshAll,
} from './support.ts';

const COUNTERS = 'usage/counters/';
const TOTALS = 'usage/totals/';

let clock: FixedClock;
let memory: ObjectStore;
let store: FaultyStore;

beforeEach(() => {
  clock = createFixedClock();
  memory = createMemoryStore({ clock });
  store = createFaultyStore(memory);
});

const read = () => readUsage({ store, clock, log: createRecordedLog() });
const linksOf = ({ rows }: ReadUsage): number => rows.reduce((sum, { links }) => sum + links, 0);

async function corrupt(key: string, bytes: Uint8Array = Buffer.from('{"signed":')): Promise<void> {
  await memory.delete(key);
  await memory.create(key, bytes);
}

const newer = (type: string): Uint8Array => renderEnvelope({ schema_version: 99, type });

/** The counts of two processes. The counts of the first are in a total. */
async function countTwice(): Promise<void> {
  countLinks(await refreshed(createProcess(store, clock)), 0);
  const first = createProcess(store, clock);
  countLinks(first, 5);
  await first.refresh();
  clock.advance(3 * HOUR);
  const second = createProcess(store, clock);
  countLinks(second, 2);
  await refreshAll([second], 2);
}

async function refreshed<T extends { refresh(): Promise<void> }>(usage: T): Promise<T> {
  await usage.refresh();
  return usage;
}

describe('the stored counts', () => {
  it('are none in an empty store', async () => {
    expect(await read()).toEqual({
      rows: [],
      countedSince: undefined,
      newestAt: undefined,
      unreadable: [],
    });
  });

  it('are those of the newest total and of every counter that it does not have', async () => {
    const began = clock.now();
    await countTwice();
    expect(await keysBelow(memory, TOTALS)).toHaveLength(1);
    const found = await read();
    expect(linksOf(found)).toBe(7);
    // One row: both counted the same group.
    expect(found.rows).toHaveLength(1);
    expect(found.countedSince).toBe(began);
    expect(found.newestAt).toBe(clock.now());
    expect(store.counts.create).toBeGreaterThan(0);
    store.forgetCalls();
    await read();
    expect(store.counts).toMatchObject({ create: 0, delete: 0, upload: 0, list: 1 });
  });

  it('say which counters were read', async () => {
    await refreshAll(
      [1, 2, 3].map(() => {
        const usage = createProcess(store, clock);
        countLinks(usage, 1);
        return usage;
      }),
      1,
    );
    const steps: string[] = [];
    const onProgress = (done: number, of: number) => steps.push(`${done}/${of}`);
    await readUsage({ store, clock, log: createRecordedLog(), onProgress });
    expect(steps).toEqual(['1/3', '2/3', '3/3']);
  });

  it('leave out a corrupt total and its counters that are deleted, and name it', async () => {
    await countTwice();
    await corrupt(totalKey(1));
    const { unreadable, ...found } = await read();
    // Its counter is kept for a day.
    expect(linksOf(found as ReadUsage)).toBe(7);
    expect(unreadable).toMatchObject([{ key: totalKey(1), problem: 'corrupt' }]);
  });

  it('leave out a total of a newer release, and use the one before it', async () => {
    await countTwice();
    await memory.create(totalKey(2), newer('usage_total'));
    const found = await read();
    expect(linksOf(found)).toBe(7);
    expect(found.unreadable).toMatchObject([{ key: totalKey(2), problem: 'newer' }]);
  });

  it('leave out a corrupt snapshot and one of a newer release, and name both', async () => {
    const usage = createProcess(store, clock);
    for (const times of [4, 2]) {
      countLinks(usage, times);
      await usage.refresh();
    }
    const [before, newest] = await keysBelow(memory, COUNTERS);
    await corrupt(String(newest));
    const foreign = snapshotKey('00000000-0000-4000-8000-000000000000', 1);
    await memory.create(foreign, newer('usage_snapshot'));
    const found = await read();
    expect(linksOf(found)).toBe(4);
    const byKey = new Map(found.unreadable.map(({ key, problem }) => [key, problem]));
    expect(byKey).toEqual(
      new Map([
        [String(newest), 'corrupt'],
        [foreign, 'newer'],
      ]),
    );
    await corrupt(String(before));
    expect(linksOf(await read())).toBe(0);
  });

  it('are an error while the store is down', async () => {
    await countTwice();
    store.goDown();
    await expect(read()).rejects.toMatchObject({ code: 'store_unavailable' });
    store.comeUp();
    store.setPlan(({ method }) => (method === 'get' ? { when: 'before' } : undefined));
    await expect(read()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('are listed again when a service deleted a snapshot before it was read', async () => {
    const usage = createProcess(store, clock);
    countLinks(usage, 1);
    await usage.refresh();
    let flushes = 3;
    store.setPlan(async ({ method, key }) => {
      if (method !== 'get' || !key.startsWith(COUNTERS) || flushes === 0) return undefined;
      for (; flushes > 0; flushes--) {
        countLinks(usage, 1);
        await usage.refresh();
      }
      return undefined;
    });
    expect(linksOf(await read())).toBe(4);
    expect(store.counts.list).toBeGreaterThan(2);
  });

  it('are not guessed when every snapshot is deleted before it can be read', async () => {
    const usage = createProcess(memory, clock);
    countLinks(usage, 1);
    await usage.refresh();
    store.setPlan(async ({ method, key }) => {
      if (method !== 'get' || !key.startsWith(COUNTERS)) return undefined;
      for (let flush = 0; flush < 3; flush++) {
        countLinks(usage, 1);
        await usage.refresh();
      }
      return undefined;
    });
    await expect(read()).rejects.toThrow(/replaced 5 times .* Run the command again/);
  });
});

describe('a reader beside services', () => {
  it('finds each count once while they flush and roll up', async () => {
    const steps = fc.array(
      fc.record({
        counts: fc.array(fc.nat({ max: 4 }), { minLength: 3, maxLength: 3 }),
        advance: fc.constantFrom(MINUTE, HOUR, 3 * HOUR, 26 * HOUR, 8 * DAY),
        restarts: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 25, size: 'max' },
    );
    let reads = 0;
    let raced = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.nat({ max: 1_000_000 }), async (all, seed) => {
        const world = createFixedClock();
        const randomness = createSeededRandomness(seed);
        const shared = createFaultyStore(createMemoryStore({ clock: world }), async () => {
          for (let turns = Math.floor(randomness.fraction() * 8); turns > 0; turns--) await null;
          return undefined;
        });
        const start = () => createProcess(shared, world, { seed: seed++ });
        const processes = [start(), start(), start()];
        let stored = 0;
        for (const { counts, advance, restarts } of all) {
          world.advance(advance);
          let counted = 0;
          for (const [i, usage] of processes.entries()) {
            countChecks(usage, counts[i] ?? 0);
            countLinks(usage, counts[i] ?? 0);
            counted += counts[i] ?? 0;
          }
          const totals = (await keysBelow(shared, TOTALS)).length;
          const deps = { store: shared, clock: world, log: createRecordedLog() };
          const [found] = await Promise.all([
            readUsage(deps),
            ...processes.map((usage) => usage.refresh()),
          ]);
          reads++;
          if ((await keysBelow(shared, TOTALS)).length !== totals) raced++;
          expect(linksOf(found)).toBeGreaterThanOrEqual(stored);
          expect(linksOf(found)).toBeLessThanOrEqual(stored + counted);
          stored += counted;
          expect(linksOf(await readUsage(deps))).toBe(stored);
          if (restarts !== undefined) processes[restarts] = start();
        }
      }),
      { numRuns: rounds(20, 40) },
    );
    // Otherwise the property has proven nothing about roll-ups.
    expect(raced).toBeGreaterThan(reads / 20);
  });
});
