import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import type { ObjectStore } from '../../../../src/store/object-store.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore } from '../../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  ask,
  BILLING,
  KEYS,
  logIn,
  PASSWORD,
  type Person,
  PORTAL,
  refresh,
  register,
  SESSIONS,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const KEY = { name: 'CI', scopes: [{ application: 'desktop', access: 'publish' }] };

describe('deleting an account', () => {
  const clock = createHastyClock();
  const inner = createMemoryStore({ clock: systemClock });
  const store = createFaultyStore(inner);
  let service: TestService;
  let person: Person;
  let other: Person;
  let key: string;

  beforeAll(async () => {
    const env = { ...UNLIMITED, TIERS: '{"free":["developer_keys","analytics"]}' };
    const portal = { BILLING_PORTAL_URL: 'https://billing.example.com' };
    service = await createTestService({ env: { ...env, ...portal }, store, clock });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    person = await signIn(service);
    other = await signIn(service, { email: person.email, deviceId: 'device-2' });
    key = (await ask(service, 'POST', KEYS, { bearer: person.access, body: KEY })).body.key;
    await ask(service, 'PATCH', ACCOUNT, { bearer: person.access, body: { name: 'Ada' } });
  });

  const erase = () =>
    ask(service, 'DELETE', ACCOUNT, { bearer: person.access, body: { password: PASSWORD } });
  const asMe = (method: string, url: string, body?: unknown) =>
    ask(service, method, url, { bearer: person.access, body });

  it('leaves no personal data in the store', async () => {
    expect(await erase()).toMatchObject({ status: 204, text: '' });
    const left: string[] = [];
    for await (const { key: stored } of inner.list('')) {
      if (!stored.includes(person.id)) continue;
      const content = Buffer.from((await inner.get(stored, { bytesMax: 99_999 }))?.body ?? '');
      left.push(stored);
      expect(content.toString()).not.toMatch(/example\.com|Ada|laptop|argon2|device/);
    }
    expect(
      left.every((name) => name.endsWith('/end.json')),
      left.join(),
    ).toBe(true);
  });

  it('requires the password, and counts wrong ones as sign-in does', async () => {
    const without = await asMe('DELETE', ACCOUNT, {});
    expect(without).toMatchObject({ status: 400, body: { errors: [{ pointer: '/password' }] } });
    const codes = [];
    for (let guess = 0; guess < 5; guess++) {
      codes.push((await asMe('DELETE', ACCOUNT, { password: `guess ${guess}` })).body.code);
    }
    // The person signed in twice within this minute: that leaves three of five tries.
    expect(codes).toEqual([
      ...Array(3).fill('invalid_credentials'),
      ...Array(2).fill('too_many_requests'),
    ]);
    expect((await asMe('GET', ACCOUNT)).body.name).toBe('Ada');
  });

  it('an access token that has not expired gives no access to it', async () => {
    await erase();
    for (const [method, url, body] of [
      ['GET', ACCOUNT],
      ['PATCH', ACCOUNT, { name: 'Back' }],
      ['DELETE', SESSIONS],
      ['POST', KEYS, KEY],
      ['GET', BILLING],
      ['POST', PORTAL],
    ] as const) {
      const answer = await asMe(method, url, body);
      expect([answer.status, answer.body?.code], `${method} ${url}`).toEqual([
        401,
        'not_signed_in',
      ]);
    }
    expect((await asMe('GET', SESSIONS)).text).not.toContain('laptop');
    expect((await ask(service, 'GET', ANALYTICS, { bearer: key })).status).toBe(401);
    // Deleting again is how one that failed half way is finished.
    expect((await erase()).status).toBe(204);
  });

  it('no session of it can be refreshed, and sign-in fails', async () => {
    await erase();
    for (const session of [person, other]) {
      const answer = await refresh(service, session, session.refresh);
      expect(answer).toMatchObject({ status: 401, body: { code: 'session_ended' } });
    }
    const answer = await logIn(service, { email: person.email });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });

  it('registering within the hour does not restore it; afterwards it creates a new account', async () => {
    await erase();
    await register(service, person.email);
    expect((await logIn(service, { email: person.email })).status).toBe(401);
    expect((await asMe('GET', ACCOUNT)).status).toBe(401);
    expect((await refresh(service, person, person.refresh)).status).toBe(401);
    await forgetEnd(inner, person.id);
    await register(service, person.email);
    const again = await signIn(service, { email: person.email });
    const { body } = await ask(service, 'GET', ACCOUNT, { bearer: again.access });
    expect(body.name).toBeNull();
    // A new account with the same address must not get the data of the erased one.
    for (const session of [person, other]) {
      expect((await refresh(service, session, session.refresh)).status).toBe(401);
    }
    const keys = await ask(service, 'GET', KEYS, { bearer: again.access });
    expect(keys.body.keys).toEqual([]);
    expect((await ask(service, 'GET', ANALYTICS, { bearer: key })).status).toBe(401);
  });

  it('a key created during the deletion does not outlive it', async () => {
    let made: Promise<unknown> = Promise.resolve();
    let isFirst = true;
    store.setPlan(({ method, key: written }) => {
      // The key is on its way when the account ends.
      if (!isFirst || method !== 'create' || !written.startsWith('developer-keys/'))
        return undefined;
      isFirst = false;
      return erase().then(() => undefined);
    });
    made = asMe('POST', KEYS, KEY);
    const answer = (await made) as Awaited<ReturnType<typeof asMe>>;
    store.setPlan(undefined);
    expect(answer.status).toBe(401);
    await forgetEnd(inner, person.id);
    await register(service, person.email);
    const again = await signIn(service, { email: person.email });
    expect((await ask(service, 'GET', KEYS, { bearer: again.access })).body.keys).toEqual([]);
  });

  it('a failing store is 503, and a second try completes the deletion', async () => {
    store.setPlan(({ method, key: removed }) =>
      method === 'delete' && removed.startsWith('accounts/') ? { when: 'before' } : undefined,
    );
    const failed = await erase();
    store.setPlan(undefined);
    expect(failed).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect((await logIn(service, { email: person.email })).status).toBe(401);
    expect((await erase()).status).toBe(204);
    expect((await refresh(service, other, other.refresh)).status).toBe(401);
  });
});

/** As after an hour, when the marker of the end has been cleared away. */
async function forgetEnd(store: ObjectStore, account: string): Promise<void> {
  await store.delete(`accounts/${account}/end.json`);
}
