import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { appendDocument, type Base } from '../../../src/store/sequence/append.ts';
import { createNewestKnown } from '../../../src/store/sequence/newest-known.ts';
import {
  findNewest,
  findNewestListed,
  readDocument,
  readNewer,
} from '../../../src/store/sequence/sequence.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';
import { type Condition, ledger, type Page, storePage } from './ledger.ts';

/** A run of many changes begins each search where it ended before. */

function pageBy(by: string) {
  return ({ newest, number, skipped, changeId }: Base<Page>): Page => {
    const before = newest === undefined ? 0 : newest.document.before + 1;
    return { number, changeId, by, before, skipped };
  };
}

it('finds the same document from any document that was known, whatever is above it', async () => {
  const condition = fc.constantFrom<Condition>('whole', 'whole', 'truncated', 'altered');
  const pages = fc.array(condition, { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(pages, fc.nat(), async (above, from) => {
      const store = createMemoryStore({ clock: createFixedClock() });
      const all: readonly Condition[] = ['whole', ...above];
      for (const [index, page] of all.entries()) await storePage(store, index + 1, page);
      const sound = all.flatMap((page, index) => (page === 'whole' ? [index + 1] : []));
      const number = sound[from % sound.length] ?? 1;
      const document = await readDocument(store, ledger, number);
      if (document === undefined) throw new Error('It was stored.');
      for (const find of [findNewest, findNewestListed]) {
        const known = await find(store, ledger, { number, document });
        expect(known).toEqual(await find(store, ledger));
      }
    }),
    { numRuns: rounds(50, 100) },
  );
});

it('sees what other writers added, and loses no change', async () => {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const writers = [1, 2, 3].map((seed) => ({
    ...{ store, clock, randomness: createSeededRandomness(seed) },
    newestKnown: createNewestKnown(),
  }));
  for (let round = 0; round < 20; round++) {
    for (const deps of writers) await appendDocument(deps, ledger, pageBy('in turn'));
    await Promise.all(writers.map((deps) => appendDocument(deps, ledger, pageBy('at once'))));
  }
  const pages = (await readNewer(store, ledger, 0)).entries.map(({ document }) => document);
  expect(pages).toHaveLength(120);
  expect(pages.map(({ before }) => before)).toEqual(pages.map((_, index) => index));
});

it('asks the store only for the next number when there is no other writer', async () => {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const deps = { store, clock, randomness: createSeededRandomness(1) };
  for (let count = 0; count < 100; count++) await appendDocument(deps, ledger, pageBy('alone'));
  const known = { ...deps, newestKnown: createNewestKnown() };
  await appendDocument(known, ledger, pageBy('known'));
  store.forgetCalls();
  for (let count = 0; count < 10; count++) await appendDocument(known, ledger, pageBy('known'));
  expect(store.counts.get).toBe(10);
  expect(store.counts.create).toBe(10);
});
