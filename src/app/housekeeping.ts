import { CLOCK_DIFFERENCE_MAX_MS, type Clock, type Randomness } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { startPolling } from '../polling.ts';

/** Clearing up, once an hour, by whichever process comes first. */

export interface HousekeepingDeps {
  readonly store: ObjectStore;
  /** The store's time. */
  readonly clock: Clock;
  /** This machine's: where it is far from the store's, nothing is deleted. */
  readonly hostClock: Pick<Clock, 'now'>;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Each is run whatever becomes of the others; what it resolves to is logged. */
  readonly tasks: Readonly<Record<string, () => Promise<number>>>;
}

export interface Housekeeping {
  start(): void;
  stop(): Promise<void>;
  /** Runs now, unless another process has this hour. Never throws. */
  runOnce(): Promise<void>;
}

const ROOT = 'housekeeping/';
const HOUR_MS = 3_600_000;
const FIRST_AFTER_MS = 135_000;
const STOP_MAX_MS = 2_000;
/** Longer than clocks differ. */
const CLAIMS_KEPT_MS = 2 * HOUR_MS;

export function createHousekeeping(deps: HousekeepingDeps): Housekeeping {
  const { store, clock, log } = deps;
  let stop: (() => Promise<void>) | undefined;

  /** The hour is an object that can be created only once. */
  const claim = async (): Promise<boolean> => {
    const hour = new Date(clock.now()).toISOString().slice(0, 13);
    const key = `${ROOT}${hour}.json`;
    if ((await store.create(key, Buffer.from('{}\n'))) === 'exists') return false;
    if (!(await isClockRight(key))) return false;
    for await (const { key: old, lastModified } of store.list(ROOT)) {
      if (old !== key && clock.now() - lastModified.getTime() > CLAIMS_KEPT_MS) {
        await store.delete(old);
      }
    }
    return true;
  };

  /** What is old is told by clocks: the store's word is the time that it gave the claim. */
  const isClockRight = async (claimed: string): Promise<boolean> => {
    const info = await store.head(claimed);
    if (info === undefined) return false;
    const differenceMs = deps.hostClock.now() - info.lastModified.getTime();
    if (Math.abs(differenceMs) <= CLOCK_DIFFERENCE_MAX_MS) return true;
    log.error(
      { difference_seconds: Math.round(differenceMs / 1000) },
      "this machine's clock is far from the store's: nothing is cleared up until it is set right",
    );
    return false;
  };

  const runOnce = async (): Promise<void> => {
    try {
      if (!(await claim())) return;
    } catch (error) {
      log.warn({ err: error }, 'clearing up has to wait: the store does not take the claim');
      return;
    }
    for (const [task, run] of Object.entries(deps.tasks)) {
      try {
        const done = await run();
        if (done > 0) log.info({ task, done }, 'cleared up');
      } catch (error) {
        log.warn({ task, err: error }, 'clearing up failed; the rest is done the next time');
      }
    }
  };

  return {
    start: () => {
      // Soon: a process that is started anew every day, or every hour, clears up as well.
      stop ??= startPolling(deps, HOUR_MS, runOnce, FIRST_AFTER_MS);
    },
    stop: async () => {
      // Left in the middle, it is gone on with in the next hour.
      const late = new AbortController();
      const waited = clock.sleep(STOP_MAX_MS, late.signal).catch(() => undefined);
      await Promise.race([stop?.(), waited]);
      late.abort();
    },
    runOnce,
  };
}
