import { expect } from 'vitest';
import { setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { setPassword } from '../../../../src/features/accounts/change-password.ts';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import {
  endOneSession,
  signOutEverywhere,
} from '../../../../src/features/accounts/sessions/end-session.ts';
import type { OpenSession } from '../../../../src/features/accounts/sessions/open-session.ts';
import { signIn } from '../../../../src/features/accounts/sign-in.ts';
import type { AppendDeps } from '../../../../src/store/sequence/append.ts';
import type { StoreCall } from '../../../support/faulty-store.ts';
import {
  beginSession,
  createTestSessions,
  DEVICE,
  EMAIL,
  expectEnded,
  fastPasswords,
  PASSWORD,
  refreshWith,
  register,
  setUp,
  signInDeps,
} from '../support.ts';
import type { Turns } from './turns.ts';

/** Once ending a session has succeeded, no token of it can be refreshed, whatever ran concurrently. */

export type Ending = (deps: AppendDeps, account: string, session: string) => Promise<unknown>;

export const ENDINGS: readonly (readonly [string, Ending])[] = [
  ['a sign-out', (deps, ...of) => createTestSessions(deps).end(...of, 'signed_out')],
  ['a sign-out by its owner in another session', endOneSession],
  ['a sign-out everywhere', signOutEverywhere],
  ['a lock', (deps, account) => lockAccount(deps, account, null)],
  [
    'a new password',
    (deps, account) =>
      setPassword({ ...deps, passwords: fastPasswords }, account, 'another password'),
  ],
];

export const locksAfterChange: Ending = async (deps, account) => {
  await setTier(deps, account, 'pro');
  await lockAccount(deps, account, null);
};

/** The process that ends sessions reads nothing that the other process writes, except in listings. */
const isEffect = ({ method }: StoreCall): boolean => ['create', 'delete', 'list'].includes(method);

/** For a sign-in, which makes many more requests. Deletions are left out: they come after the end marker. */
const isStep = ({ method }: StoreCall): boolean => ['create', 'list'].includes(method);

export async function raceRefresh(turns: Turns, name: string, end: Ending): Promise<void> {
  const deps = setUp();
  const { account, session, token } = await beginSession(deps, createTestSessions(deps));
  deps.clock.advance(1);
  const refreshing = createTestSessions({ ...deps, store: turns.process(deps.store) });
  const ending = { ...setUp(deps.store, deps.clock), store: turns.process(deps.store, isEffect) };
  const refreshed = refreshWith(refreshing, token).catch(() => undefined);
  const ended = end(ending, account.id, session.session);
  await turns.play([refreshed, ended]);
  await ended;
  const sessions = createTestSessions(deps);
  const after = await refreshed;
  if (after !== undefined) await expectEnded(sessions, after.refreshToken, name);
  await expectEnded(sessions, token, name);
}

export async function raceSignIn(turns: Turns, name: string, end: Ending): Promise<boolean> {
  const deps = setUp();
  const account = await register(deps);
  deps.clock.advance(1);
  const own = { ...setUp(deps.store, deps.clock), store: turns.process(deps.store) };
  const signingIn = signIn(signInDeps(own), {
    email: EMAIL,
    password: PASSWORD,
    platform: 'linux',
    device: DEVICE,
  }).catch((error: unknown) => {
    expect(error, name).toMatchObject({ kind: expect.stringMatching(/unauthenticated|forbidden/) });
    return undefined;
  });
  // After the sign-in began.
  deps.clock.advance(1);
  const ending = { ...setUp(deps.store, deps.clock), store: turns.process(deps.store, isStep) };
  // By another session.
  const ended = end(ending, account.id, ending.randomness.id());
  await turns.play([signingIn, ended]);
  await ended;
  const session: OpenSession | undefined = await signingIn;
  if (session !== undefined) {
    await expectEnded(createTestSessions(deps), session.refreshToken, name);
  }
  return session !== undefined;
}
