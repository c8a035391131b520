import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { accountIdOf } from '../../../../src/features/accounts/accounts/account.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore } from '../../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  ask,
  KEYS,
  logIn,
  PASSWORD,
  type Person,
  refresh,
  SESSIONS,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const NEW = 'battery horse staple correct';
const KEY = { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] };

describe('changing the password', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  const clock = createHastyClock();
  let service: TestService;
  let person: Person;
  let other: Person;

  beforeAll(async () => {
    const env = { ...UNLIMITED, TIERS: '{"free":["developer_keys","analytics"]}' };
    service = await createTestService({ env, store, clock });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    person = await signIn(service);
    other = await signIn(service, { email: person.email, deviceId: 'device-2' });
    clock.advance(61_000);
  });

  const change = (body: object = {}, bearer = person.access) =>
    ask(service, 'POST', `${ACCOUNT}/password`, {
      bearer,
      body: { password: PASSWORD, new_password: NEW, ...body },
    });
  const signInWith = async (password: string) =>
    (await logIn(service, { email: person.email, password })).status;

  it('ends every other session and every developer key, and keeps the current session', async () => {
    const made = await ask(service, 'POST', KEYS, { bearer: person.access, body: KEY });
    expect(await change()).toMatchObject({ status: 204, text: '' });
    expect(await signInWith(PASSWORD)).toBe(401);
    expect(await signInWith(NEW)).toBe(200);
    expect((await refresh(service, other, other.refresh)).status).toBe(401);
    let token: string = person.refresh;
    for (let turn = 0; turn < 3; turn++) {
      const answer = await refresh(service, person, token);
      expect(answer.status).toBe(200);
      token = answer.body.refresh_token;
    }
    const renamed = { bearer: person.access, body: { name: 'Ada' } };
    expect((await ask(service, 'PATCH', ACCOUNT, renamed)).status).toBe(200);
    expect((await ask(service, 'GET', KEYS, { bearer: person.access })).body.keys).toEqual([]);
    expect((await ask(service, 'GET', ANALYTICS, { bearer: made.body.key })).status).toBe(401);
    // What is signed out everywhere later ends it, too.
    await ask(service, 'DELETE', SESSIONS, { bearer: person.access });
    expect((await refresh(service, person, token)).status).toBe(401);
  });

  it('ends them even when the store fails after the change', async () => {
    const made = await ask(service, 'POST', KEYS, { bearer: person.access, body: KEY });
    clock.advance(1);
    store.setPlan(({ method }) => (method === 'list' ? { when: 'before' } : undefined));
    expect((await change()).status).toBe(503);
    store.setPlan(undefined);
    expect((await refresh(service, other, other.refresh)).status).toBe(401);
    expect((await refresh(service, person, person.refresh)).status).toBe(200);
    clock.advance(31_000);
    expect((await ask(service, 'GET', ANALYTICS, { bearer: made.body.key })).status).toBe(401);
    expect(await signInWith(NEW)).toBe(200);
  });

  it('requires the current one, and counts wrong ones as sign-in does', async () => {
    const codes = [];
    for (let guess = 0; guess < 7; guess++) {
      codes.push((await change({ password: `guess ${guess}` })).body.code);
    }
    expect(new Set(codes)).toEqual(new Set(['invalid_credentials', 'too_many_requests']));
    expect(codes.filter((code) => code === 'invalid_credentials').length).toBeLessThanOrEqual(5);
    expect(codes.at(-1)).toBe('too_many_requests');
    expect((await refresh(service, other, other.refresh)).status).toBe(200);
  });

  it('counts towards the lockout of sign-in, and is refused during one', async () => {
    const { lockout } = service.app.identity ?? {};
    const guarded = accountIdOf('embedded', person.email);
    for (let n = 0; n < 19; n++) await lockout?.noteFailure(guarded);
    expect((await change({ password: 'the twentieth' })).body.code).toBe('invalid_credentials');
    expect((await change()).body.code).toBe('too_many_requests');
    expect(await signInWith(PASSWORD)).toBe(429);
  });

  it('reports a weak new password before it checks the current one', async () => {
    for (const weak of ['short', 'password123', person.email]) {
      const answer = await change({ new_password: weak, password: 'wrong' });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'weak_password', errors: [{ pointer: '/new_password' }] },
      });
    }
    expect(await signInWith(PASSWORD)).toBe(200);
  });

  it('succeeds once when two changes are sent at the same time', async () => {
    const answers = await Promise.all([
      change({ new_password: 'the first new password' }),
      change({ new_password: 'the second new password' }, other.access),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401]);
    const won = answers[0]?.status === 204 ? 'the first new password' : 'the second new password';
    expect(await signInWith(won)).toBe(200);
  });
});
