import { waitAtMost } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import { SEEN_DAYS, type SeenChecks, seenSince } from '../../releases/forecast/seen-checks.ts';
import { periodOf } from '../../usage/adoption.ts';
import { readUsage } from '../../usage/read-usage.ts';
import type { Context } from '../context.ts';

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

/** The wait is short, because an operator waits for the preview, perhaps while clients are offered a bad release. */
const WAIT_MAX_MS = 3_000;

/**
 * The checks that clients made, for a preview. Empty when the publisher may not read the counts, or cannot read them
 * quickly.
 */
export async function readSeenChecks(
  context: Context,
  application: string,
): Promise<readonly SeenChecks[]> {
  let seen: readonly SeenChecks[] = [];
  const read = async (): Promise<void> => {
    const { rows } = await readUsage({ ...context, store: context.privateStore, log: QUIET });
    seen = seenSince(rows, application, periodOf(context.clock.now(), SEEN_DAYS).from);
  };
  try {
    await waitAtMost(context.clock, WAIT_MAX_MS, read());
  } catch (error) {
    if (!isAppError(error)) throw error;
  }
  return seen;
}
