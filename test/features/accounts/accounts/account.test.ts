import { describe, expect, it } from 'vitest';
import {
  accountIdOf,
  createAccount,
  normalizeEmail,
  readAccount,
} from '../../../../src/features/accounts/accounts/account.ts';
import {
  changeAccount,
  setName,
  setTier,
} from '../../../../src/features/accounts/accounts/change-account.ts';
import {
  findAccount,
  listAccounts,
} from '../../../../src/features/accounts/accounts/find-account.ts';
import { setPassword } from '../../../../src/features/accounts/change-password.ts';
import { lockAccount, unlockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { FAILURE_MS_MIN } from '../../../../src/features/accounts/prove-password.ts';
import { createEmbeddedProvider } from '../../../../src/features/accounts/providers/embedded.ts';
import { signIn } from '../../../../src/features/accounts/sign-in.ts';
import {
  DEVICE,
  EMAIL,
  fastPasswords,
  keysOf,
  PASSWORD,
  type Parts,
  register,
  setUp,
  signInDeps,
} from '../support.ts';

const ID = accountIdOf('embedded', EMAIL);

function providerOf(deps: Parts) {
  return createEmbeddedProvider({ ...deps, passwords: fastPasswords });
}

describe('20 concurrent registrations of one address', () => {
  it.each([true, false])(
    'make one account with one password (after another: %s)',
    async (isFirst) => {
      const deps = setUp();
      const first = { email: EMAIL, password: 'password of the first', name: null };
      const others = Array.from({ length: 20 }, (_, index) => `password number ${index}`);
      const provider = providerOf(deps);
      if (isFirst) await provider.register(first);
      await Promise.all(
        others.map((password) => providerOf(setUp(deps.store)).register({ ...first, password })),
      );
      expect(await keysOf(deps.store, 'accounts/')).toEqual([`accounts/${ID}/1.json`]);
      const right: string[] = [];
      for (const password of [first.password, ...others]) {
        const identity = await provider.verifyPassword({ email: EMAIL, password });
        if (identity !== undefined) right.push(password);
      }
      expect(right).toHaveLength(1);
      if (isFirst) expect(right).toEqual([first.password]);
      await provider.register({ ...first, password: 'a later password' });
      expect(
        await provider.verifyPassword({ email: EMAIL, password: right[0] ?? '' }),
      ).toBeDefined();
    },
  );
});

describe('a stranger does not learn whether an address is registered', () => {
  /** Records the store calls: methods, and keys without the account's id. */
  async function recorded() {
    const deps = setUp();
    await register(deps);
    const calls: string[] = [];
    deps.store.setPlan(({ method, key }) => {
      calls.push(`${method} ${key.replace(/[0-9a-f]{32}/, '*').replace(/\d{6,}/, 'n')}`);
      return undefined;
    });
    return { deps, take: () => calls.splice(0) };
  }

  it('from registering it: the requests are the same', async () => {
    const { deps, take } = await recorded();
    const seen = [];
    for (const email of [EMAIL, 'nobody@example.org']) {
      await providerOf(deps).register({ email, password: PASSWORD, name: null });
      seen.push(take());
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toEqual(['get accounts/*/end.json', 'create accounts/*/1.json']);
  });

  it('from a wrong password: the requests and the answer are the same', async () => {
    const { deps, take } = await recorded();
    const seen = [];
    for (const email of [EMAIL, 'nobody@example.org']) {
      const signing = signIn(signInDeps(deps), {
        email,
        password: 'a guess',
        platform: 'linux',
        device: DEVICE,
      });
      const answer = await signing.catch(({ code, message }) => ({ code, message }));
      seen.push({ answer, calls: take() });
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.answer).toMatchObject({ code: 'invalid_credentials' });
  });

  it('from a wrong password for an account with many changes: the response time is the same', async () => {
    const { deps } = await recorded();
    for (const name of ['a', 'b', 'c']) await setName(deps, ID, name);
    const times = [];
    for (const email of [EMAIL, 'nobody@example.org']) {
      // Each request takes 20 ms, as a store far away would.
      deps.store.setPlan(() => {
        deps.clock.advance(20);
        return undefined;
      });
      const begun = deps.clock.now();
      await expect(
        signIn(signInDeps(deps), { email, password: 'a guess', platform: 'linux', device: DEVICE }),
      ).rejects.toMatchObject({ code: 'invalid_credentials' });
      times.push(deps.clock.now() - begun);
    }
    expect(times).toEqual([FAILURE_MS_MIN, FAILURE_MS_MIN]);
  });

  it('but its owner learns that the account is locked', async () => {
    const { deps } = await recorded();
    await lockAccount(deps, ID, 'unpaid');
    const attempt = (password: string) =>
      signIn(signInDeps(deps), { email: EMAIL, password, platform: 'linux', device: DEVICE });
    await expect(attempt('a guess')).rejects.toMatchObject({ code: 'invalid_credentials' });
    await expect(attempt(PASSWORD)).rejects.toMatchObject({ code: 'account_locked' });
    await unlockAccount(deps, ID);
    expect((await attempt(PASSWORD)).account).toBe(ID);
  });
});

describe('an account', () => {
  it('is the same for every spelling of its address', () => {
    for (const email of [
      EMAIL,
      ' Ada@Example.ORG\n',
      '\tADA@EXAMPLE.ORG',
      '\u00a0ada@example.org',
    ]) {
      expect(normalizeEmail(email)).toBe(EMAIL);
    }
    expect(normalizeEmail('Jose\u0301@example.org')).toBe(normalizeEmail('JOSÉ@example.org'));
    expect(normalizeEmail('a.b@example.org')).not.toBe(normalizeEmail('ab@example.org'));
  });

  it('of one provider is not the account of another provider', () => {
    expect(accountIdOf('embedded', 'x')).not.toBe(accountIdOf('gotrue', 'x'));
    expect(accountIdOf('embedded', 'x')).toMatch(/^[0-9a-f]{32}$/);
  });

  it('that does not exist cannot be changed', async () => {
    const deps = setUp();
    await expect(setName(deps, ID, 'Ada')).rejects.toMatchObject({ code: 'unknown_account' });
    expect(await keysOf(deps.store)).toEqual([]);
  });

  it('changed by two processes at once keeps both changes', async () => {
    const deps = setUp();
    await register(deps);
    const one = setUp(deps.store, deps.clock);
    const two = setUp(deps.store, deps.clock);
    for (let round = 0; round < 10; round++) {
      await Promise.all([setTier(one, ID, `tier-${round}`), setName(two, ID, `name ${round}`)]);
      expect(await readAccount(deps.store, ID)).toMatchObject({
        adminTier: `tier-${round}`,
        name: `name ${round}`,
        revision: 1 + 2 * (round + 1),
      });
    }
  });

  it('locked by two processes at once keeps the later reason; locking it again changes nothing', async () => {
    const deps = setUp();
    await register(deps);
    await Promise.all(['first', 'second'].map((why) => lockAccount(setUp(deps.store), ID, why)));
    const locked = await readAccount(deps.store, ID);
    expect(locked?.revision).toBe(3);
    expect(['first', 'second']).toContain(locked?.locked?.reason);
    await lockAccount(setUp(deps.store), ID, locked?.locked?.reason ?? null);
    await lockAccount(setUp(deps.store), ID, null);
    expect(await readAccount(deps.store, ID)).toEqual(locked);
  });

  it('with 300 changes is read in few requests', async () => {
    const deps = setUp();
    await register(deps);
    for (let change = 1; change <= 300; change++) await setName(deps, ID, `name ${change}`);
    deps.store.forgetCalls();
    expect(await readAccount(deps.store, ID)).toMatchObject({ name: 'name 300', revision: 301 });
    console.log(`an account with 300 changes: read in ${deps.store.total()} requests`);
    expect(deps.store.total()).toBeLessThanOrEqual(24);
    expect(deps.store.counts.list).toBe(0);
  });

  it.each([
    ['truncated', '{"signed":{"schema_ver'],
    ['empty', ''],
    ['another document', '{}'],
    ['not text', '\xff\xfe'],
    ['huge', 'x'.repeat(20_000)],
  ])(
    'whose newest document is corrupt (%s) has its earlier state, and can be changed',
    async (_, bytes) => {
      const deps = setUp();
      await register(deps);
      await setTier(deps, ID, 'pro');
      await deps.store.create(`accounts/${ID}/3.json`, Buffer.from(bytes, 'latin1'));
      expect(await readAccount(deps.store, ID)).toMatchObject({ tier: 'pro', revision: 3 });
      expect(await setName(deps, ID, 'Ada')).toMatchObject({
        name: 'Ada',
        tier: 'pro',
        revision: 4,
      });
      const object = await deps.store.get(`accounts/${ID}/4.json`);
      const { signed } = JSON.parse(Buffer.from(object?.body ?? []).toString());
      expect(signed.skipped).toEqual([
        expect.objectContaining({ number: 3, reason: expect.stringContaining('3.json') }),
      ]);
    },
  );

  it('with a document that was altered, or copied from another account, ignores the document', async () => {
    const deps = setUp();
    await register(deps);
    await register(deps, 'eve@example.org');
    const object = await deps.store.get(`accounts/${ID}/1.json`);
    const bytes = Buffer.from(object?.body ?? []);
    const eve = accountIdOf('embedded', 'eve@example.org');
    await deps.store.create(`accounts/${eve}/2.json`, bytes);
    expect((await readAccount(deps.store, eve))?.email).toBe('eve@example.org');
    const altered = Buffer.from(bytes.toString().replace('"tier":null', '"tier":"pro"'));
    await deps.store.delete(`accounts/${ID}/1.json`);
    await deps.store.create(`accounts/${ID}/1.json`, altered);
    expect(await readAccount(deps.store, ID)).toBeUndefined();
  });

  it('written by a newer release is not touched', async () => {
    const deps = setUp();
    await register(deps);
    const { digestOf } = await import('../../../../src/store/sequence/envelope.ts');
    const signed = { schema_version: 2 };
    const envelope = { signed, digest: digestOf(signed), signatures: [] };
    await deps.store.create(`accounts/${ID}/2.json`, Buffer.from(JSON.stringify(envelope)));
    await expect(readAccount(deps.store, ID)).rejects.toMatchObject({ code: 'document_newer' });
    await expect(setName(deps, ID, 'x')).rejects.toMatchObject({ code: 'document_newer' });
  });

  it("is created once when the store's answer was lost", async () => {
    for (const when of ['before', 'after'] as const) {
      const deps = setUp();
      let creates = 0;
      deps.store.setPlan(({ method }) =>
        method === 'create' && ++creates === 1 ? { when } : undefined,
      );
      await register(deps);
      expect(await keysOf(deps.store)).toEqual([`accounts/${ID}/1.json`]);
    }
  });

  it('is found by id and by address, with every provider', async () => {
    const deps = setUp();
    await register(deps);
    await createAccount(deps, {
      provider: 'gotrue',
      subject: 'user-1',
      email: 'grace@example.org',
      emailVerified: true,
      name: null,
      providerTier: null,
      password: null,
    });
    await changeAccount(deps, ID, () => ({ change: 'name', name: 'Ada' }));
    expect((await findAccount(deps.store, ID)).email).toBe(EMAIL);
    expect((await findAccount(deps.store, ' ADA@example.org')).id).toBe(ID);
    expect((await findAccount(deps.store, 'grace@example.org')).provider).toBe('gotrue');
    for (const unknown of ['nobody@example.org', 'f'.repeat(32), '', '../x']) {
      await expect(findAccount(deps.store, unknown)).rejects.toMatchObject({
        code: 'unknown_account',
      });
    }
    const listed = [];
    for await (const { email } of listAccounts(deps.store)) listed.push(email);
    expect(listed.sort()).toEqual([EMAIL, 'grace@example.org']);
  });
});

describe('a password set by an admin', () => {
  it('replaces the old one', async () => {
    const deps = setUp();
    await register(deps);
    const change = { ...deps, passwords: fastPasswords };
    await setPassword(change, ID, 'the new password');
    const provider = providerOf(deps);
    const verify = (password: string) => provider.verifyPassword({ email: EMAIL, password });
    expect(await verify(PASSWORD)).toBeUndefined();
    expect(await verify('the new password')).toMatchObject({ subject: EMAIL, tier: null });
    await expect(setPassword(change, ID, 'short')).rejects.toMatchObject({ code: 'weak_password' });
  });
});
