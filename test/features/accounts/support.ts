import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Log } from '../../../src/core/log.ts';
import { Secret } from '../../../src/core/secret.ts';
import {
  accountIdOf,
  createAccount,
  readAccount,
} from '../../../src/features/accounts/accounts/account.ts';
import type { Account } from '../../../src/features/accounts/accounts/account-document.ts';
import { createLockout } from '../../../src/features/accounts/passwords/lockout.ts';
import type { PasswordHasher } from '../../../src/features/accounts/passwords/password-hasher.ts';
import { createEmbeddedProvider } from '../../../src/features/accounts/providers/embedded.ts';
import type { Device } from '../../../src/features/accounts/sessions/begin-session.ts';
import type { OpenSession } from '../../../src/features/accounts/sessions/open-session.ts';
import { createRefreshTokens } from '../../../src/features/accounts/sessions/refresh-token.ts';
import { createSessions, type Sessions } from '../../../src/features/accounts/sessions/sessions.ts';
import type { SignInDeps } from '../../../src/features/accounts/sign-in.ts';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import type { AppendDeps } from '../../../src/store/sequence/append.ts';
import { createUrlSigner } from '../../../src/store/signed-url.ts';
import { createFixedClock, createSeededRandomness, type FixedClock } from '../../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const EMAIL = 'ada@example.org';
export const PASSWORD = 'correct horse battery';
export const DEVICE: Device = { id: 'device-1', name: 'laptop', osVersion: null, appVersion: null };
export const SECRET = new Secret('s'.repeat(32));

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Does not hash: `password-hasher.test.ts` tests the real one. */
export const fastPasswords: PasswordHasher = {
  hash: async (password) => `fast:${password}`,
  verify: async (hash, password) => hash === `fast:${password}`,
};

export interface Parts extends AppendDeps {
  readonly store: FaultyStore;
  readonly clock: FixedClock;
}

let seeds = 1;

/** The parts of one process. @param inner the store; default: a new memory store */
export function setUp(inner?: ObjectStore, clock = createFixedClock()): Parts {
  const store = createFaultyStore(inner ?? createMemoryStore({ clock }));
  // A seed for each process: equal seeds would make equal ids.
  return { store, clock, randomness: createSeededRandomness(seeds++) };
}

export function createTestSessions(deps: AppendDeps, secret = SECRET): Sessions {
  return createSessions({ ...deps, log: silentLog, tokens: createRefreshTokens(secret) });
}

export async function register(deps: AppendDeps, email = EMAIL): Promise<Account> {
  await createAccount(deps, {
    provider: 'embedded',
    subject: email,
    email,
    emailVerified: false,
    name: null,
    providerTier: null,
    password: await fastPasswords.hash(PASSWORD),
  });
  const account = await readAccount(deps.store, accountIdOf('embedded', email));
  if (account === undefined) throw new Error('The account was not created.');
  return account;
}

/** Creates an account and a session of a desktop client. */
export async function beginSession(deps: AppendDeps, sessions: Sessions, email?: string) {
  const account = await register(deps, email);
  const session = await sessions.begin(account, 'linux', DEVICE);
  return { account, session, token: session.refreshToken };
}

/** A process with an account and a session that has just begun. */
export async function setUpSession() {
  const deps = setUp();
  const sessions = createTestSessions(deps);
  return { ...deps, deps, sessions, ...(await beginSession(deps, sessions)) };
}

export function refreshWith(sessions: Sessions, token: string): Promise<OpenSession> {
  return sessions.refresh({ token, platform: 'linux', deviceId: DEVICE.id });
}

export async function expectEnded(sessions: Sessions, token: string, why?: string): Promise<void> {
  await expect(refreshWith(sessions, token), why).rejects.toMatchObject({ code: 'session_ended' });
}

/** The dependencies of `signIn`, with the embedded provider. */
export function signInDeps(deps: AppendDeps): SignInDeps {
  return {
    ...deps,
    provider: createEmbeddedProvider({ ...deps, passwords: fastPasswords }),
    lockout: createLockout(deps),
    sessions: createTestSessions(deps),
  };
}

export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

/** Every key and object of a store, as one text. */
export async function dump(store: ObjectStore): Promise<string> {
  const parts: string[] = [];
  for (const key of await keysOf(store)) {
    const object = await store.get(key);
    parts.push(key, Buffer.from(object?.body ?? []).toString());
  }
  return parts.join('\n');
}

export function describeDirectory(name: string, define: (open: () => ObjectStore) => void): void {
  describe(name, () => {
    const { sign: signUrl } = createUrlSigner({
      secret: 's'.repeat(32),
      baseUrl: () => 'http://h',
    });
    const stores: ObjectStore[] = [];
    let remove: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      const directory = await makeTemporaryDirectory();
      remove = directory.remove;
      for (let index = 0; index < 12; index++) {
        const path = join(directory.path, String(index));
        stores.push(await openFilesystemStore({ directory: path, signUrl }));
      }
    });
    afterAll(() => remove?.());
    define(() => {
      const store = stores.pop();
      if (store === undefined) throw new Error('Open more directories for this suite.');
      return store;
    });
  });
}
