import {
  CLOCK_DIFFERENCE_MAX_MS,
  type Clock,
  type Randomness,
  waitAtMost,
} from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { startPolling } from '../../core/polling.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { claimKey, HOUSEKEEPING_ROOT } from './keys.ts';

/** Cleans up once an hour, in the process that claims the hour first. */

interface HousekeepingDeps {
  readonly store: ObjectStore;
  /** The store's time. */
  readonly clock: Clock;
  /** This machine's clock. When it is far from the store's time, the process deletes nothing. */
  readonly hostClock: Pick<Clock, 'now'>;
  readonly randomness: Randomness;
  readonly log: Log;
  /**
   * The tasks by name. A task runs even when another task fails. It resolves to the number of deletions, for the log.
   */
  readonly tasks: Readonly<Record<string, () => Promise<number>>>;
}

interface Housekeeping {
  start(): void;
  /** Resolves when no task is running, or after two seconds: the next hour's run completes the rest. */
  stop(): Promise<void>;
  /** Runs the tasks now, unless another process has claimed this hour. Never throws. */
  runOnce(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** The first run comes soon after the start, because a process that restarts every hour has to clean up as well. */
const FIRST_AFTER_MS = 135_000;
const STOP_MAX_MS = 2_000;
/** The age at which claims are deleted. It is greater than the difference between the clocks of two processes. */
const CLAIMS_KEPT_MS = 2 * HOUR_MS;

export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  const { clock, log } = deps;
  let stop: (() => Promise<void>) | undefined;

  const runOnce = async (): Promise<void> => {
    try {
      if (!(await claimHour(deps))) return;
    } catch (error) {
      log.warn({ err: error }, 'cleaning up is postponed: the store did not take the claim');
      return;
    }
    for (const [task, run] of Object.entries(deps.tasks)) {
      try {
        const done = await run();
        if (done > 0) log.info({ task, done }, 'cleaned up');
      } catch (error) {
        log.warn({ task, err: error }, 'cleaning up failed; the next hour completes it');
      }
    }
  };

  return {
    start: () => {
      stop ??= startPolling(deps, HOUR_MS, runOnce, FIRST_AFTER_MS);
    },
    stop: () => waitAtMost(clock, STOP_MAX_MS, stop?.()),
    runOnce,
  };
}

/** The claim of an hour is an object, which only one process can create. */
async function claimHour(deps: HousekeepingDeps): Promise<boolean> {
  const { store, clock } = deps;
  const key = claimKey(clock.now());
  if ((await store.create(key, Buffer.from('{}\n'))) === 'exists') return false;
  if (!(await isClockRight(deps, key))) return false;
  for await (const { key: old, lastModified } of store.list(HOUSEKEEPING_ROOT)) {
    if (old !== key && clock.now() - lastModified.getTime() > CLAIMS_KEPT_MS) {
      await store.delete(old);
    }
  }
  return true;
}

/** Compares this machine's clock with the time that the store gave the claim, because the tasks delete by age. */
async function isClockRight(deps: HousekeepingDeps, claimed: string): Promise<boolean> {
  const info = await deps.store.head(claimed);
  if (info === undefined) return false;
  const differenceMs = deps.hostClock.now() - info.lastModified.getTime();
  if (Math.abs(differenceMs) <= CLOCK_DIFFERENCE_MAX_MS) return true;
  deps.log.error(
    { difference_seconds: Math.round(differenceMs / 1000) },
    "this machine's clock is far from the store's: nothing is cleaned up until it is set right",
  );
  return false;
}
