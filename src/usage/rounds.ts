import type { Clock, Randomness } from '../clock.ts';
import { isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Compactor } from './compactor.ts';
import type { Flusher } from './flusher.ts';
import type { FlushName } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { FlushReader } from './read-flushes.ts';

/** The order in which a process reads and writes counts, and how often. Failures are logged, once each. */
export interface Rounds {
  /** Runs now and every interval; the returned function stops that and waits for the running one. */
  start(): () => Promise<void>;
  /** One after the other, however many ask. Never throws. */
  run(): Promise<void>;
  /** Only the flush. Never throws. */
  flush(): Promise<void>;
}

export interface RoundsDeps {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly flushIntervalMs: number;
  readonly ledger: Ledger;
  readonly flusher: Flusher;
  readonly compactor: Compactor;
  readonly reader: FlushReader;
}

const COMPACTED_EVERY_MS = 3_600_000;
/** A compaction takes this many in one sitting, whatever the time. */
const FLUSHES_HELD_MAX = 1_000;
/** Flushes held for longer than others may have had to compact, delete and forget them. */
const HELD_MAX_MS = 12 * 3_600_000;

type Step = 'read the newest compaction' | 'flush' | 'read flushes' | 'compact' | 'clean';

export function createRounds(deps: RoundsDeps): Rounds {
  const { clock, randomness, ledger, flusher, compactor, reader } = deps;
  const attempt = createAttempts(deps.log);
  let queue: Promise<void> = Promise.resolve();
  let mergedAt = clock.now();
  let listedAllAt = Number.NEGATIVE_INFINITY;

  const isDue = (): boolean => {
    // Jittered, so that processes take turns and the first spares the others the work.
    const every = COMPACTED_EVERY_MS * (0.75 + randomness.fraction() / 4);
    const isLong = ledger.flushes().length > FLUSHES_HELD_MAX;
    return reader.isIncomplete() || isLong || clock.now() - listedAllAt >= every;
  };

  const compact = async (flushes: readonly FlushName[]): Promise<void> => {
    const age = clock.now() - (ledger.compaction()?.at ?? Number.NEGATIVE_INFINITY);
    const held = ledger.flushes().length;
    if (held === 0 || (age < COMPACTED_EVERY_MS / 2 && held <= FLUSHES_HELD_MAX)) return;
    let isMine = false;
    await attempt('compact', async () => {
      isMine = await compactor.compact(flushes);
    });
    if (isMine) await attempt('clean', () => compactor.clean(flushes));
  };

  const merge = async (): Promise<void> => {
    if (!isDue()) {
      if (await attempt('read flushes', reader.readRecent)) mergedAt = clock.now();
      return;
    }
    let flushes: readonly FlushName[] = [];
    const isRead = await attempt('read flushes', async () => {
      flushes = await reader.readAll();
    });
    if (!isRead) return;
    mergedAt = clock.now();
    listedAllAt = clock.now();
    await compact(flushes);
  };

  const round = async (): Promise<void> => {
    const isCaughtUp = await attempt('read the newest compaction', compactor.readNewest);
    if (isCaughtUp && clock.now() - mergedAt > HELD_MAX_MS) {
      ledger.forgetFlushes();
      listedAllAt = Number.NEGATIVE_INFINITY;
    }
    await attempt('flush', flusher.flush);
    if (isCaughtUp) await merge();
  };

  const enqueue = (task: () => Promise<void>): Promise<void> => {
    queue = queue.then(task);
    return queue;
  };
  const run = () => enqueue(round);

  return {
    run,
    flush: () =>
      enqueue(async () => {
        await attempt('flush', flusher.flush);
      }),
    start: () => {
      const stopping = new AbortController();
      const loop = async (): Promise<void> => {
        while (!stopping.signal.aborted) {
          await run();
          // Never later than the interval: that is what a crash is said to lose.
          const pause = deps.flushIntervalMs * (0.8 + randomness.fraction() / 5);
          await clock.sleep(pause, stopping.signal).catch(() => undefined);
        }
      };
      const running = loop();
      return () => {
        stopping.abort();
        return running;
      };
    },
  };
}

/** Runs steps that may fail; says so when one begins to fail, and when it works again. */
function createAttempts(log: Log) {
  const failing = new Set<Step>();
  return async (step: Step, task: () => Promise<void>): Promise<boolean> => {
    try {
      await task();
    } catch (error) {
      // An error that is no store's has a cause in here, and its place is wanted.
      const facts = isAppError(error)
        ? { code: error.code, reason: error.message }
        : { err: error };
      if (!failing.has(step)) log.warn({ step, ...facts }, 'counters cannot be kept up to date');
      failing.add(step);
      return false;
    }
    if (failing.delete(step)) log.info({ step }, 'counters are kept up to date again');
    return true;
  };
}
