import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AppError } from '../../errors.ts';

/** Whether this process has more to do than it can. */
export interface Load {
  isTooMuch(): boolean;
  stop(): void;
}

/** When work waits this long for its turn, on the average of a second, there is too much of it. */
const DELAY_MAX_MS = 250;
const MEASURED_EVERY_MS = 1_000;
const RESOLUTION_MS = 10;
const RETRY_AFTER_SECONDS = 10;

export const overloaded = (): AppError =>
  new AppError('overloaded', 'This server has too much to do. Try again shortly.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/**
 * Measures how late the event loop is. Nothing in it can throw: memory, which @fastify/under-pressure reads
 * as well, is in a file that cannot be opened when there is no descriptor left.
 */
export function createLoad(): Load {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  const timer = setTimeout(() => {
    // Without a sample the loop never turned.
    delayMs =
      histogram.count === 0 ? Number.POSITIVE_INFINITY : histogram.mean / 1e6 - RESOLUTION_MS;
    histogram.reset();
    timer.refresh();
  }, MEASURED_EVERY_MS);
  timer.unref();
  return {
    isTooMuch: () => delayMs > DELAY_MAX_MS,
    stop: () => {
      clearTimeout(timer);
      histogram.disable();
    },
  };
}
