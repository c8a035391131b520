import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import {
  findNewestListed,
  findPresent,
  readDocument,
  type Sequence,
} from '../../../src/store/sequence/sequence.ts';
import { createFixedClock } from '../../support/clock.ts';
import { createRecordingStore, longestChain } from '../../support/recording-store.ts';
import { rounds } from '../../support/rounds.ts';
import { type Condition, ledger, type Page, storePage } from './ledger.ts';

/** The keys of catalog revisions have leading zeros, and the keys of other documents have none. */
const padded: Sequence<Page> = {
  ...ledger,
  key: (number) => `ledger/${String(number).padStart(10, '0')}.json`,
};

const condition = fc.constantFrom<Condition | 'missing'>(
  'whole',
  'whole',
  'whole',
  'truncated',
  'altered',
  'missing',
);

describe('the search of a publisher', () => {
  it('finds the same documents as the search of a service, from any known document', async () => {
    const pages = fc.array(condition, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(pages, fc.boolean(), fc.nat(), async (conditions, isPadded, from) => {
        const sequence = isPadded ? padded : ledger;
        const store = createMemoryStore({ clock: createFixedClock() });
        for (const [index, page] of conditions.entries()) {
          if (page === 'missing') continue;
          await storePage(store, index + 1, page, sequence.key);
        }
        const sound = conditions.flatMap((page, index) => (page === 'whole' ? [index + 1] : []));
        const number = sound[from % (sound.length + 1)];
        const document = number && (await readDocument(store, sequence, number));
        const known = number && document ? { number, document } : undefined;
        const { newest, last, corrupt } = await findNewestListed(store, sequence, known);
        expect(await findPresent(store, sequence, known)).toMatchObject({ newest, last, corrupt });
      }),
      { numRuns: rounds(150, 1_000) },
    );
  });

  it.each([
    [1, 3],
    [2, 3],
    [1_000, 3],
    [1_001, 3],
    [30_000, 4],
    [70_000, 6],
  ])(
    'after %i documents waits for %i answers, one after another, when none is known',
    async (count, chain) => {
      const memory = createMemoryStore({ clock: createFixedClock() });
      const isStored = (key: string) => Number(/\d+/.exec(key)?.[0]) <= count;
      await storePage(memory, count, 'whole', padded.key);
      const { store, requests } = createRecordingStore({
        ...memory,
        get: async (key, options) => {
          if (key === padded.key(count) || !isStored(key)) return memory.get(key, options);
          return { key, size: 1, etag: '"a"', lastModified: new Date(0), body: Buffer.alloc(1) };
        },
        async *list(_, { after } = {}) {
          const first = Number(/\d+/.exec(after ?? padded.key(0))?.[0]) + 1;
          for (let number = first; number <= count; number++) {
            yield { key: padded.key(number), size: 1, etag: '"a"', lastModified: new Date(0) };
          }
        },
      });
      expect(await findPresent(store, padded)).toMatchObject({ newest: { number: count } });
      expect(longestChain(requests)).toHaveLength(chain);
      expect(requests.filter(({ operation }) => operation === 'list')).toHaveLength(1);
    },
  );
});
