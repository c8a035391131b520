import type { Clock, Randomness } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { type AnalyticsQuery, type AnalyticsRow, makeAnalytics } from './analytics.ts';
import { type Compactor, createCompactor } from './compactor.ts';
import { MINUTE_MS } from './counts.ts';
import { createFlusher, type Flusher } from './flusher.ts';
import { createLedger, type Ledger } from './ledger.ts';
import {
  type Known,
  makePublicMetrics,
  type PublicMetrics,
  RATE_MINUTES,
} from './public-metrics.ts';
import { createFlushReader } from './read-flushes.ts';
import { createRounds } from './rounds.ts';
import { createTally } from './tally.ts';
import type { Usage } from './usage.ts';

/**
 * Counts of use, of all processes on one store. Counting and reading are done in memory; the store is
 * written and read in the background alone.
 */
export interface Telemetry {
  readonly usage: Usage;
  /** What a crash can lose: counts of the time since the last flush. */
  readonly flushIntervalMs: number;
  /** Flushes and merges every interval until stopped; the first time now. */
  start(): void;
  /** Flushes what is left, for a few seconds at most. Never throws. */
  stop(): Promise<void>;
  /** Flushes and merges now. Never throws: what the store does not take is kept, and logged. */
  refresh(): Promise<void>;
  /** @param application null for all of them together */
  publicMetrics(application: string | null): PublicMetrics;
  analytics(query: AnalyticsQuery): readonly AnalyticsRow[];
}

export interface TelemetryDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly flushIntervalMs: number;
  /** Public metrics of fewer than this are not told apart from none. */
  readonly groupMin: number;
  /**
   * Whether the catalog has the version, as far as the channel may tell; from memory: asked for every check of a
   * version it has not.
   */
  isKnownVersion(application: string, channel: string, version: string): boolean;
  /** False for a channel that only some may have: public metrics do not tell of it. */
  isPublicChannel(application: string, channel: string): boolean;
}

const STOP_MAX_MS = 3_000;
const METRICS_FRESH_MS = 5_000;
/** On top of the two intervals between counting, flushing, and being read by the others. */
const REPORT_SLACK_MS = 10_000;
const MINUTES_KEPT_EXTRA_MS = 10 * MINUTE_MS;

export function createTelemetry(deps: TelemetryDeps): Telemetry {
  const { clock, flushIntervalMs } = deps;
  const instance = deps.randomness.id();
  const reportLagMs = 2 * flushIntervalMs + REPORT_SLACK_MS;
  const minutesKeptMs = reportLagMs + RATE_MINUTES * MINUTE_MS + MINUTES_KEPT_EXTRA_MS;
  const startedAt = clock.now();
  const ledger = createLedger(instance);
  const tally = createTally({ ...deps, minutesKeptMs });
  const flusher = createFlusher({ ...deps, tally, ledger, instance });
  const compactor: Compactor = createCompactor({ ...deps, ledger, minutesKeptMs });
  const reader = createFlushReader({
    ...deps,
    ledger,
    onSeen: (name) => {
      if (name.instance === instance) flusher.confirm(name.number);
    },
  });
  const rounds = createRounds({ ...deps, ledger, flusher, compactor, reader });
  const known = knownOf(ledger, flusher, startedAt);
  const made = new Map<string | null, PublicMetrics>();
  let stopLoop = async (): Promise<void> => {};

  const metrics = (application: string | null): PublicMetrics => {
    const now = clock.now();
    const last = made.get(application);
    if (last !== undefined && Math.abs(now - last.generatedAt) < METRICS_FRESH_MS) return last;
    const { groupMin, isPublicChannel } = deps;
    const options = { application, now, groupMin, isPublicChannel, reportLagMs };
    const fresh = makePublicMetrics(known, options);
    made.set(application, fresh);
    return fresh;
  };

  return {
    usage: { countCheck: tally.countCheck, countLink: tally.countLink },
    flushIntervalMs,
    start: () => {
      stopLoop = rounds.start();
    },
    stop: async () => {
      const done = new AbortController();
      const finished = stopLoop().then(() => rounds.flush());
      const late = clock.sleep(STOP_MAX_MS, done.signal).catch(() => undefined);
      await Promise.race([finished, late]);
      done.abort();
    },
    refresh: async () => {
      await rounds.run();
      made.clear();
    },
    publicMetrics: metrics,
    analytics: (query) => makeAnalytics(known.rows(), query),
  };
}

/** What is in the ledger, and what this process has not flushed yet: each count is in one of the two. */
function knownOf(ledger: Ledger, flusher: Flusher, startedAt: number): Known {
  return {
    *rows() {
      yield* ledger.rows();
      for (const { rows } of flusher.unflushed()) yield* rows;
    },
    *minutes() {
      yield* ledger.minutes();
      for (const { minutes } of flusher.unflushed()) yield* minutes;
    },
    earlier: () => ledger.compaction()?.earlier ?? [],
    countedSince: () =>
      Math.min(
        startedAt,
        ledger.compaction()?.countedSince ?? startedAt,
        ...ledger.flushes().map(({ from }) => from),
      ),
  };
}
