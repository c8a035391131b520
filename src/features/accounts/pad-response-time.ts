import type { Clock } from '../../core/clock.ts';

/** Prevents timing attacks: an answer must take the same time for a registered address and for any other address. */

/** Does the work and settles with its result, but no earlier than `msMin` milliseconds after the start. */
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
 * Returns a function that waits until `msMin` milliseconds after this call. Use it when only some outcomes of the work
 * must wait.
 */
export function startPadding(clock: Clock, msMin: number): () => Promise<void> {
  const dueAt = clock.now() + msMin;
  return () => clock.sleep(Math.max(0, dueAt - clock.now()));
}
