import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { END_KEPT_MS_MIN } from '../../../src/store/sequence/end.ts';
import { findLast } from '../../../src/store/sequence/sequence.ts';
import {
  listSequences,
  NEWEST_KEPT,
  neededBelow,
  removableKeys,
} from '../../../src/store/sequence/trim.ts';
import { createFixedClock, type FixedClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';

describe('a sequence that is trimmed', () => {
  const sequence = { key: (number: number) => `s/${number}.json` };

  async function write(store: ObjectStore, clock: FixedClock, number: number): Promise<void> {
    await store.create(sequence.key(number), Buffer.from('{}'));
    await trim(store, clock);
  }

  async function trim(store: ObjectStore, clock: FixedClock): Promise<void> {
    const parse = (key: string) => ({ of: 's', number: Number(/\d+/.exec(key)?.[0]) });
    for await (const listed of listSequences(store, 's/', parse)) {
      for (const { key } of removableKeys({ store, clock }, listed)) await store.delete(key);
    }
  }

  it('is read to its end, at every length and after every trimming', async () => {
    const steps = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (lengths) => {
        const store = createMemoryStore({ clock: createFixedClock() });
        const kept = new Set<number>();
        let newest = 0;
        for (const more of lengths) {
          for (let number = newest + 1; number <= newest + more; number++) {
            await store.create(sequence.key(number), Buffer.from('{}'));
            kept.add(number);
          }
          newest += more;
          expect(await findLast(store, sequence)).toBe(newest);
          for (const number of kept) {
            if (newest < neededBelow(number)) continue;
            await store.delete(sequence.key(number));
            kept.delete(number);
            expect(await findLast(store, sequence)).toBe(newest);
          }
          for (let number = Math.max(1, newest - NEWEST_KEPT + 1); number <= newest; number++) {
            expect(kept).toContain(number);
          }
        }
      }),
      { numRuns: rounds(30, 60) },
    );
  });

  it('is read to its end while other processes write and trim', async () => {
    for (let length = 1; length <= 70; length++) {
      let isUnderWay = true;
      for (let probe = 1; isUnderWay; probe++) {
        const clock = createFixedClock();
        const inner = createMemoryStore({ clock });
        for (let number = 1; number <= length; number++) await write(inner, clock, number);
        clock.advance(2 * END_KEPT_MS_MIN);
        await trim(inner, clock);
        const reader = createFaultyStore(inner, async ({ number }) => {
          // Another process writes, and a third one trims, before this probe is answered.
          if (number === probe) await write(inner, clock, length + 1);
          return undefined;
        });
        const found = await findLast(reader, sequence);
        isUnderWay = reader.total() >= probe;
        expect(found, `${length} documents, probe ${probe}`).toBeGreaterThanOrEqual(length);
      }
    }
  });

  it('keeps few documents', () => {
    for (const newest of [1, 10, 300, 1_000, 65_535, 1_000_000]) {
      let kept = 0;
      for (let number = 1; number <= newest; number++) if (newest < neededBelow(number)) kept += 1;
      expect(kept).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(newest + 1)) + NEWEST_KEPT);
    }
  });
});
