import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/core/secret.ts';
import {
  accountIdOf,
  createAccount,
  readAccount,
} from '../../../../src/features/accounts/accounts/account.ts';
import {
  endInvitations,
  invite,
  isInvited,
  listInvitations,
} from '../../../../src/features/accounts/accounts/invitations.ts';
import { cleanUpIdentity } from '../../../../src/features/accounts/clean-up.ts';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { createEmbeddedProvider } from '../../../../src/features/accounts/providers/embedded.ts';
import { createGotrueProvider } from '../../../../src/features/accounts/providers/gotrue.ts';
import { type Registration, register } from '../../../../src/features/accounts/register.ts';
import type { AppendDeps } from '../../../../src/store/sequence/append.ts';
import { failFrom } from '../../../support/faulty-store.ts';
import { API_KEY, errorAnswer, startGotrueStandIn } from '../providers/gotrue-stand-in.ts';
import {
  DAY,
  dump,
  EMAIL,
  fastPasswords,
  keysOf,
  MINUTE,
  PASSWORD,
  type Parts,
  setUp,
} from '../support.ts';

const ID = accountIdOf('embedded', EMAIL);
const REFUSED = { code: 'registration_refused' };

function registering(deps: AppendDeps, registration: Registration = 'invite') {
  const provider = createEmbeddedProvider({ ...deps, passwords: fastPasswords });
  return (invitation?: string, email = EMAIL, password = PASSWORD) =>
    register(
      { ...deps, provider, registration },
      { email, password, name: null, ...(invitation === undefined ? {} : { invitation }) },
    );
}

const inviteAda = (deps: AppendDeps, days = 7) => invite(deps, EMAIL, days);

describe('an invitation', () => {
  it('used by 20 concurrent requests creates one account with one password', async () => {
    const deps = setUp();
    const { code } = await inviteAda(deps);
    const passwords = Array.from({ length: 20 }, (_, index) => `password number ${index}`);
    const outcomes = await Promise.allSettled(
      passwords.map((password) => registering(setUp(deps.store))(code, EMAIL, password)),
    );
    const won = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(REFUSED);
    }
    const account = await readAccount(deps.store, ID);
    expect(account?.password).toBe(await fastPasswords.hash(passwords[won[0] ?? -1] ?? ''));
    expect(await listInvitations(deps)).toEqual([]);
    const left = await keysOf(deps.store, 'invitations/');
    expect(left.map((key) => key.split('/').at(-1))).toEqual(['end.json']);
  });
});

describe('an invitation', () => {
  it('is shown once and stored hashed', async () => {
    const deps = setUp();
    const { code, ...described } = await inviteAda(deps);
    expect(code).toMatch(/^sli_[\w-]{32}$/);
    expect(await dump(deps.store)).not.toContain(code.slice(4));
    expect(await listInvitations(deps)).toEqual([described]);
    expect(described).toMatchObject({ email: EMAIL });
  });

  it('is valid once, for its address only, until it expires or is withdrawn', async () => {
    const deps = setUp();
    const attempt = registering(deps);
    const one = await inviteAda(deps);
    const two = await inviteAda(deps);
    for (const wrong of [undefined, '', 'sli_', `${one.code}x`, `sli_${'A'.repeat(32)}`]) {
      await expect(attempt(wrong)).rejects.toMatchObject(REFUSED);
    }
    await expect(attempt(one.code, 'eve@example.org')).rejects.toMatchObject(REFUSED);
    // A weak password does not use it up.
    await expect(attempt(one.code, EMAIL, 'password')).rejects.toMatchObject({
      code: 'weak_password',
    });
    expect(await keysOf(deps.store, 'accounts/')).toEqual([]);
    await attempt(one.code);
    for (const used of [one, two]) {
      await expect(attempt(used.code)).rejects.toMatchObject(REFUSED);
    }
    await expect(inviteAda(deps)).rejects.toMatchObject({ code: 'account_exists' });

    const grace = await invite(deps, 'grace@example.org', 1);
    expect(await endInvitations(deps, 'grace@example.org', 'withdrawn')).toBe(1);
    expect(await endInvitations(deps, 'grace@example.org', 'withdrawn')).toBe(0);
    await expect(attempt(grace.code, grace.email)).rejects.toMatchObject(REFUSED);
    const joan = await invite(deps, 'joan@example.org', 1);
    deps.clock.advance(DAY);
    await expect(attempt(joan.code, joan.email)).rejects.toMatchObject(REFUSED);
  });

  it('is refused alike for every reason: the same answer, requests and time', async () => {
    const deps = setUp();
    await registering(deps, 'open')(undefined, 'known@example.org');
    const used = await invite(deps, 'used@example.org', 7);
    await registering(deps)(used.code, used.email);
    const expired = await invite(deps, 'old@example.org', 1);
    deps.clock.advance(2 * DAY);
    const other = await inviteAda(deps);
    const seen = [];
    for (const [email, code] of [
      ['known@example.org', other.code],
      ['nobody@example.org', other.code],
      [used.email, used.code],
      [expired.email, expired.code],
      [EMAIL, `sli_${'A'.repeat(32)}`],
    ] as const) {
      const calls: string[] = [];
      deps.store.setPlan(({ method, key }) => {
        // Each request takes 20 ms, as a store far away would.
        deps.clock.advance(20);
        calls.push(`${method} ${key.replaceAll(/[0-9a-f]{32}/g, '*')}`);
        return undefined;
      });
      const begun = deps.clock.now();
      const { code: refusal, message } = await registering(deps)(code, email).catch(
        (error) => error,
      );
      seen.push({ refusal, message, calls: calls.sort(), ms: deps.clock.now() - begun });
      deps.store.setPlan(undefined);
    }
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(seen[0]).toMatchObject({
      refusal: 'registration_refused',
      calls: ['get invitations/*/*/1.json', 'get invitations/*/*/end.json'],
      ms: 200,
    });
  });

  it('stays valid, or has created the account, when the registration fails at any step', async () => {
    let isDone = false;
    let failed = 0;
    for (let call = 1; !isDone; call++) {
      const deps = setUp();
      const { code } = await inviteAda(deps);
      deps.store.setPlan(failFrom(call, 'before'));
      isDone = await registering(deps)(code).then(
        () => true,
        () => false,
      );
      deps.store.setPlan(undefined);
      if (isDone) continue;
      failed += 1;
      // The second try: either the invitation is still valid, or the account exists.
      await registering(deps)(code).catch((error) => expect(error).toMatchObject(REFUSED));
      const account = await readAccount(deps.store, ID);
      expect(account?.password).toBe(await fastPasswords.hash(PASSWORD));
    }
    expect(failed).toBeGreaterThan(4);
  });

  it('is required with REGISTRATION=invite, and refused with REGISTRATION=closed', async () => {
    const deps = setUp();
    const { code } = await inviteAda(deps);
    await expect(registering(deps, 'closed')(code)).rejects.toMatchObject(REFUSED);
    await registering(deps, 'open')();
    expect(await readAccount(deps.store, ID)).toBeDefined();
  });

  it('is deleted when it expires, and when its account is erased', async () => {
    const deps = setUp();
    await inviteAda(deps, 1);
    await invite(deps, 'grace@example.org', 7);
    await registering(deps, 'open')(undefined, 'grace@example.org');
    await eraseAccount(deps, accountIdOf('embedded', 'grace@example.org'));
    await expect(invite(deps, 'grace@example.org', 7)).rejects.toMatchObject({
      code: 'account_exists',
    });
    expect(await dump(deps.store)).not.toContain('grace');
    await cleanUpIdentity(deps);
    expect(await listInvitations(deps)).toHaveLength(1);
    deps.clock.advance(DAY + MINUTE);
    await cleanUpIdentity(deps);
    expect(await dump(deps.store)).not.toContain(EMAIL);
    deps.clock.advance(DAY);
    await cleanUpIdentity(deps);
    expect(await keysOf(deps.store, 'invitations/')).toEqual([]);
  });
});

describe('an invitation to a service whose accounts are in GoTrue', () => {
  it.each([
    ['over_email_send_rate_limit', 429],
    ['user_already_exists', 422],
    ['email_exists', 422],
  ])('stays valid when GoTrue does not accept the registration: %s', async (code, status) => {
    await using standIn = await openGotrue();
    const deps = setUp();
    const invitation = await inviteAda(deps);
    standIn.answer('/signup', errorAnswer(status, code));
    const refused = await standIn.register(deps, invitation.code);
    expect(await listInvitations(deps)).toHaveLength(1);
    standIn.answer('/signup', undefined);
    expect(await standIn.register(deps, invitation.code), 'told alike').toEqual(refused);
    expect(standIn.requests).toHaveLength(2);
    expect(await listInvitations(deps)).toEqual([]);
    await expect(standIn.register(deps, invitation.code)).rejects.toMatchObject(REFUSED);
  });

  it('is deleted when the account of its address is erased, even if that fails at any step', async () => {
    let isDone = false;
    for (let call = 1; !isDone; call++) {
      const deps = setUp();
      const { code } = await inviteAda(deps);
      await createAccount(deps, {
        provider: 'gotrue',
        subject: 'user-ada',
        email: EMAIL,
        emailVerified: true,
        name: null,
        providerTier: null,
        password: null,
      });
      const id = accountIdOf('gotrue', 'user-ada');
      deps.store.setPlan(failFrom(call, 'before'));
      isDone = await eraseAccount(deps, id).then(
        () => true,
        () => false,
      );
      deps.store.setPlan(undefined);
      if (!isDone) await eraseAccount(deps, id);
      expect(await isInvited(deps, EMAIL, code)).toBe(false);
      expect(await dump(deps.store), `failed at request ${call}`).not.toContain(EMAIL);
    }
  });
});

async function openGotrue() {
  const standIn = await startGotrueStandIn([]);
  const person = { email: EMAIL, password: PASSWORD, name: null };
  return {
    ...standIn,
    register: (deps: Parts, invitation: string) => {
      const { url } = standIn;
      const provider = createGotrueProvider({
        url,
        apiKey: new Secret(API_KEY),
        clock: deps.clock,
      });
      return register({ ...deps, provider, registration: 'invite' }, { ...person, invitation });
    },
    [Symbol.asyncDispose]: standIn.close,
  };
}
