import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { bulkPublish } from '../bulk-publish.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  useCatalogs,
  type World,
} from './live-catalog.ts';

/** More than a service verifies with a HEAD each. */
const MANY = 70;
const NINE_MINUTES_MS = 9 * 60_000;
const NEWEST = `1.0.${MANY - 1}`;
const BEFORE_NEWEST = `1.0.${MANY - 2}`;

const catalogs = useCatalogs();

async function start(world: World, store: ObjectStore): Promise<Catalog> {
  const catalog = await catalogs.start(world, { store });
  await world.clock.advance(POLL_MS);
  return catalog;
}

const isOfArtifacts = (prefix: string): boolean => prefix.endsWith('/artifacts/');

/** A store that lists in pages, with many releases; `listed` changes what a listing shows. */
async function setUp(count = MANY) {
  const world = createWorld();
  const keys = await bulkPublish(world, count);
  let listed: ObjectStore['list'] = world.memory.list;
  let listings = 0;
  const store: FaultyStore = createFaultyStore({
    ...world.memory,
    listsInPages: true,
    list: (prefix, options) => {
      if (!isOfArtifacts(prefix)) return world.memory.list(prefix, options);
      listings += 1;
      return listed(prefix, options);
    },
  });
  const lastKey = keys.at(-1) ?? '';
  return {
    world,
    store,
    lastKey,
    /** Requests since `store.forgetCalls`: HEADs, and all listings of artifacts. */
    asked: () => ({ listings, heads: store.counts.head }),
    setListing: (list: ObjectStore['list']) => {
      listed = list;
    },
    /** A service that has verified everything; `due` is called before it verifies everything again. */
    verifyTwice: async (due: () => Promise<void> | void) => {
      const catalog = await start(world, store);
      expect(await offered(catalog)).toBe(`1.0.${count - 1}`);
      store.forgetCalls();
      await due();
      await world.clock.advance(NINE_MINUTES_MS + 2 * POLL_MS);
      return catalog;
    },
  };
}

describe('verification of many releases', () => {
  it('asks once for a file that many releases share', async () => {
    const world = createWorld();
    await bulkPublish(world, MANY, 'desktop', () => 0);
    await start(world, world.store);
    const { head } = world.store.counts;
    console.log(`${MANY} releases with one file: ${head} HEADs`);
    // The releases that the service verifies at the same time ask at the same time.
    expect(head).toBeLessThan(MANY / 2);
    world.store.forgetCalls();
    await world.clock.advance(NINE_MINUTES_MS + 2 * POLL_MS);
    expect(world.store.counts.head).toBeGreaterThan(0);
  });

  it('asks for one listing instead of a HEAD for each file', async () => {
    const { verifyTwice, asked } = await setUp();
    const catalog = await verifyTwice(() => {
      expect(asked()).toEqual({ listings: 1, heads: 0 });
    });
    expect(asked()).toEqual({ listings: 2, heads: 0 });
    expect(problemsOf(catalog)).toBe('');
  });

  it('asks for each file when few are due, and when a listing looks at each object', async () => {
    const few = await setUp(10);
    await few.verifyTwice(() => undefined);
    expect(few.asked()).toEqual({ listings: 0, heads: 10 });
    const { world } = await setUp();
    await start(world, world.store);
    expect(world.store.counts.head).toBe(MANY);
  });

  it('finds a deleted file', async () => {
    const { world, verifyTwice, lastKey } = await setUp();
    const catalog = await verifyTwice(() => world.memory.delete(lastKey));
    expect(await offered(catalog)).toBe(BEFORE_NEWEST);
    expect(problemsOf(catalog)).toBe(`${NEWEST} is not offered: ${lastKey} is missing.`);
  });

  it('finds a file of another size', async () => {
    const { world, verifyTwice, lastKey } = await setUp();
    const catalog = await verifyTwice(() => world.tamper(lastKey, () => 'other'));
    expect(await offered(catalog)).toBe(BEFORE_NEWEST);
    expect(problemsOf(catalog)).toContain(`${lastKey} has 5 bytes, not 3.`);
  });

  it('asks again for a file that a stale listing lacks or shows with another size', async () => {
    const { world, asked, verifyTwice, setListing } = await setUp();
    const catalog = await verifyTwice(() =>
      setListing(async function* (prefix) {
        let number = 0;
        for await (const info of world.memory.list(prefix)) {
          number += 1;
          if (number > 2) yield number === 3 ? { ...info, size: 1 } : info;
        }
      }),
    );
    expect(asked()).toEqual({ listings: 2, heads: 3 });
    expect(await offered(catalog)).toBe(NEWEST);
    expect(problemsOf(catalog)).toBe('');
  });

  it('asks for the rest when the listing fails', async () => {
    const { world, asked, verifyTwice, setListing } = await setUp();
    const listed = 50;
    const catalog = await verifyTwice(() =>
      setListing(async function* (prefix) {
        let number = 0;
        for await (const info of world.memory.list(prefix)) if (number++ < listed) yield info;
        yield* createFaultyStore(world.memory, () => ({ when: 'before' })).list(prefix);
      }),
    );
    expect(asked()).toEqual({ listings: 2, heads: MANY - listed });
    expect(problemsOf(catalog)).toBe('');
    expect(world.log).toEqual([expect.stringMatching(/^cannot list the artifacts/)]);
  });

  it('hides nothing while the store does not answer, and finds a deleted file afterwards', async () => {
    const { world, store, verifyTwice, lastKey } = await setUp();
    const catalog = await verifyTwice(async () => {
      await world.memory.delete(lastKey);
      store.setPlan(({ key, method }) =>
        method === 'list' || key.includes('/artifacts/') ? { when: 'before' } : undefined,
      );
    });
    expect(await offered(catalog)).toBe(NEWEST);
    store.setPlan(undefined);
    await world.clock.advance(60_000);
    expect(await offered(catalog)).toBe(BEFORE_NEWEST);
  });

  it('has at most 16 requests under way, and many releases of two applications', async () => {
    const world = createWorld();
    const names = ['desktop', 'second', 'third'];
    for (const name of names) await bulkPublish(world, MANY, name);
    let underWay = 0;
    let most = 0;
    let mostListings = 0;
    const listings = new Set<string>();
    const store: ObjectStore = {
      ...world.memory,
      listsInPages: true,
      head: async (key) => {
        most = Math.max(most, ++underWay);
        await setImmediate();
        underWay -= 1;
        return world.memory.head(key);
      },
      async *list(prefix, options) {
        if (!isOfArtifacts(prefix)) return yield* world.memory.list(prefix, options);
        listings.add(prefix);
        mostListings = Math.max(mostListings, listings.size);
        await setImmediate();
        listings.delete(prefix);
        // Lacks every object, so that each gets a HEAD.
        return undefined;
      },
    };
    const catalog = await start(world, store);
    await world.clock.advance(60_000);
    expect(most).toBe(16);
    expect(mostListings).toBe(2);
    expect(problemsOf(catalog)).toBe('');
  });
});
