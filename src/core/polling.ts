import type { Clock, Randomness } from './clock.ts';

/**
 * The longest pause after failures. A service must recover within ten seconds after an outage of the store. A request
 * that was sent before the end of the outage can take two seconds more, and jitter can add a fifth of the pause.
 */
const BACKOFF_MAX_MS = 4_000;

/**
 * Repeats a task until the caller stops the loop. Each round pauses first, and then runs the task. A random part
 * changes each pause by up to a fifth, so that processes that start together drift apart. While the task fails, the
 * pauses grow up to four seconds, or up to the interval if it is longer.
 *
 * @param intervalMs a number, or a function that the loop calls before each pause
 * @param task logs its own failures; `stopping` aborts when the loop is stopped
 * @param firstMs the first pause; the interval unless given
 * @returns a function that stops the loop, and resolves when the task is no longer running
 */
export function startPolling(
  deps: { readonly clock: Clock; readonly randomness: Randomness },
  intervalMs: number | (() => number),
  task: (stopping: AbortSignal) => Promise<void>,
  firstMs?: number,
): () => Promise<void> {
  const { clock, randomness } = deps;
  const stopping = new AbortController();
  const usualMs = typeof intervalMs === 'number' ? () => intervalMs : intervalMs;

  /** @returns whether to continue: false when the loop was stopped meanwhile */
  const pause = async (ms: number): Promise<boolean> => {
    const jitteredMs = ms * (0.8 + 0.4 * randomness.fraction());
    // Rejects only when the loop is stopped.
    await clock.sleep(jitteredMs, stopping.signal).catch(() => undefined);
    return !stopping.signal.aborted;
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    let nextMs = firstMs ?? usualMs();
    while (await pause(nextMs)) {
      try {
        await task(stopping.signal);
        failures = 0;
      } catch {
        // The task has logged the failure; here the failure only slows the loop down.
        failures++;
      }
      const backoffMs = usualMs() * 2 ** Math.min(failures, 8);
      nextMs = Math.min(backoffMs, Math.max(usualMs(), BACKOFF_MAX_MS));
    }
  };

  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
}
