import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { createHousekeeping } from '../../../src/server/housekeeping/housekeeping.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';

const HOUR_MS = 3_600_000;

function setUp() {
  const clock = createFixedClock();
  const store = createMemoryStore({ clock });
  const ran: string[] = [];
  const log = pino({ level: 'silent' });
  const process = (name: string, on: ObjectStore = store, fails = false) =>
    createHousekeeping({
      store: on,
      clock,
      hostClock: clock,
      randomness: createSeededRandomness(1),
      log,
      tasks: {
        first: async () => {
          if (fails) throw new Error('on purpose');
          ran.push(`${name} first`);
          return 1;
        },
        second: async () => {
          ran.push(`${name} second`);
          return 0;
        },
      },
    });
  const keys = async () => {
    const found = [];
    for await (const { key } of store.list('')) found.push(key);
    return found;
  };
  return { clock, store, ran, process, keys };
}

describe('cleaning up', () => {
  it('is done once an hour, by the first process that claims the hour', async () => {
    const { clock, ran, process } = setUp();
    const processes = [process('a'), process('b'), process('c')];
    await Promise.all(processes.map((one) => one.runOnce()));
    expect(ran).toHaveLength(2);
    expect(new Set(ran.map((line) => line[0])).size).toBe(1);
    clock.advance(HOUR_MS);
    await processes[2]?.runOnce();
    expect(ran.slice(2)).toEqual(['c first', 'c second']);
  });

  it('runs the other tasks when one fails', async () => {
    const { ran, process, store } = setUp();
    await process('a', store, true).runOnce();
    expect(ran).toEqual(['a second']);
  });

  it('leaves no more claims than it needs', async () => {
    const { clock, process, keys } = setUp();
    for (let hour = 0; hour < 10; hour++) {
      await process('a').runOnce();
      clock.advance(HOUR_MS);
    }
    expect((await keys()).length).toBeLessThanOrEqual(3);
  });

  it('begins soon after the start, and can be stopped while it waits', async () => {
    const { ran, store, clock } = setUp();
    const pauses: number[] = [];
    // The first pause is over at once, the next ones when they are given up.
    const waiting: Clock = {
      now: clock.now,
      sleep: (ms, signal) => {
        pauses.push(ms);
        if (pauses.length === 1) return clock.sleep(ms, signal);
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        });
      },
    };
    const one = createHousekeeping({
      store,
      clock: waiting,
      hostClock: waiting,
      randomness: createSeededRandomness(1),
      log: pino({ level: 'silent' }),
      tasks: { only: async () => ran.push('only') },
    });
    one.start();
    await expect.poll(() => ran).toEqual(['only']);
    await expect.poll(() => pauses.length).toBe(2);
    await one.stop();
    expect(pauses[0]).toBeGreaterThanOrEqual(60_000);
    expect(pauses[0]).toBeLessThanOrEqual(300_000);
  });

  it.each([1, 24, 400 * 24])(
    'deletes nothing when the clock of this machine is %i hours off',
    async (hours) => {
      for (const sign of [1, -1]) {
        const { store, ran, clock } = setUp();
        const lines: string[] = [];
        const write = (line: string) => void lines.push(line);
        const hostClock = { now: () => clock.now() + sign * hours * HOUR_MS };
        const housekeeping = createHousekeeping({
          store,
          clock,
          hostClock,
          randomness: createSeededRandomness(1),
          log: pino({ level: 'info' }, { write }),
          tasks: { only: async () => ran.push('only') },
        });
        await housekeeping.runOnce();
        expect(ran).toEqual([]);
        expect(lines.join()).toContain('far from the store');
      }
    },
  );

  it('waits when the store does not take the claim', async () => {
    const { ran, process, store, clock } = setUp();
    const faulty = createFaultyStore(store);
    faulty.goDown();
    await process('a', faulty).runOnce();
    expect(ran).toEqual([]);
    faulty.comeUp();
    clock.advance(1);
    await process('a', faulty).runOnce();
    expect(ran).toHaveLength(2);
  });
});
