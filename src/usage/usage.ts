import { type Clock, type Randomness, waitAtMost } from '../core/clock.ts';
import { isAppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { startPolling } from '../core/polling.ts';
import { runInTurns } from '../core/run-in-turns.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type AnalyticsQuery, type AnalyticsRow, makeAnalytics } from './analytics.ts';
import { type Counted, DAY_MS, MINUTE_MS } from './counts.ts';
import { type Listing, listUsage } from './listing.ts';
import { createOwnCounter, type OwnCounter } from './own-counter.ts';
import {
  type Known,
  makePublicMetrics,
  type PublicMetrics,
  RATE_MINUTES,
} from './public-metrics.ts';
import { ADDED_KEPT_MS, REMEMBERED_MS, rollUp } from './roll-up.ts';
import { createSeries, type Series } from './series.ts';
import { createStoredCounts, type StoredCounts } from './stored-counts.ts';
import { createTally } from './tally.ts';
import type { UsageCounter } from './usage-counter.ts';

/**
 * Usage counts of all processes on one store. Counting and reading use memory only; a background task
 * writes and reads the store.
 *
 * - Each process has a *counter* with a random id. The process begins a new counter at each start and on each day. In
 *   every interval, the process stores a numbered *snapshot* of all counts of its counter. Readers use the highest
 *   number of each counter, so no retry, late read or old listing counts anything twice.
 * - Any process *closes* a counter that is idle for hours: it creates the counter's next number, as a copy of the last
 *   snapshot. If the counter's own process is only slow, it finds the number taken, and continues in a new counter with
 *   the remaining counts.
 * - A process adds closed counters to a new *total*, which names these counters. Processes no longer read a counter
 *   that a total names, and delete it a day later.
 *
 * So each count is in exactly one place: in the newest total, or in a counter that the newest total does not name.
 */
export interface Usage extends UsageCounter {
  /** The interval between flushes. A crash loses at most the counts of one interval. */
  readonly flushIntervalMs: number;
  /** Refreshes now and every interval until stopped. */
  start(): void;
  /** Stores the remaining counts, within a few seconds. Never throws. */
  stop(): Promise<void>;
  /** Stores own counts, reads the counts of other processes, and rolls up. It never throws, and logs failures. */
  refresh(): Promise<void>;
  /** @param application null for all applications together */
  publicMetrics(application: string | null): PublicMetrics;
  analytics(query: AnalyticsQuery): readonly AnalyticsRow[];
  /** The counts of this process since it began, for Prometheus: a bounded number of series that only grow. */
  series(): Promise<readonly Series[]>;
}

interface UsageDeps {
  readonly store: ObjectStore;
  /** The store's time, which all processes share. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly flushIntervalMs: number;
  /** Public metrics do not show groups with fewer counts. */
  readonly groupMin: number;
  /**
   * True when the catalog has the version. For an open channel, a version that only restricted channels list counts as
   * unknown. The function must answer from memory, because each check of an unknown version calls it.
   */
  isKnownVersion(application: string, channel: string, version: string): boolean;
  /** False for a restricted channel. Public metrics do not show such a channel. */
  isPublicChannel(application: string, channel: string): boolean;
}

const STOP_MAX_MS = 3_000;
const METRICS_FRESH_MS = 5_000;
/**
 * The time that is added to two flush intervals: one until a process stores a count, and one until other processes read
 * the count.
 */
const REPORT_SLACK_MS = 10_000;
const MINUTES_KEPT_EXTRA_MS = 10 * MINUTE_MS;
/** The largest factor by which `startPolling` lengthens an interval. */
const JITTER_MAX = 1.2;
/**
 * When this process last read a total this long before the newest total was written, the newest total may have
 * forgotten counters that this process knows.
 */
const ABSENT_AFTER_MS = REMEMBERED_MS - DAY_MS;

export function createUsage(deps: UsageDeps): Usage {
  const { clock, flushIntervalMs } = deps;
  const reportLagMs = 2 * flushIntervalMs + REPORT_SLACK_MS;
  const minutesKeptMs = reportLagMs + RATE_MINUTES * MINUTE_MS + MINUTES_KEPT_EXTRA_MS;
  const series = createSeries();
  const tally = createTally({ ...deps, series, minutesKeptMs });
  const stored = createStoredCounts(deps);
  const counter = createOwnCounter({ ...deps, tally, stored, minutesKeptMs });
  const known = knownOf(stored, counter, clock.now());
  const metrics = createMetricsCache({ ...deps, known, reportLagMs });
  const { flush, refresh } = createRounds(deps, stored, counter);
  let queue: Promise<unknown> = Promise.resolve();
  let stopLoop = async (): Promise<void> => {};

  const enqueue = async (task: () => Promise<unknown>): Promise<void> => {
    queue = queue.then(task);
    await queue;
  };

  const refreshAll = async (): Promise<void> => {
    await refresh();
    metrics.clear();
  };

  return {
    countCheck: tally.countCheck,
    countLink: tally.countLink,
    flushIntervalMs,
    start: () => {
      stopLoop = startPolling(deps, flushIntervalMs / JITTER_MAX, () => enqueue(refreshAll), 0);
    },
    stop: () =>
      waitAtMost(
        clock,
        STOP_MAX_MS,
        stopLoop().then(() => enqueue(flush)),
      ),
    refresh: () => enqueue(refreshAll),
    publicMetrics: metrics.get,
    analytics: (query) => makeAnalytics(known.rows(), query),
    series: async () => {
      await runInTurns(tally.settleInSteps());
      return [...series.all()];
    },
  };
}

/** The rounds of the background task. Each round begins with one listing. Rounds never throw, and run one at a time. */
function createRounds(deps: UsageDeps, stored: StoredCounts, counter: OwnCounter) {
  const { clock, store } = deps;
  const attempt = createAttempts(deps.log);
  /** The store's time when this process last read the total. */
  let readAt = Number.POSITIVE_INFINITY;
  let listedAt = Number.POSITIVE_INFINITY;
  let mayBeDeleted = false;

  /** @returns the listing; undefined when this process does not know the newest total */
  const flush = async (): Promise<Listing | undefined> => {
    const listing = await attempt('list', () => listUsage(store, clock));
    if (listing === undefined) return undefined;
    // During a pause, other processes may have closed, added and deleted the counter. Then only the total shows this.
    mayBeDeleted ||= listing.askedAt - listedAt >= ADDED_KEPT_MS;
    listedAt = listing.askedAt;
    const isTotalRead = await attempt('read the total', async () => {
      await stored.readTotal(listing);
      const wasAbsent = (listing.totals[0]?.writtenAt ?? 0) - readAt >= ABSENT_AFTER_MS;
      if (wasAbsent) stored.forgetSnapshots();
      await counter.leaveIfAdded(listing, wasAbsent);
      readAt = listing.present;
      mayBeDeleted = false;
      return true;
    });
    if (!mayBeDeleted) await attempt('flush', () => counter.flush(listing));
    return isTotalRead ? listing : undefined;
  };

  const refresh = async (): Promise<void> => {
    const listing = await flush();
    if (listing === undefined) return;
    await attempt('read and roll up', async () => {
      await stored.readSnapshots(listing, counter.id());
      await rollUp({ ...deps, stored }, listing);
    });
  };

  return { flush, refresh };
}

/** Computes public metrics every few seconds, not for every request. */
function createMetricsCache(
  deps: Pick<UsageDeps, 'clock' | 'groupMin' | 'isPublicChannel'> & {
    readonly known: Known;
    readonly reportLagMs: number;
  },
) {
  const made = new Map<string | null, PublicMetrics>();
  return {
    clear: () => made.clear(),
    get: (application: string | null): PublicMetrics => {
      const now = deps.clock.now();
      const last = made.get(application);
      if (last !== undefined && Math.abs(now - last.generatedAt) < METRICS_FRESH_MS) return last;
      const fresh = makePublicMetrics(deps.known, { ...deps, application, now });
      made.set(application, fresh);
      return fresh;
    },
  };
}

function knownOf(stored: StoredCounts, counter: OwnCounter, startedAt: number): Known {
  const parts = (): readonly Counted[] => [...stored.snapshots().values(), ...counter.counted()];
  return {
    *rows() {
      yield* stored.total()?.rows ?? [];
      for (const { rows } of parts()) yield* rows;
    },
    *minutes() {
      for (const { minutes } of parts()) yield* minutes;
    },
    countedSince: () =>
      Math.min(
        startedAt,
        stored.total()?.countedSince ?? startedAt,
        ...parts().map(({ from }) => from),
      ),
  };
}

/** Runs steps that may fail. Logs when a step begins to fail, and when it works again. */
function createAttempts(log: Log) {
  const failing = new Set<string>();
  /** @returns undefined when the step failed */
  return async <T>(step: string, task: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await task();
      if (failing.delete(step)) log.info({ step }, 'usage counts are kept up to date again');
      return result;
    } catch (error) {
      // Any other error is a defect, so the log needs its stack.
      const facts = isAppError(error)
        ? { code: error.code, reason: error.message }
        : { err: error };
      if (!failing.has(step))
        log.warn({ step, ...facts }, 'usage counts cannot be kept up to date');
      failing.add(step);
      return undefined;
    }
  };
}
