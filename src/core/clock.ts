/**
 * The time, which callers pass as a parameter, so that a test can set it. Only `server.ts` and `scripts/` pass the real
 * clock.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Resolves when the work resolves, and after `ms` milliseconds at the latest. Does not stop the work.
 *
 * @throws the error of the work, when the work rejects within this time
 */
export async function waitAtMost(
  clock: Clock,
  ms: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  const done = new AbortController();
  // The sleep rejects when `done` aborts it. This is the ordinary end of the sleep.
  const late = clock.sleep(ms, done.signal).catch(() => undefined);
  try {
    await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

/**
 * Milliseconds by which this machine's clock may differ from the store's. When the difference is larger, status and
 * `doctor` report it, and the service deletes no old objects.
 */
export const CLOCK_DIFFERENCE_MAX_MS = 5 * 60_000;

export interface Randomness {
  /** A uniform number in [0, 1), for jitter. Never use it for secrets. */
  fraction(): number;
  /** An unguessable identifier (UUID v4). */
  id(): string;
}
