import cluster from 'node:cluster';
import {
  type RateLimiterAbstract,
  RateLimiterCluster,
  RateLimiterMemory,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { AppError } from './errors.ts';

/** Limits the number of tries in a minute. */
interface RateLimit {
  /** @throws AppError `too_many_requests` */
  consume(name: string): Promise<void>;
}

/** Counts tries by name. */
export type TryCounter = Pick<RateLimiterAbstract, 'consume' | 'delete'>;

interface CounterOptions {
  /** A different name for each counter: the workers share the counts of all counters with the same name. */
  readonly name: string;
  /** The tries that are allowed in a duration. */
  readonly max: number;
  readonly durationSeconds: number;
}

const MINUTE_SECONDS = 60;
/** This time is short because a user is waiting. The primary process usually answers within milliseconds. */
const PRIMARY_ANSWER_MAX_MS = 1_000;

/** @param message for the client that exceeds the limit */
export function createRateLimit(name: string, perMinute: number, message: string): RateLimit {
  const tries = createTryCounter({ name, max: perMinute, durationSeconds: MINUTE_SECONDS });
  return {
    consume: async (key) => {
      try {
        await tries.consume(key);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        throw new AppError('too_many_requests', message, {
          retryAfterSeconds: Math.ceil(refused.msBeforeNext / 1000),
        });
      }
    },
  };
}

/**
 * Creates a counter in the memory of this process. The workers of one service share the counter of their primary
 * process.
 */
export function createTryCounter({ name, max, durationSeconds }: CounterOptions): TryCounter {
  const options = { keyPrefix: name, points: max, duration: durationSeconds };
  const own = new RateLimiterMemory(options);
  if (!cluster.isWorker) return own;
  return withFallback(
    new RateLimiterCluster({ ...options, timeoutMs: PRIMARY_ANSWER_MAX_MS }),
    own,
  );
}

/**
 * While the primary process does not answer, each worker counts for itself. So tries stay limited, and users can sign
 * in.
 */
export function withFallback(shared: TryCounter, own: TryCounter): TryCounter {
  return {
    consume: (key) =>
      shared.consume(key).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) throw refused;
        return own.consume(key);
      }),
    delete: async (key) => {
      await own.delete(key);
      // A failure does no harm: the count that stays in the primary process expires.
      return shared.delete(key).catch(() => false);
    },
  };
}
