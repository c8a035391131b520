import type { Clock } from '../../core/clock.ts';

/** Prevents timing attacks: an answer must take as long for a registered address as for any other. */

/**
 * Does the work, and settles as it does, but no earlier than `msMin` milliseconds after its start.
 */
export async function padResponseTime<T>(
  clock: Clock,
  msMin: number,
  work: () => Promise<T>,
): Promise<T> {
  const waitOutRest = startPadding(clock, msMin);
  try {
    return await work();
  } finally {
    await waitOutRest();
  }
}

/**
 * Returns a function that waits until `msMin` milliseconds after this call; for work with outcomes that must not be
 * padded.
 */
export function startPadding(clock: Clock, msMin: number): () => Promise<void> {
  const dueAt = clock.now() + msMin;
  return () => clock.sleep(Math.max(0, dueAt - clock.now()));
}
