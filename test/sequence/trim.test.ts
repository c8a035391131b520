import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { findLast } from '../../src/sequence/sequence.ts';
import { isNeeded, NEWEST_KEPT } from '../../src/sequence/trim.ts';
import { createFixedClock } from '../support/clock.ts';

describe('a sequence that is trimmed', () => {
  const sequence = { key: (number: number) => `s/${number}.json` };

  it('is found as far as it goes, at every length, however it was trimmed before', async () => {
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
            if (isNeeded(number, newest)) continue;
            await store.delete(sequence.key(number));
            kept.delete(number);
            expect(await findLast(store, sequence)).toBe(newest);
          }
          for (let number = Math.max(1, newest - NEWEST_KEPT + 1); number <= newest; number++) {
            expect(kept).toContain(number);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps few documents', () => {
    for (const newest of [1, 10, 300, 1_000, 65_535, 1_000_000]) {
      let kept = 0;
      for (let number = 1; number <= newest; number++) if (isNeeded(number, newest)) kept += 1;
      expect(kept).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(newest + 1)) + NEWEST_KEPT);
    }
  });
});
