import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createByteLimit } from '../../../src/releases/files/byte-limit.ts';

const LIMIT = { bytes: 100, count: 4 };

it('the work of a byte limit runs in its order, never above the limit, and each piece once', async () => {
  const piece = fc.record({
    bytes: fc.nat({ max: 300 }),
    ms: fc.nat({ max: 2 }),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const { run } = createByteLimit(LIMIT.bytes, LIMIT.count);
      const started: number[] = [];
      let held = 0;
      let count = 0;
      const settled = await Promise.allSettled(
        pieces.map(({ bytes, ms, fails }, index) =>
          run(bytes, async () => {
            started.push(index);
            held += Math.min(bytes, LIMIT.bytes);
            count++;
            expect(held).toBeLessThanOrEqual(LIMIT.bytes);
            expect(count).toBeLessThanOrEqual(LIMIT.count);
            await setTimeout(ms);
            held -= Math.min(bytes, LIMIT.bytes);
            count--;
            if (fails) throw new Error('a failure');
            return index;
          }),
        ),
      );
      expect(started).toEqual([...pieces.keys()]);
      expect(settled.map(({ status }) => status === 'rejected')).toEqual(
        pieces.map(({ fails }) => fails),
      );
    }),
  );
});
