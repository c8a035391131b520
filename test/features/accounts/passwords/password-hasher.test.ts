import argon2 from 'argon2';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createPasswordHasher,
  hashesAtOnce,
} from '../../../../src/features/accounts/passwords/password-hasher.ts';
import { PASSWORD_LENGTH_MIN } from '../../../../src/features/accounts/passwords/password-rule.ts';

const CHEAP = { memoryCost: 8, timeCost: 1 };

afterEach(() => vi.restoreAllMocks());

/** Counts how many hashes are computed at once. */
function watchWork() {
  let now = 0;
  let most = 0;
  const watch = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      now += 1;
      most = Math.max(most, now);
      return work(...args).finally(() => {
        now -= 1;
      });
    };
  };
  const hash = watch(argon2.hash);
  const verify = watch(argon2.verify);
  vi.spyOn(argon2, 'hash').mockImplementation(hash as typeof argon2.hash);
  vi.spyOn(argon2, 'verify').mockImplementation(verify);
  return { most: () => most };
}

describe('passwords', () => {
  it('are hashed with Argon2id, 19 MiB, two passes, each with its own salt', async () => {
    const { hash, verify } = createPasswordHasher();
    const one = await hash('correct horse');
    const two = await hash('correct horse');
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(two).not.toBe(one);
    expect(await verify(one, 'correct horse')).toBe(true);
    expect(await verify(one, 'Correct horse')).toBe(false);
    expect(await verify(one, '')).toBe(false);
  });

  it('never match without a hash', async () => {
    const { verify } = createPasswordHasher();
    for (const password of ['', 'nobody', 'null', PASSWORD_LENGTH_MIN.toString()]) {
      expect(await verify(null, password)).toBe(false);
    }
  });

  it.each([1, 2])('are hashed %i at a time, and never more', async (atOnce) => {
    const work = watchWork();
    const { hash, verify } = createPasswordHasher({ atOnce, cost: CHEAP });
    const known = await hash('correct horse');
    await Promise.all([
      ...Array.from({ length: 4 }, () => verify(known, 'x')),
      ...Array.from({ length: 4 }, () => verify(null, 'x')),
      ...Array.from({ length: 4 }, () => hash('another password')),
    ]);
    expect(work.most()).toBe(atOnce);
  });

  it('are refused at once when the queue is full, and the queue is processed', async () => {
    const { hash, verify } = createPasswordHasher({ cost: CHEAP });
    const known = await hash('correct horse');
    const settled = await Promise.allSettled(
      Array.from({ length: 80 }, () => verify(known, 'correct horse')),
    );
    const done = settled.filter(({ status }) => status === 'fulfilled');
    const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(done.length).toBeGreaterThanOrEqual(50);
    expect(done.length).toBeLessThanOrEqual(51);
    for (const reason of refused) {
      expect(reason).toMatchObject({
        code: 'overloaded',
        kind: 'unavailable',
        retryAfterSeconds: 5,
      });
    }
    expect(refused.length).toBe(80 - done.length);
    expect(await verify(known, 'correct horse')).toBe(true);
  });

  it.each([
    // processors, hashes at once
    [1, 1],
    [2, 1],
    [4, 2],
    // The other threads of a process are for files.
    [32, 2],
  ])('on %i processors are hashed %i at a time', (processors, atOnce) => {
    expect(hashesAtOnce(processors)).toBe(atOnce);
  });

  it('are not hashed when the client left before their turn, and others take their places', async () => {
    const { hash } = createPasswordHasher({ cost: CHEAP });
    const work = vi.spyOn(argon2, 'hash');
    const leaving = new AbortController();
    const first = hash('correct horse', leaving.signal);
    const left = Promise.allSettled(
      Array.from({ length: 50 }, () => hash('of a client that left', leaving.signal)),
    );
    leaving.abort();
    // The hash that has begun is completed.
    expect(await first).toMatch(/^\$argon2id/);
    expect(await hash('of a client that waits')).toMatch(/^\$argon2id/);
    for (const outcome of await left) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'overloaded' } });
    }
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('are hashed for a client that only closed its side, while no other waits', async () => {
    const { hash } = createPasswordHasher({ cost: CHEAP });
    expect(await hash('correct horse', AbortSignal.abort())).toMatch(/^\$argon2id/);
  });

  it('take as long to verify without a hash as with one, from the first one on', async () => {
    const verify = vi.spyOn(argon2, 'verify');
    const passwords = createPasswordHasher();
    await passwords.verify(null, 'wrong');
    await passwords.verify(await passwords.hash('correct horse'), 'wrong');
    const [without, withHash] = verify.mock.calls.map(([hash]) => /^.*,t=\d+/.exec(hash)?.[0]);
    expect(without).toBe('$argon2id$v=19$m=19456,p=1,t=2');
    expect(withHash).toBe(without);
  });

  it('are the same however a keyboard composes accents', async () => {
    const { hash, verify } = createPasswordHasher({ cost: CHEAP });
    const known = await hash('cafe\u0301 au lait');
    expect(await verify(known, 'caf\u00e9 au lait')).toBe(true);
    expect(await verify(known, 'cafe au lait')).toBe(false);
  });
});
