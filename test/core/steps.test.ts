import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runInTurns } from '../../src/core/run-in-turns.ts';
import { ITEMS_PER_STEP, mapInSteps, runAtOnce } from '../../src/core/steps.ts';

describe('work in steps', () => {
  const items = Array.from({ length: 4 * ITEMS_PER_STEP }, (_, index) => index);
  const double = () => mapInSteps(items, (item) => item * 2);

  it('gives the same result at once and in turns', async () => {
    const expected = items.map((item) => item * 2);
    expect(runAtOnce(double())).toEqual(expected);
    expect(await runInTurns(double())).toEqual(expected);
  });

  it('in turns: other events are handled after each step', async () => {
    let others = 0;
    let isDone = false;
    const other = (async () => {
      while (!isDone) {
        others += 1;
        await setImmediate();
      }
    })();
    await runInTurns(double());
    isDone = true;
    await other;
    expect(others).toBeGreaterThanOrEqual(4);
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
