/** Time, passed in so that a test can set it. Only `server.ts` and `scripts/` pass the real clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Resolves when the work does, and after `ms` milliseconds at the latest. The work itself is not stopped.
 *
 * @throws the error of the work, when the work rejects before that
 */
export async function waitAtMost(
  clock: Clock,
  ms: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  const done = new AbortController();
  // The sleep rejects when it is aborted. This is its ordinary end.
  const late = clock.sleep(ms, done.signal).catch(() => undefined);
  try {
    await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

/**
 * Milliseconds by which this machine's clock may differ from the store's. With a larger difference,
 * status and `doctor` report it and no old object is deleted.
 */
export const CLOCK_DIFFERENCE_MAX_MS = 5 * 60_000;

export interface Randomness {
  /** Uniform in [0, 1): for jitter, never for secrets. */
  fraction(): number;
  /** An unguessable identifier (UUID v4). */
  id(): string;
}
