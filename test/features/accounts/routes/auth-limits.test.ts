import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { accountIdOf } from '../../../../src/features/accounts/accounts/account.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { CHECK_UPDATE, LATEST_VERSION } from '../../../server/support.ts';
import { createHastyClock } from '../../../support/clock.ts';
import {
  createTestService,
  type TestService,
  type TestServiceOptions,
} from '../../../support/service.ts';
import {
  ACCOUNT,
  type Answer,
  type Asked,
  AUTH,
  ask,
  logIn,
  newEmail,
  PASSWORD,
  refresh,
  register,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const opened: TestService[] = [];
async function open(options: TestServiceOptions): Promise<TestService> {
  const service = await createTestService(options);
  opened.push(service);
  return service;
}
afterEach(() => Promise.all(opened.splice(0).map((service) => service.close())));

function expectTooMany(answer: Answer, secondsMax = 60): void {
  expect(answer).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  const seconds = Number(answer.headers['retry-after']);
  expect(Number.isInteger(seconds) && seconds > 0 && seconds <= secondsMax, String(seconds)).toBe(
    true,
  );
}

/** Asks for a mail: what costs a try and nothing else. Without mail it is 501. */
const tryOnce = (service: TestService, asked: Asked = {}) =>
  ask(service, 'POST', `${AUTH}/request-reset`, { body: { email: newEmail() }, ...asked });

describe('tries from one address', () => {
  it('are counted over all routes that try passwords and mail addresses', async () => {
    const service = await open({ env: { AUTH_PER_ADDRESS: '6' } });
    const body = { email: newEmail(), password: PASSWORD };
    const device = { id: 'd', name: 'n' };
    const paths = ['register', 'login', 'request-reset', 'resend-verification'];
    const send = (path: string) =>
      ask(service, 'POST', `${AUTH}/${path}`, { body: { ...body, platform: 'linux', device } });
    for (const path of [...paths, 'login', 'request-reset']) {
      expect((await send(path)).status, path).not.toBe(429);
    }
    for (const path of paths) expectTooMany(await send(path));
  });

  it('are limited to twenty by default', async () => {
    const service = await open({});
    for (let n = 0; n < 20; n++) expect((await tryOnce(service)).status).toBe(501);
    expectTooMany(await tryOnce(service));
    // Other routes are not limited by it, above all not updates.
    for (const url of ['/livez', LATEST_VERSION, '/api/v1/system/status']) {
      expect((await ask(service, 'GET', url)).status).not.toBe(429);
    }
    expect(
      (await ask(service, 'POST', `${AUTH}/logout`, { body: { scope: 'local' } })).status,
    ).toBe(204);
  });

  it('are counted per address: another address, and another /64, has its own limit', async () => {
    const service = await open({ env: { AUTH_PER_ADDRESS: '2' } });
    const spend = async (address: string) => {
      for (let n = 0; n < 2; n++) await tryOnce(service, { address });
      return tryOnce(service, { address });
    };
    expectTooMany(await spend('198.51.100.7'));
    expect((await tryOnce(service, { address: '198.51.100.8' })).status).toBe(501);
    expectTooMany(await spend('2001:db8:1:2::1'));
    expectTooMany(await tryOnce(service, { address: '2001:db8:1:2:ffff::9' }));
    expect((await tryOnce(service, { address: '2001:db8:1:3::1' })).status).toBe(501);
  });

  it('X-Forwarded-For changes the address only when a trusted proxy sends it', async () => {
    const [direct, proxied] = await Promise.all([
      open({ env: { AUTH_PER_ADDRESS: '2' } }),
      open({ env: { AUTH_PER_ADDRESS: '2', TRUST_PROXY: '10.0.0.0/8' } }),
    ]);
    const from = (service: TestService, address: string, forwarded: string) =>
      tryOnce(service, { address, headers: { 'x-forwarded-for': forwarded } });
    for (let n = 0; n < 2; n++) await from(direct, '198.51.100.7', `203.0.113.${n}`);
    expectTooMany(await from(direct, '198.51.100.7', '203.0.113.99'));
    // A stranger who is no proxy is not believed either.
    for (let n = 0; n < 2; n++) await from(proxied, '198.51.100.7', `203.0.113.${n}`);
    expectTooMany(await from(proxied, '198.51.100.7', '203.0.113.99'));
    // Through the proxy: what it added counts, not what the client had written before.
    for (let n = 0; n < 2; n++) await from(proxied, '10.1.2.3', `192.0.2.${n}, 203.0.113.50`);
    expectTooMany(await from(proxied, '10.1.2.3', '192.0.2.77, 203.0.113.50'));
    expect((await from(proxied, '10.1.2.3', '203.0.113.51')).status).toBe(501);
  });

  it('the signed-in routes and refreshes are limited as well, more generously', async () => {
    const service = await open({ env: UNLIMITED });
    const person = await signIn(service);
    const asked = { bearer: person.access, address: '198.51.100.7' };
    let last = await ask(service, 'GET', ACCOUNT, asked);
    for (let n = 1; n < 600; n++) last = await ask(service, 'GET', ACCOUNT, asked);
    expect(last.status).toBe(200);
    expectTooMany(await ask(service, 'GET', ACCOUNT, asked));
    const late = await refresh(service, person, person.refresh, { address: asked.address });
    expectTooMany(late);
    expect((await refresh(service, person, person.refresh)).status).toBe(200);
    const update = { current_version: '1.0.0', platform: 'linux', arch: 'x64' };
    const check = await ask(service, 'POST', CHECK_UPDATE, { ...asked, body: update });
    expect(check.status).not.toBe(429);
  });
});

describe('tries for one account', () => {
  it('are limited to five a minute, from all addresses together, right or wrong', async () => {
    const service = await open({ env: UNLIMITED });
    const email = await register(service);
    for (let n = 0; n < 5; n++) {
      const address = `198.51.100.${n}`;
      expect((await logIn(service, { email, password: 'wrong', address })).status).toBe(401);
    }
    expectTooMany(await logIn(service, { email, address: '203.0.113.1' }));
    expectTooMany(await logIn(service, { email: email.toUpperCase() }));
    expect((await signIn(service)).answer.status).toBe(200);
  });

  it('an unknown account has the same limit', async () => {
    const service = await open({ env: UNLIMITED });
    const email = newEmail();
    for (let n = 0; n < 5; n++) expect((await logIn(service, { email })).status).toBe(401);
    expectTooMany(await logIn(service, { email }));
  });

  it('does not end sessions that exist', async () => {
    const service = await open({ env: UNLIMITED });
    const person = await signIn(service);
    for (let n = 0; n < 6; n++) await logIn(service, { email: person.email, password: 'wrong' });
    expect((await refresh(service, person, person.refresh)).status).toBe(200);
  });

  it('a lockout is known to every process on the store, and ends', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const clock = createHastyClock();
    const email = newEmail();
    const guessing = await open({ env: UNLIMITED, store, clock });
    await register(guessing, email);
    // As after four minutes of guessing, five a minute.
    const { lockout } = guessing.app.identity ?? {};
    const guarded = accountIdOf('embedded', email);
    for (let n = 0; n < 20; n++) await lockout?.noteFailure(guarded);
    for (const from of ['a second process', 'a third one']) {
      const other = await open({ env: UNLIMITED, store, clock });
      const answer = await logIn(other, { email });
      expectTooMany(answer, 1_800);
      expect(answer.body.detail, from).not.toMatch(/lock/i);
    }
    clock.advance(30 * 60_000 + 1_000);
    const later = await open({ env: UNLIMITED, store, clock });
    expect((await logIn(later, { email })).status).toBe(200);
  });
});
