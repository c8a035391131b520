import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from './errors.ts';

/** How often something may be tried within a span of time, counted by this process alone. */
export interface RateLimit {
  /** @throws AppError `too_many_requests` */
  consume(name: string): Promise<void>;
}

const MINUTE_SECONDS = 60;

/** @param sentence told to whoever is over the limit */
export function createRateLimit(perMinute: number, sentence: string): RateLimit {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: MINUTE_SECONDS });
  return {
    consume: async (name) => {
      try {
        await limiter.consume(name);
      } catch (refused) {
        const ms = refused instanceof RateLimiterRes ? refused.msBeforeNext : MINUTE_SECONDS * 1000;
        throw new AppError('too_many_requests', sentence, {
          retryAfterSeconds: Math.ceil(ms / 1000),
        });
      }
    },
  };
}
