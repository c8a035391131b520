import { describe, expect, it } from 'vitest';
import { startPolling } from '../../src/core/polling.ts';
import { createManualClock } from '../catalog/live/live-catalog.ts';

const INTERVAL_MS = 1_000;

/** A loop whose task fails while `plan.fails`; `ranAt` has the times, in milliseconds since the start. */
function setUp(options: { fraction?: number; firstMs?: number; intervalMs?: number } = {}) {
  const clock = createManualClock(0);
  const plan = { fails: false };
  const ranAt: number[] = [];
  const stop = startPolling(
    { clock, randomness: { fraction: () => options.fraction ?? 0.5, id: () => 'unused' } },
    options.intervalMs ?? INTERVAL_MS,
    async () => {
      ranAt.push(Math.round(clock.now()));
      if (plan.fails) throw new Error('on purpose');
    },
    options.firstMs,
  );
  return { clock, plan, ranAt, stop };
}

describe('a poll', () => {
  it('pauses first, and then between two runs', async () => {
    const { clock, ranAt, stop } = setUp();
    await clock.advance(3_500);
    expect(ranAt).toEqual([1_000, 2_000, 3_000]);
    await stop();
    await clock.advance(10_000);
    expect(ranAt).toHaveLength(3);
  });

  it.each([
    [0, 800],
    [1, 1_200],
  ])('is jittered by a fifth: chance %d', async (fraction, dueMs) => {
    const { clock, ranAt, stop } = setUp({ fraction });
    await clock.advance(dueMs + 1);
    expect(ranAt).toEqual([dueMs]);
    await stop();
  });

  it('has another first pause when one is given', async () => {
    const { clock, ranAt, stop } = setUp({ firstMs: 0 });
    await clock.advance(1_000);
    expect(ranAt).toEqual([0, 1_000]);
    await stop();
  });

  it('slows down while it fails, never beyond five seconds with the jitter, and recovers at once', async () => {
    const { clock, plan, ranAt, stop } = setUp({ fraction: 1 });
    plan.fails = true;
    await clock.advance(120_000);
    const pauses = ranAt.slice(1).map((at, index) => at - (ranAt[index] ?? 0));
    expect(pauses.slice(0, 4)).toEqual([2_400, 4_800, 4_800, 4_800]);
    expect(Math.max(...pauses)).toBeLessThan(5_000);
    plan.fails = false;
    await clock.advance(9_600);
    const before = ranAt.length;
    await clock.advance(12_000);
    expect(ranAt.length - before).toBe(10);
    await stop();
  });

  it('of a long interval does not slow down further', async () => {
    const { clock, plan, ranAt, stop } = setUp({ intervalMs: 60_000 });
    plan.fails = true;
    await clock.advance(240_000);
    expect(ranAt).toHaveLength(4);
    await stop();
  });

  it('reads a changing interval before each pause', async () => {
    const clock = createManualClock(0);
    let intervalMs = 1_000;
    const ranAt: number[] = [];
    const randomness = { fraction: () => 0.5, id: () => 'unused' };
    const stop = startPolling(
      { clock, randomness },
      () => intervalMs,
      async () => {
        ranAt.push(clock.now());
        intervalMs *= 2;
      },
    );
    await clock.advance(7_000);
    expect(ranAt).toEqual([1_000, 3_000, 7_000]);
    await stop();
  });

  it('aborts its task when it stops, and waits until the task has ended', async () => {
    const clock = createManualClock(0);
    const randomness = { fraction: () => 0.5, id: () => 'unused' };
    let isRunning = false;
    const stop = startPolling({ clock, randomness }, INTERVAL_MS, async (stopping) => {
      isRunning = true;
      await clock.sleep(60_000, stopping).catch(() => undefined);
      isRunning = false;
    });
    await clock.advance(INTERVAL_MS);
    expect(isRunning).toBe(true);
    await stop();
    expect(isRunning).toBe(false);
  });
});
