import type { Clock } from '../clock.ts';

/** Against timing attacks: an answer must not take longer for a registered address than for another one. */

/**
 * Does the work, and answers no earlier than `msMin` milliseconds after its start, whatever the outcome.
 *
 * @throws what the work throws
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

/** Returns a function that waits until `msMin` milliseconds after this call; for work of which only some outcomes are padded. */
export function startPadding(clock: Clock, msMin: number): () => Promise<void> {
  const dueAt = clock.now() + msMin;
  return () => clock.sleep(Math.max(0, dueAt - clock.now()));
}
