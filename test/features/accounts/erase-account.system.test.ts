import { describe, expect, it } from 'vitest';
import { accountIdOf, readAccount } from '../../../src/features/accounts/accounts/account.ts';
import { setName } from '../../../src/features/accounts/accounts/change-account.ts';
import { cleanUpIdentity } from '../../../src/features/accounts/clean-up.ts';
import { createDeveloperKeyVerifier } from '../../../src/features/accounts/developer-keys/developer-key-verifier.ts';
import { createDeveloperKey } from '../../../src/features/accounts/developer-keys/developer-keys.ts';
import { eraseAccount } from '../../../src/features/accounts/erase-account.ts';
import { createEmbeddedProvider } from '../../../src/features/accounts/providers/embedded.ts';
import { SESSION_LIFE_MS } from '../../../src/features/accounts/sessions/session-lifetimes.ts';
import { signIn } from '../../../src/features/accounts/sign-in.ts';
import { type Fault, failFrom } from '../../support/faulty-store.ts';
import {
  createTestSessions,
  DAY,
  DEVICE,
  dump,
  EMAIL,
  expectEnded,
  fastPasswords,
  keysOf,
  MINUTE,
  PASSWORD,
  type Parts,
  refreshWith,
  register,
  setUp,
  signInDeps,
  silentLog,
} from './support.ts';

const ID = accountIdOf('embedded', EMAIL);
const NAME = 'Ada Lovelace';
const SCOPES = [{ application: 'desktop', access: 'read' as const }];
const HOUR = 60 * MINUTE;

function login(deps: Parts, password = PASSWORD) {
  const request = { email: EMAIL, password, platform: 'linux', device: DEVICE } as const;
  return signIn(signInDeps(deps), request);
}

/** An account with changes, open and ended sessions, and used and unused developer keys. */
async function setUpHistory(deps: Parts = setUp()) {
  const sessions = createTestSessions(deps);
  await register(deps);
  await setName(deps, ID, NAME);
  const one = await login(deps);
  const two = await login(deps);
  const three = await login(deps);
  const next = await refreshWith(sessions, two.refreshToken);
  await sessions.end(ID, three.session, 'signed_out');
  const verifier = createDeveloperKeyVerifier({ ...deps, log: silentLog });
  const expiresAt = new Date(deps.clock.now() + 90 * DAY);
  const keys = [];
  for (const name of ['CI', 'laptop']) {
    keys.push((await createDeveloperKey(deps, ID, { name, scopes: SCOPES, expiresAt })).key);
  }
  await verifier.verify(keys[0] ?? '');
  await expect.poll(async () => (await keysOf(deps.store)).join()).toContain('/used/');
  const eve = await register(deps, 'eve@example.org');
  const eves = await sessions.begin(eve, 'linux', DEVICE);
  const tokens = [one, two, next, three].map(({ refreshToken }) => refreshToken);
  return { deps, ...deps, sessions, tokens, keys, eves: eves.refreshToken };
}

type History = Awaited<ReturnType<typeof setUpHistory>>;

async function expectErased({ deps, store, sessions, tokens, keys, eves }: History) {
  for (const root of ['accounts', 'sessions', 'developer-keys']) {
    const left = await keysOf(store, `${root}/${ID}/`);
    expect(left.filter((key) => !key.endsWith('/end.json'))).toEqual([]);
    expect(left.length, `the markers below ${root}/ are kept`).toBeGreaterThan(0);
  }
  const stored = await dump(store);
  for (const trace of [EMAIL, NAME]) expect(stored.includes(trace), trace).toBe(false);
  expect(stored).toContain('eve@example.org');
  for (const token of tokens) await expectEnded(sessions, token);
  const verifier = createDeveloperKeyVerifier({ ...deps, log: silentLog });
  for (const key of keys) {
    await expect(verifier.verify(key)).rejects.toMatchObject({ code: 'not_signed_in' });
  }
  expect(await readAccount(store, ID)).toBeUndefined();
  await expect(login(deps)).rejects.toMatchObject({ code: 'invalid_credentials' });
  await refreshWith(sessions, eves);
}

describe('an erased account', () => {
  it('leaves only end markers, and no byte that names its owner', async () => {
    const one = await setUpHistory(setUp());
    expect(await dump(one.store)).toContain(EMAIL);
    await eraseAccount(one.deps, ID);
    await expectErased(one);
  });
});

describe('an erasure', () => {
  it.each<Fault['when']>(['before', 'after'])(
    'that fails at any step (%s it took effect) is completed by running it again',
    async (when) => {
      let isDone = false;
      let failed = 0;
      for (let call = 1; !isDone; call++) {
        const one = await setUpHistory();
        one.store.setPlan(failFrom(call, when));
        isDone = await eraseAccount(one.deps, ID).then(
          () => true,
          ({ kind }) => {
            expect(kind).toBe('unavailable');
            return false;
          },
        );
        one.store.setPlan(undefined);
        if (isDone) continue;
        failed += 1;
        await eraseAccount(one.deps, ID);
        await expectErased(one);
      }
      console.log(`erasures cut short ${when} an effect: ${failed}, all completed`);
      expect(failed).toBeGreaterThan(15);
    },
  );

  it('that failed half way and was not run again is completed by cleaning up', async () => {
    let isDone = false;
    let begun = 0;
    for (let call = 1; !isDone; call++) {
      const one = await setUpHistory();
      one.store.setPlan(failFrom(call, 'before'));
      isDone = await eraseAccount(one.deps, ID).then(
        () => true,
        () => false,
      );
      one.store.setPlan(undefined);
      // Without the end marker, the account is unchanged.
      if (!(await keysOf(one.store)).includes(`accounts/${ID}/end.json`)) continue;
      begun += 1;
      await cleanUpIdentity(one.deps);
      await expectErased(one);
    }
    expect(begun).toBeGreaterThan(15);
  });

  it('leaves no end marker once the time of the markers is over', async () => {
    const one = await setUpHistory();
    await eraseAccount(one.deps, ID);
    one.clock.advance(HOUR + MINUTE);
    await cleanUpIdentity(one.deps);
    const left = (await keysOf(one.store)).filter((key) => key.includes(ID));
    expect(left.map((key) => key.split('/')[0])).toEqual(['sessions', 'sessions', 'sessions']);
    one.clock.advance(SESSION_LIFE_MS + 2 * DAY);
    await cleanUpIdentity(one.deps);
    expect((await keysOf(one.store)).filter((key) => key.includes(ID))).toEqual([]);
  });

  it('lets the address register again after an hour, as a new account', async () => {
    const one = await setUpHistory();
    const provider = createEmbeddedProvider({ ...one.deps, passwords: fastPasswords });
    const anew = { email: EMAIL, password: 'another password', name: null };
    await eraseAccount(one.deps, ID);
    await provider.register(anew);
    await expect(login(one.deps, anew.password)).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    one.clock.advance(HOUR + MINUTE);
    await cleanUpIdentity(one.deps);
    await provider.register(anew);
    const session = await login(one.deps, anew.password);
    await cleanUpIdentity(one.deps);
    await refreshWith(one.sessions, session.refreshToken);
    for (const token of one.tokens) await expectEnded(one.sessions, token);
    const verifier = createDeveloperKeyVerifier({ ...one.deps, log: silentLog });
    for (const key of one.keys) {
      await expect(verifier.verify(key)).rejects.toMatchObject({ code: 'not_signed_in' });
    }
    await expect(login(one.deps)).rejects.toMatchObject({ code: 'invalid_credentials' });
  });

  it('is not undone by a registration, a change or a refresh that arrives late', async () => {
    const one = await setUpHistory();
    // Each of them has read, and writes after the erasure.
    const late: (() => Promise<unknown>)[] = [
      () => register(one.deps),
      () => setName(one.deps, ID, `${NAME} again`),
      () => refreshWith(one.sessions, one.tokens[0] ?? ''),
      () => login(one.deps),
    ];
    for (const write of late) {
      let erased: Promise<void> | undefined;
      one.store.setPlan(async ({ method, key }) => {
        if (method !== 'create' || erased !== undefined || key.endsWith('end.json')) return;
        erased = Promise.resolve();
        one.store.setPlan(undefined);
        await eraseAccount(one.deps, ID);
        return undefined;
      });
      await write().catch(() => {});
      one.store.setPlan(undefined);
    }
    await cleanUpIdentity(one.deps);
    await expectErased(one);
  });
});
