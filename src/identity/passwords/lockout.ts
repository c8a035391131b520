import { RateLimiterMemory } from 'rate-limiter-flexible';
import { AppError } from '../../errors.ts';
import { isPresent } from '../../object-store/presence.ts';
import { createRateLimit } from '../../rate-limit.ts';
import type { AppendDeps } from '../../sequence/append.ts';
import { LOCKOUTS_ROOT, lockoutKey } from '../keys.ts';

/**
 * Guessing passwords: a few tries a minute for each account and process, and after many wrong ones a
 * lock-out for a while that every process knows of, because it is an object.
 *
 * Accounts that do not exist are treated alike, or the difference would tell which do.
 */
export interface Lockout {
  /** Before each try. @throws AppError `too_many_requests`, and the store's */
  admit(account: string): Promise<void>;
  /** After a wrong password. @throws AppError the store's */
  noteFailure(account: string): Promise<void>;
  /** After a right one: what came before does not count any more. */
  noteSuccess(account: string): Promise<void>;
}

export const TRIES_PER_MINUTE = 5;
/** Wrong passwords within {@link WINDOW_MS} of one another, to one process. */
export const FAILURES_MAX = 20;
export const WINDOW_MS = 15 * 60_000;

export function createLockout(deps: AppendDeps): Lockout {
  const { store, clock } = deps;
  const tries = createRateLimit(TRIES_PER_MINUTE, SENTENCE);
  const failures = new RateLimiterMemory({ points: FAILURES_MAX, duration: WINDOW_MS / 1000 });
  const windowNow = (): number => Math.floor(clock.now() / WINDOW_MS);
  return {
    admit: async (account) => {
      await tries.consume(account);
      const window = windowNow();
      if (!(await isPresent(store, lockoutKey(account, window)))) return;
      const endsAt = (window + 1) * WINDOW_MS;
      throw new AppError('too_many_requests', SENTENCE, {
        retryAfterSeconds: Math.ceil((endsAt - clock.now()) / 1000),
      });
    },
    noteFailure: async (account) => {
      const { remainingPoints } = await failures.consume(account).catch(() => FULL);
      if (remainingPoints > 0) return;
      // This window and the next: the end of the present one may be a second away.
      const window = windowNow();
      await Promise.all(
        [window, window + 1].map((number) =>
          store.create(lockoutKey(account, number), Buffer.from('{}\n'), {
            contentType: 'application/json',
          }),
        ),
      );
      await failures.delete(account);
    },
    noteSuccess: async (account) => {
      await failures.delete(account);
    },
  };
}

const FULL = { remainingPoints: 0 };
const SENTENCE = 'Too many tries to sign in. Wait a little, then try again.';

/** Deletes the lock-outs that are over. */
export async function removeOldLockouts(deps: AppendDeps): Promise<number> {
  const oldest = Math.floor(deps.clock.now() / WINDOW_MS);
  let deleted = 0;
  for await (const { key } of deps.store.list(LOCKOUTS_ROOT)) {
    const window = Number(/\/(\d+)\.json$/.exec(key)?.[1] ?? Number.NaN);
    if (!(window < oldest)) continue;
    await deps.store.delete(key);
    deleted++;
  }
  return deleted;
}
