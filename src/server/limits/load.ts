import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../core/errors.ts';

/** Load shedding: refusing requests while this process has more work than it can do. */
export interface Load {
  isTooMuch(): boolean;
  stop(): void;
}

/** The event loop is late when its mean delay over one second is above this. */
const DELAY_MAX_MS = 250;
/**
 * The service refuses requests after so many late seconds in a row. One late second is not enough: it also happens when
 * the whole machine pauses for a moment, and then the process has no more work than before.
 */
const LATE_SECONDS = 2;
const MEASURED_EVERY_MS = 1_000;
const RESOLUTION_MS = 10;
const RETRY_AFTER_SECONDS = 10;

export const overloaded = (): AppError =>
  new AppError('overloaded', 'This server is overloaded. Try again shortly.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/**
 * Measures the delay of the event loop. It cannot throw, unlike @fastify/under-pressure, which also reads
 * memory from a file and fails when the process has no file descriptor left.
 *
 * @param histogram of the time from one sample to the next, in nanoseconds
 */
export function createLoad(
  histogram: Pick<
    ReturnType<typeof monitorEventLoopDelay>,
    'count' | 'mean' | 'enable' | 'reset' | 'disable'
  > = monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
): Load {
  histogram.enable();
  let lateSeconds = 0;
  const timer = setTimeout(() => {
    // Without a sample the event loop was blocked for the whole interval.
    const isLate = histogram.count === 0 || histogram.mean / 1e6 - RESOLUTION_MS > DELAY_MAX_MS;
    lateSeconds = isLate ? lateSeconds + 1 : 0;
    histogram.reset();
    timer.refresh();
  }, MEASURED_EVERY_MS);
  timer.unref();
  return {
    isTooMuch: () => lateSeconds >= LATE_SECONDS,
    stop: () => {
      clearTimeout(timer);
      histogram.disable();
    },
  };
}

/** For a process whose only client is the process itself, which waits for each answer. */
export const UNLIMITED: Load = { isTooMuch: () => false, stop: () => {} };

/** Refuses the requests of a scope with 503 `overloaded` while there is too much load. */
export function shedLoad(
  scope: Pick<FastifyInstance, 'addHook'>,
  load: Pick<Load, 'isTooMuch'>,
): void {
  scope.addHook('onRequest', (_request, _reply, done) => {
    done(load.isTooMuch() ? overloaded() : undefined);
  });
}
