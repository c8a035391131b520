import { readdir } from 'node:fs/promises';
import { afterEach, expect } from 'vitest';
import { findUpdate } from '../../../src/answers/find-update.ts';
import { type Catalog, createCatalog } from '../../../src/catalog/live/catalog.ts';
import type { CatalogRelay } from '../../../src/catalog/live/relay.ts';
import type { Trust } from '../../../src/catalog/trust/trust.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { systemClock } from '../../../src/core/system.ts';
import { DEFAULT_TIERS } from '../../../src/domain/tier.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { query } from '../../support/update-query.ts';

/** A running catalog on a clock that a test moves: sleepers wake when their time has come. */
export interface ManualClock extends Clock {
  /** Moves on and lets whatever wakes run until it sleeps again. */
  advance(ms: number): Promise<void>;
}

export function createManualClock(start = Date.parse('2026-11-21T09:00:00Z')): ManualClock {
  let now = start;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const abort = () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', abort);
      }),
    advance: async (ms) => {
      const end = now + ms;
      for (;;) {
        const [next] = sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        now = Math.max(now, next.at);
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets promises and disk writes that are under way finish. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

export const POLL_MS = 2_000;
/** Shorter than the default of a day: a test polls every two seconds until it is over. */
export const STALE_MAX_MS = 3_600_000;

export interface World {
  readonly store: FaultyStore;
  /** The same objects, past every fault: for what others do. */
  readonly memory: ObjectStore;
  readonly clock: ManualClock;
  /** For publishing. */
  readonly parts: {
    store: ObjectStore;
    clock: Clock;
    randomness: ReturnType<typeof createSeededRandomness>;
  };
  /** What the catalogs logged at warn and above. */
  readonly log: string[];
  open(options?: {
    stateDirectory?: string;
    store?: ObjectStore;
    relay?: CatalogRelay;
    trust?: Trust;
  }): Catalog;
  /** Replaces an object's bytes, as only an attacker or an operator can; undefined deletes it. */
  tamper(key: string, edit: (text: string) => string | undefined): Promise<void>;
}

export function createWorld(): World {
  const clock = createManualClock();
  const memory = createMemoryStore({ clock });
  const store = createFaultyStore(memory);
  const log: string[] = [];
  const write = (facts: object, message: string) =>
    void log.push(`${message} ${JSON.stringify(facts, withMessage)}`);
  // A publisher does not wait for the test to move the clock.
  const immediate = { now: clock.now, sleep: async () => undefined };
  return {
    store,
    memory,
    clock,
    log,
    parts: { store: memory, clock: immediate, randomness: createSeededRandomness(1) },
    open: (options = {}) =>
      createCatalog({
        store: options.store ?? store,
        clock,
        randomness: { fraction: () => 0.5, id: () => 'unused' },
        log: { info: () => undefined, warn: write, error: write },
        stateDirectory: options.stateDirectory,
        pollIntervalMs: POLL_MS,
        staleMaxMs: STALE_MAX_MS,
        relay: options.relay,
        trust: options.trust,
      }),
    tamper: async (key, edit) => {
      const object = await memory.get(key);
      const text = edit(Buffer.from(object?.body ?? []).toString());
      await memory.delete(key);
      if (text !== undefined) await memory.create(key, Buffer.from(text));
    },
  };
}

/** Polls until a running catalog has saved its state: writing files takes real time. */
export async function untilSaved({ clock }: World, stateDirectory: string): Promise<void> {
  await expect
    .poll(async () => {
      await clock.advance(POLL_MS);
      return readdir(stateDirectory, { recursive: true }).catch(() => []);
    })
    .toContainEqual(expect.stringMatching(/\.catalog$/));
}

type OpenOptions = Parameters<World['open']>[0];

/** Opens catalogs for the tests of a file, and stops them after each test. */
export function useCatalogs() {
  const opened: Catalog[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((catalog) => catalog.stop()));
  });
  const open = (world: World, options?: OpenOptions): Catalog => {
    const catalog = world.open(options);
    opened.push(catalog);
    return catalog;
  };
  return {
    open,
    start: async (world: World, options?: OpenOptions): Promise<Catalog> => {
      const catalog = open(world, options);
      await catalog.start();
      return catalog;
    },
  };
}

/** Errors as the real log shows them. */
function withMessage(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

/** What a client on Windows is offered: a version, or why there is none. */
export async function offered(catalog: Catalog, application = 'desktop'): Promise<string> {
  const answer = await findUpdate(
    { catalog, tiers: DEFAULT_TIERS, clock: systemClock },
    query({ from: '0.0.1', application }),
    null,
  );
  return answer.offered?.release.version ?? answer.decision.reason;
}

export function problemsOf(catalog: Catalog): string {
  const { applications, problems } = catalog.health();
  return [...problems, ...Object.values(applications).flatMap((app) => app.problems)].join('\n');
}
