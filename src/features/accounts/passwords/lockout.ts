import { RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../../core/errors.ts';
import { createRateLimit, createTryCounter } from '../../../core/rate-limit.ts';
import { isPresent } from '../../../store/presence.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { LOCKOUTS_ROOT, lockoutKey } from '../keys.ts';

/**
 * Limits how fast an attacker can guess passwords: each account allows a few tries a minute, and many wrong passwords
 * lock the account out. The lockout is an object in the store, so that every replica knows it.
 *
 * The limit also applies to accounts that do not exist. Otherwise the limit would reveal which accounts exist.
 */
export interface Lockout {
  /**
   * The service calls this before each try.
   *
   * @throws AppError `too_many_requests`
   */
  admit(account: string): Promise<void>;
  /** The service calls this after a wrong password. */
  noteFailure(account: string): Promise<void>;
  /** The service calls this after the right password. It resets the count of wrong passwords. */
  noteSuccess(account: string): Promise<void>;
}

export const TRIES_PER_MINUTE = 5;
/** The number of wrong passwords within {@link WINDOW_MS} that causes a lockout. Each replica counts alone. */
export const FAILURES_MAX = 20;
export const WINDOW_MS = 15 * 60_000;

export function createLockout(deps: AppendDeps): Lockout {
  const { store, clock } = deps;
  const tries = createRateLimit('tries per account', TRIES_PER_MINUTE, MESSAGE);
  const failures = createTryCounter({
    name: 'failures per account',
    max: FAILURES_MAX,
    durationSeconds: WINDOW_MS / 1000,
  });
  const windowNow = (): number => Math.floor(clock.now() / WINDOW_MS);
  const countFailure = async (account: string): Promise<number> => {
    const { consumedPoints } = await failures.consume(account).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    return consumedPoints;
  };
  return {
    admit: async (account) => {
      await tries.consume(account);
      const window = windowNow();
      if (!(await isPresent(store, lockoutKey(account, window)))) return;
      const endsAt = (window + 1) * WINDOW_MS;
      throw new AppError('too_many_requests', MESSAGE, {
        retryAfterSeconds: Math.ceil((endsAt - clock.now()) / 1000),
      });
    },
    noteFailure: async (account) => {
      if ((await countFailure(account)) < FAILURES_MAX) return;
      // Locks out in the current window and also in the next window, because the current window may end within a
      // second.
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

const MESSAGE = 'Too many tries to sign in. Wait, then try again.';

/** Deletes the lockouts that have ended, and returns the number of objects that it deleted. */
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
