import { describe, expect, it } from 'vitest';
import {
  createLockout,
  FAILURES_MAX,
  removeOldLockouts,
  TRIES_PER_MINUTE,
  WINDOW_MS,
} from '../../../../src/features/accounts/passwords/lockout.ts';
import { signIn } from '../../../../src/features/accounts/sign-in.ts';
import { createFixedClock } from '../../../support/clock.ts';
import { DEVICE, EMAIL, keysOf, register, setUp, signInDeps } from '../support.ts';

const ACCOUNT = 'a'.repeat(32);

async function failOften(lockout: ReturnType<typeof createLockout>, times = FAILURES_MAX) {
  for (let time = 0; time < times; time++) await lockout.noteFailure(ACCOUNT);
}

describe('guessing a password', () => {
  it('is possible five times a minute', async () => {
    const deps = setUp();
    const lockout = createLockout(deps);
    for (let time = 0; time < TRIES_PER_MINUTE; time++) await lockout.admit(ACCOUNT);
    deps.store.forgetCalls();
    await expect(lockout.admit(ACCOUNT)).rejects.toMatchObject({
      code: 'too_many_requests',
      retryAfterSeconds: expect.toSatisfy((seconds: number) => seconds > 0 && seconds <= 60),
    });
    expect(deps.store.total(), 'refused without asking the store').toBe(0);
    await lockout.admit('b'.repeat(32));
  });

  it('ends after 20 failures with a lockout that every process knows', async () => {
    const deps = setUp();
    const here = createLockout(deps);
    const elsewhere = createLockout(setUp(deps.store, deps.clock));
    await failOften(here, FAILURES_MAX - 1);
    await here.admit(ACCOUNT);
    expect(await keysOf(deps.store)).toEqual([]);
    await here.noteFailure(ACCOUNT);
    for (const process of [here, elsewhere]) {
      await expect(process.admit(ACCOUNT)).rejects.toMatchObject({
        code: 'too_many_requests',
        retryAfterSeconds: expect.toSatisfy((s: number) => s > 0 && s * 1000 <= WINDOW_MS),
      });
    }
    await elsewhere.admit('b'.repeat(32));
  });

  it('is locked out for at least one and at most two windows', async () => {
    const start = Math.ceil(Date.parse('2026-11-21T09:00:00Z') / WINDOW_MS) * WINDOW_MS;
    for (const into of [0, WINDOW_MS / 2, WINDOW_MS - 1]) {
      const deps = setUp(undefined, createFixedClock(start + into));
      // A new process each time: the limit on tries a minute must not interfere.
      const admit = () => createLockout(deps).admit(ACCOUNT);
      await failOften(createLockout(deps));
      deps.clock.advance(WINDOW_MS);
      await expect(admit()).rejects.toMatchObject({ code: 'too_many_requests' });
      deps.clock.advance(WINDOW_MS - into);
      await admit();
      expect(await removeOldLockouts(deps)).toBe(2);
      expect(await keysOf(deps.store)).toEqual([]);
    }
  });

  it('keeps the lockouts that have not ended when it deletes old ones', async () => {
    const deps = setUp();
    await failOften(createLockout(deps));
    expect(await removeOldLockouts(deps)).toBe(0);
    await expect(createLockout(deps).admit(ACCOUNT)).rejects.toMatchObject({
      code: 'too_many_requests',
    });
  });

  it('successfully resets the count', async () => {
    const deps = setUp();
    const lockout = createLockout(deps);
    await failOften(lockout, FAILURES_MAX - 1);
    await lockout.noteSuccess(ACCOUNT);
    await failOften(lockout, FAILURES_MAX - 1);
    await lockout.admit(ACCOUNT);
  });

  it('is not possible while the store does not answer, and the failures still count', async () => {
    const deps = setUp();
    const lockout = createLockout(deps);
    await failOften(lockout, FAILURES_MAX - 1);
    deps.store.goDown();
    await expect(lockout.admit(ACCOUNT)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(lockout.noteFailure(ACCOUNT)).rejects.toMatchObject({ kind: 'unavailable' });
    deps.store.comeUp();
    await lockout.admit(ACCOUNT);
    await lockout.noteFailure(ACCOUNT);
    await expect(lockout.admit(ACCOUNT)).rejects.toMatchObject({ code: 'too_many_requests' });
  });

  it('is limited alike for registered and unknown addresses', async () => {
    const deps = setUp();
    await register(deps);
    const outcomes: string[][] = [];
    const counting = createLockout(deps);
    // A new process for each try, so that only the lockout that they share can refuse it.
    const lockout = { ...counting, admit: (id: string) => createLockout(deps).admit(id) };
    for (const email of [EMAIL, 'nobody@example.org']) {
      const seen: string[] = [];
      for (let time = 0; time <= FAILURES_MAX; time++) {
        const request = { email, password: 'a guess', platform: 'linux', device: DEVICE } as const;
        const outcome = signIn({ ...signInDeps(deps), lockout }, request);
        seen.push(await outcome.catch((error) => String(error.code)).then(String));
      }
      outcomes.push(seen);
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]?.at(-1)).toBe('too_many_requests');
    expect(outcomes[0]?.slice(0, FAILURES_MAX)).toEqual(
      Array(FAILURES_MAX).fill('invalid_credentials'),
    );
  });
});
