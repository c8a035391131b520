import { RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../../core/errors.ts';
import { createRateLimit, createTryCounter } from '../../../core/rate-limit.ts';
import { isPresent } from '../../../store/presence.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { LOCKOUTS_ROOT, lockoutKey } from '../keys.ts';

/**
 * Limits how fast passwords can be guessed: a few tries a minute for each account, and after many
 * wrong ones a lockout. The lockout is an object in the store, so that every replica knows it.
 *
 * Accounts that do not exist are limited, too. Otherwise the limit would tell which accounts exist.
 */
export interface Lockout {
  /**
   * Is called before each try.
   *
   * @throws AppError `too_many_requests`
   */
  admit(account: string): Promise<void>;
  /** Is called after a wrong password. */
  noteFailure(account: string): Promise<void>;
  /** Is called after the right password. It resets the count of wrong ones. */
  noteSuccess(account: string): Promise<void>;
}

export const TRIES_PER_MINUTE = 5;
/** The number of wrong passwords, sent to one replica within {@link WINDOW_MS}, that causes a lockout. */
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
      // Locks out in the current window and in the next one, because the current one may end within a second.
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
