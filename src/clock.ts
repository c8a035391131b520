/** Time, passed in so that a test can set it. Only `server.ts` and `scripts/` pass the real clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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
