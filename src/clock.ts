/** Time and chance, passed in so that a test can fix both. Only `server.ts` and `scripts/` make real ones. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * In milliseconds: how far this machine's clock may be from the store's. Further apart, status and
 * `doctor` report it and nothing that is old is deleted.
 */
export const CLOCK_DIFFERENCE_MAX_MS = 5 * 60_000;

export interface Randomness {
  /** Uniform in [0, 1): for jitter, never for secrets. */
  fraction(): number;
  /** An unguessable identifier (UUID v4). */
  id(): string;
}
