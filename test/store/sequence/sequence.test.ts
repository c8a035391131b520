import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createRefusals } from '../../../src/store/sequence/read-checked.ts';
import {
  advance,
  findNewest,
  type Position,
  readDocument,
  readNewer,
} from '../../../src/store/sequence/sequence.ts';
import { createFixedClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';
import { type Condition, ledger, type Page, storePage } from './ledger.ts';

const condition = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Condition>('whole') },
  { weight: 1, arbitrary: fc.constantFrom<Condition>('truncated', 'altered', 'too large') },
);
const pages = fc.array(condition, { maxLength: 70 });

async function storeWith(conditions: readonly Condition[]) {
  const store = createFaultyStore(createMemoryStore({ clock: createFixedClock() }));
  for (const [index, page] of conditions.entries()) await storePage(store, index + 1, page);
  store.forgetCalls();
  return store;
}

/** What a reader must find, told from the conditions alone. */
function expected(conditions: readonly Condition[]) {
  const newest = conditions.lastIndexOf('whole') + 1;
  const corrupt = conditions.slice(newest).map((_, index) => newest + index + 1);
  return { newest: newest === 0 ? undefined : newest, corrupt, last: conditions.length };
}

function summary({ newest, corrupt, last }: Position<Page>) {
  return { newest: newest?.number, corrupt: corrupt.map(({ number }) => number), last };
}

describe('the newest document of a sequence', () => {
  it('is found among any corrupt documents, in a logarithmic number of requests', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(pages, async (conditions) => {
        const store = await storeWith(conditions);
        const found = await findNewest(store, ledger);
        expect(summary(found)).toEqual(expected(conditions));
        const steps = Math.ceil(Math.log2(conditions.length + 1));
        // One document is read; each corrupt one above it twice, and held against a listing.
        const { length } = found.corrupt;
        expect(store.counts.get).toBeLessThanOrEqual(2 * steps + 1 + 2 * length + 1);
        expect(store.counts.list).toBe(length);
        expect(store.counts.head).toBe(0);
        runs++;
      }),
      { numRuns: rounds(100, 300) },
    );
    console.log(
      `sequences with corrupt documents anywhere: ${runs} random ones, each read as it must be`,
    );
  });

  it('of ten thousand takes 29 requests', async () => {
    const store = await storeWith(Array.from({ length: 10_000 }, () => 'whole' as const));
    expect((await findNewest(store, ledger)).last).toBe(10_000);
    console.log(`cold start on 10,000 documents: ${store.total()} requests`);
    expect(store.total()).toBeLessThanOrEqual(29);
  });

  it('of a newer schema stops readers', async () => {
    const store = await storeWith(['whole', 'newer']);
    await expect(findNewest(store, ledger)).rejects.toMatchObject({ code: 'document_newer' });
    const { last, failure } = await readNewer(store, ledger, 0);
    expect({ last, code: failure?.code }).toEqual({ last: 1, code: 'document_newer' });
  });

  it('is unknown, not missing, when the store fails', async () => {
    const store = await storeWith(['whole', 'whole', 'whole']);
    for (const code of ['store_unavailable', 'store_denied'] as const) {
      store.setPlan(({ number }) => (number === 2 ? { when: 'before', code } : undefined));
      await expect(findNewest(store, ledger)).rejects.toMatchObject({ code });
      store.setPlan(({ number }) => (number === 2 ? { when: 'before', code } : undefined));
      await expect(readNewer(store, ledger, 0)).rejects.toMatchObject({ code });
    }
  });

  it('that is above the size limit is corrupt, and is not read into memory', async () => {
    const store = await storeWith(['too large']);
    await expect(readDocument(store, ledger, 1)).rejects.toMatchObject({
      code: 'document_corrupt',
    });
  });
});

describe('reading on', () => {
  it('from any position ends where a cold start ends', async () => {
    await fc.assert(
      fc.asyncProperty(pages, pages, fc.boolean(), async (first, second, fromReadable) => {
        const store = await storeWith(first);
        const refusals = createRefusals();
        const known = new Set<number>();
        let position = await findNewest(store, ledger);
        for (const [index, page] of second.entries()) {
          await storePage(store, first.length + index + 1, page);
        }
        // From the last number, as writers do, or from the last readable one, as a catalog does to
        // notice a repair. Twice: what is corrupt still must not be counted again.
        for (let poll = 0; poll < 3; poll++) {
          const after = fromReadable ? (position.newest?.number ?? 0) : position.last;
          store.forgetCalls();
          const newer = await readNewer(store, ledger, after, { refusals });
          const documents = first.length + second.length - after;
          // A corrupt document is read twice and listed once. After that, a HEAD shows that it is unchanged.
          const proven = newer.corrupt.filter(({ number }) => !known.has(number));
          for (const { number } of proven) known.add(number);
          expect(store.total()).toBe(documents + 1 + 2 * proven.length);
          expect(store.counts.get).toBe(documents + 1 - newer.corrupt.length + 2 * proven.length);
          expect(newer.entries.length + newer.corrupt.length).toBe(documents);
          position = advance(ledger, position, newer);
        }
        expect(summary(position)).toEqual(expected([...first, ...second]));
      }),
      { numRuns: rounds(60, 200) },
    );
  });
});
