/** Decides when the service sends a mail again after a failed delivery. */

export const BACKOFF_FIRST_MS = 60_000;
const BACKOFF_MAX_MS = 6 * 3_600_000;
/** The first failure after this time ends the attempts. The time begins at the acceptance or the redelivery. */
const GIVE_UP_AFTER_MS = 72 * 3_600_000;
const JITTER = 0.1;
/** The longest pause in milliseconds, including the random part. */
export const PAUSE_MAX_MS = BACKOFF_MAX_MS * (1 + JITTER);

/**
 * The time of the next attempt after a failure, in milliseconds since the epoch; undefined when the failed attempt was
 * the last.
 *
 * @param delivery `startedAt`: the time of the acceptance or the redelivery. `attempts`: the number of attempts since
 *   then, including the failed attempt
 * @param chance from 0 to 1, for the random part of the pause
 */
export function nextAttemptAt(
  delivery: { readonly startedAt: number; readonly attempts: number; readonly now: number },
  chance: number,
): number | undefined {
  const { startedAt, attempts, now } = delivery;
  const end = startedAt + GIVE_UP_AFTER_MS;
  if (now >= end) return undefined;
  const pause = Math.min(BACKOFF_FIRST_MS * 2 ** (attempts - 1), BACKOFF_MAX_MS);
  return Math.min(now + pause * (1 - JITTER + 2 * JITTER * chance), end);
}
