import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { readAccount } from '../../../../src/features/accounts/accounts/account.ts';
import { setPassword } from '../../../../src/features/accounts/change-password.ts';
import { listDeveloperKeys } from '../../../../src/features/accounts/developer-keys/developer-keys.ts';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { createPasswordHasher } from '../../../../src/features/accounts/passwords/password-hasher.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore } from '../../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  ask,
  KEYS,
  logOut,
  PASSWORD,
  type Person,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
} from './account-support.ts';

/** Access tokens outlive their session by up to ten minutes, and can change nothing in that time. */

const KEY = { name: 'CI', scopes: [{ application: 'desktop', access: 'publish' }] };
const BODIES: Readonly<Record<string, object>> = {
  [`PATCH ${ACCOUNT}`]: { name: 'Eve' },
  [`DELETE ${ACCOUNT}`]: { password: PASSWORD },
  [`POST ${ACCOUNT}/password`]: { password: PASSWORD, new_password: 'battery staple horse' },
  [`POST ${KEYS}`]: { ...KEY, expires_in_days: 365 },
};
const cheap = createPasswordHasher({ cost: { memoryCost: 8, timeCost: 1 } });

describe('with the access token of an ended session', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  const clock = createHastyClock();
  let service: TestService;
  let changes: string[];
  let person: Person;
  /** A key and another device, which changes name. */
  let named: { readonly key: string; readonly session: string };

  beforeAll(async () => {
    const env = {
      ...UNLIMITED,
      TIERS: '{"free":["developer_keys"]}',
      BILLING_PORTAL_URL: 'https://billing.example.com',
    };
    service = await createTestService({ store, clock, env });
    const { access } = await signIn(service);
    const { body } = await ask(service, 'GET', SIGNED_IN_DOCUMENT, { bearer: access });
    changes = Object.entries<Record<string, unknown>>(body.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((method) => method !== 'get')
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    person = await signIn(service);
    const made = await ask(service, 'POST', KEYS, { bearer: person.access, body: KEY });
    named = { key: made.body.id, session: 'any' };
  });

  const send = (change: string) => {
    const [method = '', path = ''] = change.split(' ');
    const url = path.replace('{key}', named.key).replace('{session}', named.session);
    const body = BODIES[change];
    return ask(service, method, url, { bearer: person.access, ...(body ? { body } : {}) });
  };

  /** A session that begins after the end of the person's: the one that must not be touched. */
  const another = async (password = PASSWORD) => {
    clock.advance(1);
    const session = await signIn(service, { email: person.email, deviceId: 'device-2', password });
    const { body } = await ask(service, 'GET', SESSIONS, { bearer: session.access });
    const own = body.sessions.find(({ current }: { current: boolean }) => current);
    named = { ...named, session: own.id };
    return session;
  };

  const deps = () => ({ store, clock, randomness: service.randomness, passwords: cheap });
  const endings: readonly (readonly [string, () => Promise<unknown>, string | null])[] = [
    ['signed out', () => logOut(service, { bearer: person.access }), PASSWORD],
    [
      'signed out everywhere',
      () => logOut(service, { scope: 'global', bearer: person.access }),
      PASSWORD,
    ],
    [
      'given a new password by an admin',
      () => setPassword(deps(), person.id, 'a new battery staple'),
      'a new battery staple',
    ],
    ['locked', () => lockAccount(deps(), person.id, null), null],
  ];

  it.each(endings)('%s: every change is refused, and changes nothing', async (_, end, password) => {
    clock.advance(1);
    await end();
    if (password !== null) await another(password);
    expect(changes.length).toBeGreaterThanOrEqual(7);
    for (const change of changes) {
      const before = await snapshot();
      const answer = await send(change);
      expect([answer.status, answer.body?.code], change).toEqual([401, 'not_signed_in']);
      expect(await snapshot(), change).toEqual(before);
    }
  });

  it('an erased account is not restored, and a second erasure completes the first', async () => {
    await eraseAccount(deps(), person.id);
    for (const change of changes.filter((name) => name !== `DELETE ${ACCOUNT}`)) {
      expect((await send(change)).status, change).toBe(401);
    }
    expect((await send(`DELETE ${ACCOUNT}`)).status).toBe(204);
  });

  /** The writes of each change, the first ones and the later ones: the check must hold for all of them. */
  const steps: readonly (readonly [string, RegExp])[] = [
    [`PATCH ${ACCOUNT}`, /^accounts\/[^/]+\/\d/],
    [`DELETE ${ACCOUNT}`, /^accounts\/[^/]+\/\d/],
    [`POST ${ACCOUNT}/password`, /^accounts\/[^/]+\/\d/],
    [`DELETE ${SESSIONS}`, /^accounts\/[^/]+\/\d/],
    [`POST ${KEYS}`, /^developer-keys\/[^/]+\/[^/]+\/1\.json/],
    [`POST ${KEYS}`, /^developer-keys\/[^/]+\/\d+\.json/],
  ];

  it.each(endings.slice(1))(
    '%s between the check and the change: it is refused',
    async (_, end) => {
      for (const [change, step] of steps) {
        person = await signIn(service);
        clock.advance(1);
        let isBefore = true;
        store.setPlan(async ({ method, key }) => {
          if (!isBefore || method !== 'create' || !step.test(key)) return undefined;
          isBefore = false;
          // What another process does after this one has looked.
          await end();
          return undefined;
        });
        const answer = await send(change);
        store.setPlan(undefined);
        expect(isBefore, change).toBe(false);
        expect([answer.status, answer.body?.code], change).toEqual([401, 'not_signed_in']);
        const account = await readAccount(store, person.id);
        expect(account?.name, change).toBeNull();
        expect(account?.sessionsEnded?.except, change).toBeNull();
        expect(await listDeveloperKeys(store, person.id), change).toEqual([]);
      }
    },
  );

  it('a new password ends the developer keys that were made before', async () => {
    const env = { TIERS: '{"free":["developer_keys","analytics"]}' };
    const keyed = await createTestService({ store, clock, env });
    const body = { ...KEY, scopes: [{ application: 'desktop', access: 'read' }] };
    const made = await ask(service, 'POST', KEYS, { bearer: person.access, body });
    const use = () => ask(keyed, 'GET', `${ANALYTICS}?app=desktop`, { bearer: made.body.key });
    // The key is good: there is no such application.
    expect((await use()).status).toBe(404);
    await setPassword(deps(), person.id, 'a new battery staple');
    clock.advance(31_000);
    expect((await use()).status).toBe(401);
    expect(await listDeveloperKeys(store, person.id)).toEqual([]);
    await keyed.close();
  });

  async function snapshot() {
    const objects: string[] = [];
    for await (const { key, etag } of store.list('')) {
      if (!key.startsWith('lockouts/')) objects.push(`${key} ${etag}`);
    }
    return objects;
  }
});
