import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from './errors.ts';

/** Limits the number of tries in a minute. Each process counts separately. */
interface RateLimit {
  /** @throws AppError `too_many_requests` */
  consume(name: string): Promise<void>;
}

const MINUTE_SECONDS = 60;

/** @param message for the client that exceeds the limit */
export function createRateLimit(perMinute: number, message: string): RateLimit {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: MINUTE_SECONDS });
  return {
    consume: async (name) => {
      try {
        await limiter.consume(name);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        throw new AppError('too_many_requests', message, {
          retryAfterSeconds: Math.ceil(refused.msBeforeNext / 1000),
        });
      }
    },
  };
}
