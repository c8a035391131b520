import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { ObjectInfo, ObjectStore } from '../../src/store/object-store.ts';
import { snapshotsOf } from '../../src/usage/documents.ts';
import { parseUsageKey } from '../../src/usage/keys.ts';
import type { Usage } from '../../src/usage/usage.ts';
import { createFixedClock, createSeededRandomness, type FixedClock } from '../support/clock.ts';
import { createFaultyStore, type FaultPlan, type FaultyStore } from '../support/faulty-store.ts';
import { rounds } from '../support/rounds.ts';
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

/**
 * Processes count, flush, roll up at the same time, crash, pause for days, write hours late, lose answers, get
 * old listings, and have clocks that are off: no count is lost or counted twice.
 */

type Command =
  | { readonly kind: 'count'; readonly process: number; readonly times: number }
  | { readonly kind: 'refresh'; readonly processes: readonly number[] }
  | { readonly kind: 'crash'; readonly process: number }
  | { readonly kind: 'clock'; readonly process: number; readonly aheadMs: number }
  | { readonly kind: 'hold'; readonly process: number; readonly calls: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | {
      readonly kind: 'faults';
      readonly rate: number;
      readonly staleRate: number;
      readonly totals: boolean;
    };

const HELD_MAX_MS = 14 * HOUR;
const TURNS = 50;

const index = fc.nat({ max: 2 });
const commands: readonly [number, fc.Arbitrary<Command>][] = [
  [
    4,
    fc.record({
      kind: fc.constant('count'),
      process: index,
      times: fc.integer({ min: 1, max: 9 }),
    }),
  ],
  [
    6,
    fc.record({
      kind: fc.constant('refresh'),
      processes: fc.uniqueArray(index, { minLength: 1, maxLength: 3 }),
    }),
  ],
  [1, fc.record({ kind: fc.constant('crash'), process: index })],
  [
    2,
    fc.record({
      kind: fc.constant('hold'),
      process: index,
      calls: fc.integer({ min: 1, max: 4 }),
    }),
  ],
  [
    1,
    fc.record({
      kind: fc.constant('clock'),
      process: index,
      aheadMs: fc.constantFrom(0, HOUR, -HOUR, DAY, -DAY, 365 * DAY, -365 * DAY),
    }),
  ],
  [
    3,
    fc.record({
      kind: fc.constant('advance'),
      ms: fc.constantFrom(
        ...[MINUTE, 20 * MINUTE, 65 * MINUTE, 2 * HOUR, 13 * HOUR, 26 * HOUR, 8 * DAY],
      ),
    }),
  ],
  [
    1,
    fc.record({
      kind: fc.constant('faults'),
      rate: fc.constantFrom(0, 0.1, 0.4, 1),
      staleRate: fc.constantFrom(0, 0.3),
      totals: fc.boolean(),
    }),
  ],
];
const command = fc.oneof(...commands.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** What was stored of each counter: the highest count that reached the store. */
function recordSnapshots(inner: ObjectStore): { store: ObjectStore; stored: Map<string, number> } {
  const stored = new Map<string, number>();
  return {
    stored,
    store: {
      ...inner,
      create: async (key, body, options) => {
        const outcome = await inner.create(key, body, options);
        const { counter, number } = parseUsageKey(key) ?? { counter: undefined, number: 0 };
        if (outcome === 'created' && counter !== undefined) {
          const { rows } = await snapshotsOf(counter).parse(body, number);
          const links = rows.reduce((sum, row) => sum + row.links, 0);
          stored.set(counter, Math.max(stored.get(counter) ?? 0, links));
        }
        return outcome;
      },
    },
  };
}

/** A process, what it counted, and the ids of its counters. */
interface Started {
  readonly usage: Usage;
  readonly counters: Set<string>;
  counted: number;
  isAlive: boolean;
}

/**
 * Fails at this rate, half of it after the effect; and lets other processes go first, by chance.
 *
 * @param totals false: no total can be created, so counters stay closed without being added
 */
function shuffle(seed: number, rate: number, totals = true): FaultPlan {
  const randomness = createSeededRandomness(seed);
  return async ({ method, key }) => {
    if (!totals && method === 'create' && key.startsWith('usage/totals/'))
      return { when: 'before' };
    for (let turns = Math.floor(randomness.fraction() * 6); turns > 0; turns--) await null;
    if (randomness.fraction() >= rate) return undefined;
    return { when: randomness.fraction() < 0.5 ? 'before' : 'after' };
  };
}

class World {
  readonly clock: FixedClock = createFixedClock();
  readonly log = createRecordedLog();
  private readonly stored: Map<string, number>;
  readonly store: FaultyStore;
  private readonly started: Started[] = [];
  private readonly current: Started[] = [];
  private readonly ahead = [0, 0, 0];
  private readonly lastListing: ObjectInfo[][] = [[], [], []];
  private readonly randomness;
  private readonly running = new Set<Promise<unknown>>();
  private seed: number;
  private staleRate = 0;
  /** By process: how many calls go through before one waits. */
  private readonly callsBeforeHold = [0, 0, 0].map(() => Number.POSITIVE_INFINITY);
  private readonly held: { readonly since: number; readonly release: () => void }[] = [];

  constructor(seed: number) {
    this.seed = seed;
    this.randomness = createSeededRandomness(seed);
    const { store, stored } = recordSnapshots(createMemoryStore({ clock: this.clock }));
    this.stored = stored;
    this.store = createFaultyStore(store, shuffle(seed, 0));
    for (let i = 0; i < 3; i++) this.start(i);
  }

  /** A process with a clock of its own, that is given its listing of before now and then. */
  start(i: number): void {
    const clock = { ...this.clock, now: () => this.clock.now() + (this.ahead[i] ?? 0) };
    const { store } = this;
    const counters = new Set<string>();
    const world = this;
    const stale: ObjectStore = {
      ...store,
      async *list(prefix, options) {
        const isStale = world.randomness.fraction() < world.staleRate;
        const now: ObjectInfo[] = [];
        for await (const info of store.list(prefix, options)) now.push(info);
        if (isStale) yield* world.lastListing[i] ?? [];
        else yield* now;
        if (!isStale) world.lastListing[i] = now;
      },
      create: async (key, ...rest) => {
        const { counter, number } = parseUsageKey(key) ?? { counter: undefined, number: 0 };
        if (counter !== undefined && number === 1) counters.add(counter);
        await world.hold(i);
        return store.create(key, ...rest);
      },
      delete: async (...call) => {
        await world.hold(i);
        return store.delete(...call);
      },
    };
    const usage = createProcess(stale, clock, { seed: this.seed++, log: this.log });
    const before = this.current[i];
    if (before !== undefined) before.isAlive = false;
    this.current[i] = { usage, counters, counted: 0, isAlive: true };
    this.started.push(this.process(i));
  }

  /** A slow process: its write is sent hours after it was begun. */
  private async hold(i: number): Promise<void> {
    const calls = (this.callsBeforeHold[i] ?? 0) - 1;
    this.callsBeforeHold[i] = calls === 0 ? Number.POSITIVE_INFINITY : calls;
    if (calls !== 0) return;
    const since = this.clock.now();
    await new Promise<void>((release) => this.held.push({ since, release }));
  }

  /** No write takes longer than a connection lives. */
  private async advance(ms: number): Promise<void> {
    const first = this.held[0];
    if (first !== undefined && this.clock.now() + ms - first.since > HELD_MAX_MS) {
      await this.release();
    }
    this.clock.advance(ms);
  }

  private async release(): Promise<void> {
    this.callsBeforeHold.fill(Number.POSITIVE_INFINITY);
    for (const { release } of this.held.splice(0)) release();
    await Promise.all(this.running);
  }

  /** Waits unless one of the processes is held. */
  private async refresh(processes: readonly number[]): Promise<void> {
    const rounds = Promise.all(processes.map((i) => this.process(i).usage.refresh()));
    this.running.add(rounds);
    const finished = rounds.then(() => this.running.delete(rounds));
    while (this.running.has(rounds) && this.held.length === 0) {
      await Promise.race([finished, setImmediate()]);
    }
    // The others finish theirs.
    for (let turn = 0; turn < TURNS && this.running.has(rounds); turn++) await setImmediate();
  }

  async run(step: Command): Promise<void> {
    if (step.kind === 'advance') await this.advance(step.ms);
    else if (step.kind === 'hold') this.callsBeforeHold[step.process] = step.calls;
    else if (step.kind === 'clock') this.ahead[step.process] = step.aheadMs;
    else if (step.kind === 'crash') this.start(step.process);
    else if (step.kind === 'refresh') await this.refresh(step.processes);
    else if (step.kind === 'count') this.count(step.process, step.times);
    else {
      this.staleRate = step.staleRate;
      this.store.setPlan(shuffle(this.seed++, step.rate, step.totals));
    }
  }

  /** From now on nothing fails, and clocks are right. */
  async heal(seed: number): Promise<void> {
    await this.release();
    this.staleRate = 0;
    this.ahead.fill(0);
    this.store.setPlan(shuffle(seed, 0));
  }

  count(i: number, times: number): void {
    countLinks(this.process(i).usage, times);
    this.process(i).counted += times;
  }

  processes(): Usage[] {
    return this.current.map(({ usage }) => usage);
  }

  /** Everything that living processes counted, and what others had stored. */
  expected(): number {
    const storedOf = ({ counters }: Started): number =>
      [...counters].reduce((sum, counter) => sum + (this.stored.get(counter) ?? 0), 0);
    // After days without the store, a flush that may or may not have been stored is not stored again.
    const isGivenUp = this.log.lines.some((line) => line.includes('given up'));
    return this.started.reduce(
      (sum, one) => sum + (one.isAlive && !isGivenUp ? one.counted : storedOf(one)),
      0,
    );
  }

  private process(i: number): Started {
    const found = this.current[i];
    if (found === undefined) throw new Error(`no process ${i}`);
    return found;
  }
}

describe('processes that count on one store', () => {
  it('agree on every count that was stored, after any interleaving', async () => {
    let totals = 0;
    let runs = 0;
    let givenUp = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: 60, size: 'max' }),
        fc.nat({ max: 1_000_000 }),
        async (steps, seed) => {
          const world = new World(seed);
          for (const step of steps) await world.run(step);
          await world.heal(seed);
          const late = createProcess(world.store, world.clock);
          const agree = (all: readonly Usage[]) =>
            expect(all.map(allTime)).toEqual(all.map(() => world.expected()));
          const all = [...world.processes(), late];
          for (let round = 0; round < 4; round++) {
            await refreshAll(all, 1);
            world.clock.advance(HOUR);
          }
          agree(all);
          // And still after every closed counter has been deleted.
          for (let days = 0; days < 3; days++) {
            world.count(0, 1);
            world.clock.advance(26 * HOUR);
            await refreshAll(all, 2);
          }
          const later = createProcess(world.store, world.clock);
          await later.refresh();
          agree([...all, later]);
          givenUp += world.log.lines.filter((line) => line.includes('given up')).length;
          totals += (await keysBelow(world.store, 'usage/totals/')).length;
          runs++;
        },
      ),
      { numRuns: rounds(60, 150) },
    );
    console.log(
      `usage: ${runs} interleavings of 4 processes, ${totals} totals left, 0 counts lost or counted twice`,
    );
    expect(totals).toBeGreaterThan(runs);
    expect(givenUp).toBeLessThan(runs / 20);
  });
});
