import type { Clock, Randomness } from './clock.ts';

/** With the jitter still under ten seconds: that is how soon an outage that is over is forgotten. */
const BACKOFF_MAX_MS = 8_000;

/**
 * Repeats a task until stopped: every interval, jittered by a fifth so that processes started together
 * drift apart, and ever less often while it fails.
 *
 * @param intervalMs may change: it is asked for before each pause
 * @param task its failures are its own to report
 * @param firstMs before the first time; default the interval
 * @returns stops it, and resolves when the task is not running any more
 */
export function startPolling(
  deps: { readonly clock: Clock; readonly randomness: Randomness },
  intervalMs: number | (() => number),
  task: () => Promise<void>,
  firstMs?: number,
): () => Promise<void> {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    let failures = 0;
    const usualMs = typeof intervalMs === 'number' ? () => intervalMs : intervalMs;
    let nextMs = firstMs ?? usualMs();
    while (!stopping.signal.aborted) {
      try {
        await deps.clock.sleep(nextMs * (0.8 + 0.4 * deps.randomness.fraction()), stopping.signal);
        await task();
        failures = 0;
      } catch {
        failures++;
      }
      nextMs = Math.min(
        usualMs() * 2 ** Math.min(failures, 8),
        Math.max(usualMs(), BACKOFF_MAX_MS),
      );
    }
  };
  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
}
