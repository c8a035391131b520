import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { parseFlush } from '../../src/usage/flush-document.ts';
import { parseFlushKey } from '../../src/usage/keys.ts';
import type { Telemetry } from '../../src/usage/telemetry.ts';
import { createFixedClock, createSeededRandomness, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultPlan, type FaultyStore } from '../support/faulty-store.ts';
import {
  allTime,
  countLinks,
  createProcess,
  createRecordedLog,
  DAY,
  HOUR,
  keysBelow,
  MINUTE,
  refreshAll,
} from './support.ts';

/** Processes count, flush, compact at once, crash, pause for days, and lose answers: no count is lost or doubled. */

type Command =
  | { readonly kind: 'count'; readonly who: number; readonly times: number }
  | { readonly kind: 'refresh'; readonly who: readonly number[] }
  | { readonly kind: 'crash'; readonly who: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'faults'; readonly rate: number };

const who = fc.nat({ max: 2 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('count'),
      who,
      times: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('refresh'),
      who: fc.uniqueArray(who, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash'), who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance'),
      ms: fc.constantFrom(
        MINUTE,
        20 * MINUTE,
        65 * MINUTE,
        2 * HOUR,
        13 * HOUR,
        26 * HOUR,
        8 * DAY,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('faults'), rate: fc.constantFrom(0, 0.1, 0.4, 1) }),
  },
) as fc.Arbitrary<Command>;

/** The store's own word on what was flushed: each key once, whatever became of its object. */
function recordFlushes(inner: ObjectStore): { store: ObjectStore; landed: Map<string, number> } {
  const landed = new Map<string, number>();
  return {
    landed,
    store: {
      ...inner,
      create: async (key, body, options) => {
        const outcome = await inner.create(key, body, options);
        const name = parseFlushKey(key);
        if (outcome === 'created' && name !== undefined) {
          landed.set(
            key,
            parseFlush(body, name).rows.reduce((sum, { links }) => sum + links, 0),
          );
        }
        return outcome;
      },
    },
  };
}

/** Fails at this rate, half of it after the effect; and lets others go first, by chance. */
function shuffle(seed: number, rate: number): FaultPlan {
  const randomness = createSeededRandomness(seed);
  return async () => {
    for (let turns = Math.floor(randomness.fraction() * 6); turns > 0; turns--) await null;
    if (randomness.fraction() >= rate) return undefined;
    return { when: randomness.fraction() < 0.5 ? 'before' : 'after' };
  };
}

class World {
  readonly clock: FixedClock = createFixedClock();
  readonly log = createRecordedLog();
  readonly landed: Map<string, number>;
  readonly store: FaultyStore;
  readonly processes: Telemetry[] = [];
  private seed: number;

  constructor(seed: number) {
    this.seed = seed;
    const { store, landed } = recordFlushes(createMemoryStore({ clock: this.clock }));
    this.landed = landed;
    this.store = createFaultyStore(store, shuffle(seed, 0));
    for (let i = 0; i < 3; i++) this.start(i);
  }

  start(i: number): void {
    this.processes[i] = createProcess(this.store, this.clock, { seed: this.seed++, log: this.log });
  }

  total(): number {
    return [...this.landed.values()].reduce((sum, links) => sum + links, 0);
  }

  async run(step: Command): Promise<void> {
    if (step.kind === 'advance') this.clock.advance(step.ms);
    else if (step.kind === 'faults') this.store.setPlan(shuffle(this.seed++, step.rate));
    else if (step.kind === 'crash') this.start(step.who);
    else if (step.kind === 'refresh')
      await Promise.all(step.who.map((i) => this.process(i).refresh()));
    else countLinks(this.process(step.who), step.times);
  }

  process(i: number): Telemetry {
    const found = this.processes[i];
    if (found === undefined) throw new Error(`no process ${i}`);
    return found;
  }
}

describe('processes that count on one store', () => {
  it('agree on every count that reached it, whatever came between', async () => {
    let compactions = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: 60 }),
        fc.nat({ max: 1_000_000 }),
        async (commands, seed) => {
          const world = new World(seed);
          for (const step of commands) await world.run(step);
          world.store.setPlan(shuffle(seed, 0));
          const late = createProcess(world.store, world.clock, { log: world.log });
          const everybody = [...world.processes, late];
          // Late flushes are found by a listing of all, every hour; a number that is missing for good is
          // believed to be after two of them.
          for (let round = 0; round < 4; round++) {
            await refreshAll(everybody, 1);
            world.clock.advance(HOUR);
          }
          expect(everybody.map(allTime)).toEqual(everybody.map(() => world.total()));
          // And still after everything that was compacted has been deleted.
          for (let hours = 0; hours < 3; hours++) {
            countLinks(late, 1);
            world.clock.advance(26 * HOUR);
            await refreshAll(everybody, 2);
          }
          expect(everybody.map(allTime)).toEqual(everybody.map(() => world.total()));
          const stored = await keysBelow(world.store, 'events/compactions/');
          compactions += stored.length;
          runs++;
        },
      ),
      { numRuns: 200 },
    );
    console.log(
      `counters: ${runs} interleavings of 4 processes, ${compactions} compactions left, 0 counts lost or doubled`,
    );
    expect(compactions).toBeGreaterThan(runs);
  });
});
