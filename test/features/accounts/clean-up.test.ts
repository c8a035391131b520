import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountIdOf, readAccount } from '../../../src/features/accounts/accounts/account.ts';
import { setTier } from '../../../src/features/accounts/accounts/change-account.ts';
import {
  cleanUpIdentity,
  SESSION_DOCUMENTS_KEPT,
} from '../../../src/features/accounts/clean-up.ts';
import {
  createDeveloperKey,
  listDeveloperKeys,
  revokeAllDeveloperKeys,
  revokeDeveloperKey,
} from '../../../src/features/accounts/developer-keys/developer-keys.ts';
import { eraseAccount } from '../../../src/features/accounts/erase-account.ts';
import { parseDeveloperKeyListKey, sessionKey } from '../../../src/features/accounts/keys.ts';
import { lockAccount, unlockAccount } from '../../../src/features/accounts/lock-account.ts';
import { signOutEverywhere } from '../../../src/features/accounts/sessions/end-session.ts';
import {
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
} from '../../../src/features/accounts/sessions/session-lifetimes.ts';
import { signIn } from '../../../src/features/accounts/sign-in.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { AppendDeps } from '../../../src/store/sequence/append.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failFrom } from '../../support/faulty-store.ts';
import { rounds } from '../../support/rounds.ts';
import {
  beginSession,
  createTestSessions,
  DAY,
  DEVICE,
  describeDirectory,
  EMAIL,
  expectEnded,
  keysOf,
  MINUTE,
  PASSWORD,
  refreshWith,
  register,
  setUp,
  signInDeps,
} from './support.ts';

const HOUR = 60 * MINUTE;
const ID = accountIdOf('embedded', EMAIL);

async function signedIn(refreshes = 0) {
  const deps = setUp();
  const sessions = createTestSessions(deps);
  const { session, token } = await beginSession(deps, sessions);
  const tokens = [token];
  for (let turn = 0; turn < refreshes; turn++) {
    deps.clock.advance(10 * MINUTE);
    tokens.push((await refreshWith(sessions, tokens.at(-1) ?? '')).refreshToken);
  }
  return { deps, ...deps, sessions, session, tokens, token: tokens.at(-1) ?? '' };
}

describe('cleaning up', () => {
  it('keeps the three newest documents of a session', async () => {
    const { deps, store, sessions, session, token } = await signedIn(12);
    expect(await cleanUpIdentity(deps)).toBe(10);
    expect((await keysOf(store, 'sessions/')).sort()).toEqual(
      [11, 12, 13].map((counter) => sessionKey(session.account, session.session, counter)),
    );
    expect(await cleanUpIdentity(deps)).toBe(0);
    await refreshWith(sessions, token);
    expect(SESSION_DOCUMENTS_KEPT).toBe(3);
  });

  it('keeps enough to recognize a stolen token of any age', async () => {
    for (const age of [1, 2, 3, 8, 12]) {
      const { deps, sessions, tokens, token, clock } = await signedIn(12);
      await cleanUpIdentity(deps);
      clock.advance(2 * MINUTE);
      await expectEnded(sessions, tokens[12 - age] ?? '');
      await expectEnded(sessions, token);
    }
  });

  it('ends the sessions that have expired, and later deletes their end markers', async () => {
    const { deps, store, clock, session } = await signedIn(1);
    clock.advance(SESSION_IDLE_MS + 2 * DAY);
    await cleanUpIdentity(deps);
    const marker = `sessions/${session.account}/${session.session}/end.json`;
    expect(await keysOf(store, 'sessions/')).toEqual([marker]);
    clock.advance(SESSION_LIFE_MS + DAY);
    await cleanUpIdentity(deps);
    expect(await keysOf(store, 'sessions/')).toEqual([]);
    expect(await keysOf(store, 'accounts/')).toEqual([`accounts/${ID}/1.json`]);
  });

  it('does not end a session at its last idle moment, even if the clocks differ', async () => {
    for (const early of [0, -12 * 60 * MINUTE]) {
      const { deps, clock, sessions, token } = await signedIn();
      clock.advance(SESSION_IDLE_MS);
      const ahead = { ...deps, clock: { ...clock, now: () => clock.now() - early } };
      await cleanUpIdentity(ahead);
      await refreshWith(sessions, token);
    }
  });

  it('deletes ended sessions, and keeps their end markers for longer than any token is valid', async () => {
    const { deps, store, clock, sessions, session, token } = await signedIn(3);
    await sessions.end(session.account, session.session, 'signed_out');
    expect(await cleanUpIdentity(deps)).toBe(4);
    clock.advance(SESSION_IDLE_MS - MINUTE);
    await cleanUpIdentity(deps);
    await expectEnded(sessions, token);
    clock.advance(SESSION_LIFE_MS - SESSION_IDLE_MS + 2 * MINUTE);
    await cleanUpIdentity(deps);
    expect(await keysOf(store, 'sessions/'), 'kept a day longer').toHaveLength(1);
    clock.advance(DAY);
    await cleanUpIdentity(deps);
    expect(await keysOf(store, 'sessions/')).toEqual([]);
    await expectEnded(sessions, token);
  });

  it('keeps few documents of an account, enough to find the newest and to erase the account', async () => {
    const { deps, store, clock } = await signedIn();
    for (let change = 1; change <= 300; change++) await setTier(deps, ID, `tier-${change}`);
    await createDeveloperKeys(deps, 30);
    clock.advance(SESSION_LIFE_MS);
    await cleanUpIdentity(deps);
    const kept = await keysOf(store, `accounts/${ID}/`);
    console.log(`an account with 300 changes: ${kept.length} documents are kept`);
    expect(kept.length).toBeLessThanOrEqual(20);
    expect((await keysOf(store, `developer-keys/${ID}/`)).length).toBeLessThanOrEqual(16);
    expect(await readAccount(store, ID)).toMatchObject({ tier: 'tier-300', revision: 301 });
    expect(await setTier(deps, ID, 'last')).toMatchObject({ tier: 'last', revision: 302 });
    await eraseAccount(deps, ID);
    expect(await keysOf(store, `accounts/${ID}/`)).toEqual([`accounts/${ID}/end.json`]);
  });

  it('does not take an account back to an old state when the newest documents are corrupt', async () => {
    const { deps, store, clock } = await signedIn();
    for (let change = 1; change <= 20; change++) await setTier(deps, ID, `tier-${change}`);
    await lockAccount(deps, ID, null);
    clock.advance(SESSION_LIFE_MS);
    await cleanUpIdentity(deps);
    const tiers = [];
    for (const number of [22, 21, 20]) {
      const key = `accounts/${ID}/${number}.json`;
      await store.delete(key);
      await store.create(key, Buffer.from('{'));
      tiers.push((await readAccount(store, ID))?.tier);
    }
    expect(tiers).toEqual(['tier-20', 'tier-19', undefined]);
    await expect(setTier(deps, ID, 'other')).rejects.toMatchObject({ code: 'unknown_account' });
    expect(await readAccount(store, ID), 'and no change goes on from it').toBeUndefined();
  });

  it.each([1, 3])(
    'loses no developer key when the %d newest lists are corrupt',
    async (corrupt) => {
      const { deps, store, clock } = await signedIn();
      await createDeveloperKeys(deps, 10);
      const request = { name: 'CI', scopes: [], expiresAt: new Date(clock.now() + DAY) };
      const live = [];
      for (let made = 1; made <= 4; made++) {
        live.push((await createDeveloperKey(deps, ID, request)).id);
      }
      clock.advance(2 * HOUR);
      await cleanUpIdentity(deps);
      const lists = (await keysOf(store, `developer-keys/${ID}/`)).filter(isKeyList).sort(byNumber);
      for (const key of lists.slice(-corrupt)) {
        await store.delete(key);
        await store.create(key, Buffer.from('{'));
      }
      const idsOf = async () => (await listDeveloperKeys(store, ID)).map(({ id }) => id).sort();
      expect(await idsOf()).toEqual([...live].sort());
      await revokeDeveloperKey(deps, ID, live[3] ?? '');
      expect(await idsOf()).toEqual(live.slice(0, 3).sort());
      const { id } = await createDeveloperKey(deps, ID, request);
      expect(await idsOf()).toEqual([...live.slice(0, 3), id].sort());
      await revokeAllDeveloperKeys(deps, ID);
      expect(await idsOf()).toEqual([]);
      for (const each of [...live, id]) {
        expect(await keysOf(store)).toContain(`developer-keys/${ID}/${each}/end.json`);
      }
    },
  );

  it('revokes every developer key when the newest lists are corrupt', async () => {
    const { deps, store, clock } = await signedIn();
    const request = { name: 'CI', scopes: [], expiresAt: new Date(clock.now() + DAY) };
    const { id } = await createDeveloperKey(deps, ID, request);
    const [list = ''] = (await keysOf(store, `developer-keys/${ID}/`)).filter(isKeyList);
    await store.delete(list);
    await store.create(list, Buffer.from('{'));
    await revokeAllDeveloperKeys(deps, ID);
    expect(await keysOf(store)).toContain(`developer-keys/${ID}/${id}/end.json`);
  });

  it('keeps the account documents that a session has not read, and those that were superseded a moment ago', async () => {
    const { deps, store, clock, sessions, token } = await signedIn();
    for (let change = 1; change <= 20; change++) await setTier(deps, ID, `tier-${change}`);
    clock.advance(2 * HOUR);
    expect(await cleanUpIdentity(deps)).toBe(0);
    const refreshed = await refreshWith(sessions, token);
    expect(refreshed.tier, 'the newest, not the next').toBe('tier-20');
    const next = refreshed.refreshToken;
    await cleanUpIdentity(deps);
    expect((await keysOf(store, 'accounts/')).length).toBeLessThanOrEqual(10);
    for (let change = 1; change <= 20; change++) await setTier(deps, ID, `again-${change}`);
    clock.advance(HOUR - MINUTE);
    await cleanUpIdentity(deps);
    const kept = await keysOf(store, 'accounts/');
    for (let number = 21; number <= 41; number++) {
      expect(kept).toContain(`accounts/${ID}/${number}.json`);
    }
    await lockAccount(deps, ID, null);
    clock.advance(2 * HOUR);
    await cleanUpIdentity(deps);
    await expectEnded(sessions, next);
  });

  it('does no damage when it fails at any step, and is completed by the next run', async () => {
    let isDone = false;
    let steps = 0;
    for (let call = 1; !isDone; call++) {
      const { deps, store, sessions, token, clock } = await signedIn(6);
      const eve = await beginSession(deps, sessions, 'eve@example.org');
      await sessions.end(eve.session.account, eve.session.session, 'signed_out');
      clock.advance(MINUTE);
      store.setPlan(failFrom(call, 'after'));
      isDone = await cleanUpIdentity(deps).then(
        () => true,
        () => false,
      );
      store.setPlan(undefined);
      await expectEnded(sessions, eve.token);
      await cleanUpIdentity(deps);
      expect(await keysOf(store, 'sessions/')).toHaveLength(4);
      await refreshWith(sessions, token);
      steps = call;
    }
    expect(steps).toBeGreaterThan(8);
  });

  it('does not touch objects that it does not know', async () => {
    const { deps, store } = await signedIn();
    const strange = [
      'sessions/readme.txt',
      'sessions/a/b/c/1.json',
      `sessions/${ID}/x/1.txt`,
      'accounts/readme.txt',
      'lockouts/readme.txt',
      'contact/1/1.json',
    ];
    for (const key of strange) await store.create(key, Buffer.from('x'));
    await cleanUpIdentity(deps);
    expect(await keysOf(store)).toEqual(expect.arrayContaining(strange));
  });
});

const isKeyList = (key: string): boolean => parseDeveloperKeyListKey(key) !== undefined;
const byNumber = (a: string, b: string): number =>
  (parseDeveloperKeyListKey(a)?.number ?? 0) - (parseDeveloperKeyListKey(b)?.number ?? 0);

/** Creates and revokes keys, one after the other. */
async function createDeveloperKeys(deps: AppendDeps, count: number): Promise<void> {
  const expiresAt = new Date(deps.clock.now() + DAY);
  const request = { name: 'CI', scopes: [], expiresAt };
  for (let made = 0; made < count; made++) {
    await revokeDeveloperKey(deps, ID, (await createDeveloperKey(deps, ID, request)).id);
  }
}

type Step =
  | { readonly what: 'advance'; readonly ms: number }
  | { readonly what: 'refresh'; readonly session: number; readonly age: number }
  | { readonly what: 'log in' | 'log out' | 'log out everywhere' | 'lock' | 'unlock' | 'tier' }
  | { readonly what: 'clean up' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('refresh' as const),
      session: fc.nat(2),
      // Mostly the current token, sometimes an old one.
      age: fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 1, 2, 4),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('advance' as const),
      ms: fc.constantFrom(1_000, 59_000, 10 * MINUTE, DAY, 9 * DAY, 29 * DAY, 31 * DAY, 40 * DAY),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ what: 'log in' } as const) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('log out', 'log out everywhere', 'lock', 'unlock', 'tier')
      .map((what) => ({ what }) as Step),
  },
  { weight: 4, arbitrary: fc.constant({ what: 'clean up' } as const) },
);

/** The answers to every client in the course of a history. */
async function live(history: readonly Step[], cleansUp: boolean): Promise<string[]> {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const deps = { store, clock, randomness: createSeededRandomness(1) };
  const sessions = createTestSessions(deps);
  await register(deps);
  const held: { id: string; tokens: string[] }[] = [];
  const answers: string[] = [];
  const note = async (answer: Promise<unknown>): Promise<void> => {
    answers.push(await answer.then(() => 'ok').catch(({ code }) => String(code)));
  };
  const logIn = async (): Promise<void> => {
    // A new process each time, because of the limit on tries a minute.
    const { refreshToken, session } = await signIn(signInDeps(deps), {
      email: EMAIL,
      password: PASSWORD,
      platform: 'linux',
      device: DEVICE,
    });
    held.push({ id: session, tokens: [refreshToken] });
  };
  const refresh = async (index: number, age: number): Promise<void> => {
    const one = held.at(-1 - index);
    const token = one?.tokens.at(-1 - age);
    if (one === undefined || token === undefined) return;
    const next = await refreshWith(sessions, token);
    if (!one.tokens.includes(next.refreshToken)) one.tokens.push(next.refreshToken);
  };
  await logIn();
  for (const one of history) {
    if (one.what === 'advance') clock.advance(one.ms);
    else if (one.what === 'refresh') await note(refresh(one.session, one.age));
    else if (one.what === 'log in') await note(logIn());
    else if (one.what === 'log out') await sessions.end(ID, held.at(-1)?.id ?? '', 'signed_out');
    else if (one.what === 'log out everywhere') {
      await signOutEverywhere(deps, ID, held.at(-1)?.id ?? '');
    } else if (one.what === 'lock') await lockAccount(deps, ID, null);
    else if (one.what === 'unlock') await unlockAccount(deps, ID);
    else if (one.what === 'tier') await setTier(deps, ID, `tier-${clock.now()}`);
    else if (cleansUp) await cleanUpIdentity(deps);
  }
  return answers;
}

describe('with or without cleaning up', () => {
  it('every client gets the same answers, after any history', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (history) => {
        const cleared = await live(history, true);
        expect(cleared).toEqual(await live(history, false));
        answered += cleared.filter((answer) => answer === 'ok').length;
      }),
      { numRuns: rounds(60, 150), seed: 20_261_121 },
    );
    console.log(`with and without cleaning up: the same answers, ${answered} × ok`);
    expect(answered).toBeGreaterThan(rounds(150, 500));
  });
});

describeDirectory('cleaning up a directory', (open) => {
  it('trims and deletes as in the memory store', async () => {
    const deps = setUp(open(), createFixedClock(Date.now()));
    const sessions = createTestSessions(deps);
    const { token, session } = await beginSession(deps, sessions);
    let current = token;
    for (let turn = 0; turn < 5; turn++) {
      current = (await refreshWith(sessions, current)).refreshToken;
    }
    const eve = await beginSession(deps, sessions, 'eve@example.org');
    await sessions.end(eve.session.account, eve.session.session, 'signed_out');
    expect(await cleanUpIdentity(deps)).toBe(4);
    expect(await keysOf(deps.store, `sessions/${session.account}/`)).toHaveLength(3);
    await refreshWith(sessions, current);
    deps.clock.advance(SESSION_IDLE_MS + 2 * DAY);
    await cleanUpIdentity(deps);
    expect((await keysOf(deps.store, 'sessions/')).map((key) => key.split('/').at(-1))).toEqual([
      'end.json',
      'end.json',
    ]);
  });
});
