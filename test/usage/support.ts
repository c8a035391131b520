import type { Clock } from '../../src/core/clock.ts';
import type { Log } from '../../src/core/log.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createUsage, type Usage } from '../../src/usage/usage.ts';
import type { UsageCounter } from '../../src/usage/usage-counter.ts';
import { createSeededRandomness } from '../support/clock.ts';

/** What the tests of the counters share: processes on one store, and short ways to count. */

export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

export interface RecordedLog extends Log {
  readonly lines: string[];
}

export function createRecordedLog(): RecordedLog {
  const lines: string[] = [];
  const push = (facts: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(facts)}`);
  };
  return { lines, info: push, warn: push, error: push };
}

export interface ProcessOptions {
  readonly seed?: number;
  readonly groupMin?: number;
  readonly log?: Log;
  readonly flushIntervalMs?: number;
}

let seeds = 1_000;

/** A process's counters; versions that begin with 1 are known. Not started: `refresh` is its one round. */
export function createProcess(
  store: ObjectStore,
  clock: Clock,
  { seed = seeds++, groupMin = 1, log = createRecordedLog(), ...rest }: ProcessOptions = {},
): Usage {
  return createUsage({
    store,
    clock,
    randomness: createSeededRandomness(seed),
    log,
    flushIntervalMs: rest.flushIntervalMs ?? MINUTE,
    groupMin,
    isKnownVersion: (_application, _channel, version) => version.startsWith('1.'),
    isPublicChannel: (_application, channel) => channel !== 'insider',
  });
}

export function countChecks(
  usage: UsageCounter,
  times: number,
  check: Partial<Parameters<UsageCounter['countCheck']>[0]> = {},
): void {
  for (let i = 0; i < times; i++) {
    usage.countCheck({
      application: 'desktop',
      channel: 'stable',
      platform: 'windows',
      version: '1.0.0',
      offered: null,
      ...check,
    });
  }
}

export function countLinks(
  usage: UsageCounter,
  times: number,
  link: Partial<Parameters<UsageCounter['countLink']>[0]> = {},
): void {
  for (let i = 0; i < times; i++) {
    usage.countLink({
      application: 'desktop',
      channel: 'stable',
      platform: 'windows',
      version: '1.1.0',
      ...link,
    });
  }
}

export const allTime = (usage: Usage): number => usage.publicMetrics(null).links.allTime;

export async function refreshAll(processes: readonly Usage[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const one of processes) await one.refresh();
  }
}

export async function keysBelow(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}
