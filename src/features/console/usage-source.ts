import type { Clock } from '../../core/clock.ts';
import type { AppError } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { type ReadUsage, readUsage } from '../../usage/read-usage.ts';

/**
 * The time for which the console uses counts before it reads them again. A read takes one LIST request, and one request
 * for each process that counts.
 */
const FRESH_MS = 60_000;

export interface SeenUsage extends ReadUsage {
  /** The reason why the counts cannot be read at present; null when they can be read. */
  readonly problem: string | null;
}

export interface UsageSource {
  /** The promise does not reject when the store fails, because screens also show releases without counts. */
  read(): Promise<SeenUsage>;
}

const NO_USAGE: ReadUsage = {
  rows: [],
  countedSince: undefined,
  newestAt: undefined,
  unreadable: [],
};

export function createUsageSource(deps: {
  /** The store in which services store their counts. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly describe: (error: AppError) => string;
}): UsageSource {
  let known: ReadUsage | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<SeenUsage> | undefined;
  const read = async (): Promise<SeenUsage> => {
    try {
      known = await readUsage(deps);
      readAt = deps.clock.now();
      return { ...known, problem: null };
    } catch (error) {
      if (!isAppError(error)) throw error;
      return { ...(known ?? NO_USAGE), problem: deps.describe(error) };
    }
  };
  return {
    read: async () => {
      if (known !== undefined && deps.clock.now() - readAt < FRESH_MS) {
        return { ...known, problem: null };
      }
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}
