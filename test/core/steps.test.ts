import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runInTurns } from '../../src/core/run-in-turns.ts';
import { ITEMS_PER_STEP, mapInSteps, runAtOnce, type Steps } from '../../src/core/steps.ts';

describe('work in steps', () => {
  const items = Array.from({ length: 4 * ITEMS_PER_STEP }, (_, index) => index);
  const double = () => mapInSteps(items, (item) => item * 2);

  it('gives the same result at once and in turns', async () => {
    const expected = items.map((item) => item * 2);
    expect(runAtOnce(double())).toEqual(expected);
    expect(await runInTurns(double())).toEqual(expected);
  });

  /** Counts how often the event loop handles another event until the work is done. */
  const roundsDuring = async (work: Promise<unknown>): Promise<number> => {
    let others = 0;
    let isDone = false;
    const other = (async () => {
      while (!isDone) {
        others += 1;
        await setImmediate();
      }
    })();
    await work;
    isDone = true;
    await other;
    return others;
  };

  /** A step that takes longer than a turn may take. */
  function* longSteps(count: number): Steps<void> {
    for (let step = 0; step < count; step++) {
      const end = performance.now() + 3;
      while (performance.now() < end);
      yield;
    }
  }

  it('in turns: other events are handled after each long step', async () => {
    expect(await roundsDuring(runInTurns(longSteps(8)))).toBeGreaterThanOrEqual(8);
  });

  it('in turns: work of several callers shares the turns', async () => {
    const works = [2, 3, 4].map((count) => runInTurns(longSteps(count)));
    expect(await roundsDuring(Promise.all(works))).toBeGreaterThanOrEqual(9);
  });

  it('in turns: the first step leaves the event of the caller alone', async () => {
    let hasBegun = false;
    const work = runInTurns(
      mapInSteps([1], () => {
        hasBegun = true;
      }),
    );
    await Promise.resolve();
    expect(hasBegun).toBe(false);
    await work;
    expect(hasBegun).toBe(true);
  });

  it('in turns: work may begin other work, and its failure leaves other work alone', async () => {
    const inner: Promise<readonly number[]>[] = [];
    const outer = mapInSteps([1, 2, 3], (item) => {
      inner.push(runInTurns(mapInSteps([item], (each) => each * 2)));
    });
    const failing = mapInSteps([1], () => {
      throw new Error('this one');
    });
    const [, failed] = await Promise.allSettled([runInTurns(outer), runInTurns(failing)]);
    expect(failed.status).toBe('rejected');
    expect(await Promise.all(inner)).toEqual([[2], [4], [6]]);
  });

  it('rethrows the error of a step', async () => {
    const failing = () =>
      mapInSteps(items, (item) => {
        if (item > ITEMS_PER_STEP) throw new Error('this one');
      });
    expect(() => runAtOnce(failing())).toThrow('this one');
    await expect(runInTurns(failing())).rejects.toThrow('this one');
  });
});
