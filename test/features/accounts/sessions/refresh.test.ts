import { describe, expect, it } from 'vitest';
import { readAccount } from '../../../../src/features/accounts/accounts/account.ts';
import { setName, setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { setPassword } from '../../../../src/features/accounts/change-password.ts';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { sessionKey } from '../../../../src/features/accounts/keys.ts';
import { lockAccount, unlockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { signOutEverywhere } from '../../../../src/features/accounts/sessions/end-session.ts';
import {
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
} from '../../../../src/features/accounts/sessions/session-lifetimes.ts';
import {
  beginSession,
  createTestSessions,
  DAY,
  DEVICE,
  expectEnded,
  fastPasswords,
  keysOf,
  MINUTE,
  refreshWith,
  setUp,
  setUpSession,
} from '../support.ts';

describe('a refresh', () => {
  it('answers with the next token, which can be refreshed, too', async () => {
    const { sessions, token, clock } = await setUpSession();
    const tokens = new Set([token]);
    let current = token;
    for (let turn = 0; turn < 20; turn++) {
      clock.advance(10 * MINUTE);
      current = (await refreshWith(sessions, current)).refreshToken;
      tokens.add(current);
    }
    expect(tokens.size).toBe(21);
  });

  it('whose answer was lost gets the same answer for a minute, from any process', async () => {
    const { sessions, deps, token, clock } = await setUpSession();
    const first = await refreshWith(sessions, token);
    clock.advance(MINUTE);
    const again = await refreshWith(createTestSessions(deps), token);
    expect(again).toEqual(first);
    clock.advance(10 * MINUTE);
    await refreshWith(sessions, again.refreshToken);
  });

  it('one rotation old ends the session after a minute', async () => {
    const { sessions, token, clock } = await setUpSession();
    const { refreshToken } = await refreshWith(sessions, token);
    clock.advance(MINUTE + 1);
    await expectEnded(sessions, token);
    await expectEnded(sessions, refreshToken, 'the present token ends with the session');
  });

  it('two rotations old ends the session at once', async () => {
    const { sessions, token } = await setUpSession();
    const second = await refreshWith(sessions, token);
    const third = await refreshWith(sessions, second.refreshToken);
    await expectEnded(sessions, token);
    await expectEnded(sessions, third.refreshToken);
  });

  it('whose document was trimmed ends the session', async () => {
    const { sessions, token, session, store } = await setUpSession();
    const { refreshToken } = await refreshWith(sessions, token);
    await store.delete(sessionKey(session.account, session.session, 1));
    await expectEnded(sessions, token);
    await expectEnded(sessions, refreshToken);
  });

  it.each([
    ['another device', { deviceId: 'device-2', platform: 'linux' }],
    ['another platform', { deviceId: DEVICE.id, platform: 'web' }],
  ] as const)('from %s ends the session', async (_, other) => {
    const { sessions, token } = await setUpSession();
    await expect(sessions.refresh({ token, ...other })).rejects.toMatchObject({
      code: 'session_ended',
    });
    await expectEnded(sessions, token);
  });

  it('is possible for 30 idle days and no longer', async () => {
    const { sessions, token, clock } = await setUpSession();
    clock.advance(SESSION_IDLE_MS);
    const next = await refreshWith(sessions, token);
    clock.advance(SESSION_IDLE_MS + 1);
    await expectEnded(sessions, next.refreshToken);
  });

  it('is possible for 90 days in all', async () => {
    const { sessions, token, clock } = await setUpSession();
    const begun = clock.now();
    let current = token;
    while (clock.now() + 9 * DAY < begun + SESSION_LIFE_MS) {
      clock.advance(9 * DAY);
      const next = await refreshWith(sessions, current);
      expect(next.refreshExpiresAt).toBeLessThanOrEqual(begun + SESSION_LIFE_MS);
      current = next.refreshToken;
    }
    clock.advance(begun + SESSION_LIFE_MS - clock.now());
    await expectEnded(sessions, current);
    expect(sessions.claimsOf(current), 'nor may it end the session').toBeUndefined();
  });

  it('brings the tier that an admin set', async () => {
    const { sessions, token, deps, account } = await setUpSession();
    await setTier(deps, account.id, 'pro');
    const next = await refreshWith(sessions, token);
    expect(next.tier).toBe('pro');
    await setTier(deps, account.id, null);
    expect((await refreshWith(sessions, next.refreshToken)).tier).toBeNull();
  });

  it.each([
    ['locked', lockAccount],
    ['signed out everywhere', signOutEverywhere],
    ['erased', eraseAccount],
    [
      'given another password',
      (deps: Parameters<typeof eraseAccount>[0], id: string) =>
        setPassword({ ...deps, passwords: fastPasswords }, id, 'another password'),
    ],
  ])('of an account that was %s is refused', async (_, end) => {
    const { sessions, token, deps, account, session, clock } = await setUpSession();
    clock.advance(1);
    await end(deps, account.id, session.session);
    await expectEnded(sessions, token);
  });

  it('sees a lock even if listing the sessions failed', async () => {
    const { sessions, token, deps, account, store } = await setUpSession();
    store.setPlan(({ method }) => (method === 'list' ? { when: 'before' } : undefined));
    await expect(lockAccount(deps, account.id, null)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    store.setPlan(undefined);
    await expectEnded(sessions, token);
  });

  it('sees a lock that was lifted since, even if listing the sessions failed', async () => {
    const { sessions, token, deps, account, store, clock } = await setUpSession();
    clock.advance(1);
    store.setPlan(({ method }) => (method === 'list' ? { when: 'before' } : undefined));
    await expect(lockAccount(deps, account.id, null)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    store.setPlan(undefined);
    await unlockAccount(deps, account.id);
    await expectEnded(sessions, token);
  });

  it('returns the newest state of the account after any number of changes', async () => {
    const { sessions, token, deps, account, store } = await setUpSession();
    await setTier(deps, account.id, 'pro');
    const { refreshToken } = await refreshWith(sessions, token);
    for (let change = 1; change <= 50; change++) await setName(deps, account.id, `name ${change}`);
    await setTier(deps, account.id, null);
    store.forgetCalls();
    const next = await refreshWith(sessions, refreshToken);
    expect(next.tier).toBeNull();
    expect(store.total(), 'requests of a refresh after 51 changes').toBeLessThan(20);
    store.forgetCalls();
    await refreshWith(sessions, next.refreshToken);
    expect(store.total(), 'requests when nothing changed').toBe(5);
  });

  it('sees a sign-out everywhere even if listing the sessions failed', async () => {
    const { sessions, token, deps, account, session, store, clock } = await setUpSession();
    clock.advance(1);
    store.setPlan(({ method }) => (method === 'list' ? { when: 'before' } : undefined));
    await expect(signOutEverywhere(deps, account.id, session.session)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    store.setPlan(undefined);
    await expectEnded(sessions, token);
  });

  it('with a corrupt session or account needs a new sign-in, after which refreshes work', async () => {
    const { sessions, token, deps, account, session, store, clock } = await setUpSession();
    await store.create(`accounts/${account.id}/2.json`, Buffer.from('{"signed":'));
    await expectEnded(sessions, token);
    const known = await readAccount(store, account.id);
    if (known === undefined) throw new Error('The account is lost.');
    const anew = await sessions.begin(known, 'linux', DEVICE);
    clock.advance(10 * MINUTE);
    const next = await refreshWith(sessions, anew.refreshToken);
    await setTier(deps, account.id, 'pro');
    expect((await refreshWith(sessions, next.refreshToken)).tier).toBe('pro');
    await store.create(sessionKey(session.account, session.session, 2), Buffer.from('{}'));
    await expectEnded(sessions, token);
  });
});

describe('two holders of one token', () => {
  it('that take turns every ten minutes are both signed out by the second round', async () => {
    const { sessions, token, clock } = await setUpSession();
    const holders = [token, token];
    let refreshes = 0;
    const round = async (): Promise<void> => {
      for (const holder of [0, 1]) {
        holders[holder] = (await refreshWith(sessions, holders[holder] ?? '')).refreshToken;
        refreshes += 1;
        clock.advance(10 * MINUTE);
      }
    };
    await expect(round().then(round)).rejects.toMatchObject({ code: 'session_ended' });
    for (const held of holders) await expectEnded(sessions, held);
    console.log(`two holders of one token: both out after ${refreshes} successful refreshes`);
    expect(refreshes).toBeLessThan(4);
  });
});

describe('50 refreshes at once with one token', () => {
  it('get the same token 50 times, and one session continues', async () => {
    const { clock, ...first } = setUp();
    const second = setUp(first.store, clock);
    const processes = [
      createTestSessions({ ...first, clock }),
      createTestSessions(second),
    ] as const;
    const { session, token } = await beginSession(second, processes[0]);
    let current = token;
    const answers: string[] = [];
    for (let round = 0; round < 3; round++) {
      const round50 = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          refreshWith(processes[index % 2 === 0 ? 0 : 1], current),
        ),
      );
      const tokens = new Set(round50.map(({ refreshToken }) => refreshToken));
      expect(tokens.size).toBe(1);
      current = [...tokens][0] ?? '';
      answers.push(current);
      clock.advance(10 * MINUTE);
    }
    const prefix = `sessions/${session.account}/`;
    expect((await keysOf(first.store, prefix)).sort()).toEqual(
      [1, 2, 3, 4].map((counter) => sessionKey(session.account, session.session, counter)),
    );
    expect((await refreshWith(processes[1], current)).session).toBe(session.session);
    console.log(
      `50 refreshes at once, 3 rounds, 2 processes: 150 × ok, ${answers.length} tokens, 1 session, 0 logged out`,
    );
  });
});
