import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore } from '../../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ask,
  COOKIE,
  COOKIE_ENV,
  cookieOf,
  logIn,
  logOut,
  OWN_SCRIPT,
  PASSWORD,
  type Person,
  refresh,
  refreshByCookie,
  register,
  SESSIONS,
  signIn,
  UNLIMITED,
  WEBSITE,
} from './account-support.ts';

const WEB = { platform: 'web', headers: { origin: WEBSITE } } as const;

/** Every attribute, so that one more or one less is noticed. */
function attributesOf(setCookie: string | undefined): readonly string[] {
  return (setCookie ?? '').split('; ').slice(1).sort();
}

describe('a website in cookie mode', () => {
  const clock = createHastyClock();
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ env: COOKIE_ENV, clock, store });
  });
  afterAll(() => service.close());

  it('gets the cookie, and no refresh token in the body', async () => {
    const email = await register(service);
    const answer = await logIn(service, { email, ...WEB });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).not.toContain('refresh_token');
    expect(answer.text).not.toContain('slr1.');
    expect(cookieOf(answer)).toMatch(/^slr1\./);
    const { refresh_expires_in: maxAge } = answer.body;
    expect(attributesOf(answer.setCookie)).toEqual(
      [`Max-Age=${maxAge}`, 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict'].sort(),
    );
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each(['Strict', 'Lax', 'None'])('SameSite=%s when that is set', async (sameSite) => {
    const other = await createTestService({ env: { ...COOKIE_ENV, COOKIE_SAMESITE: sameSite } });
    const { answer } = await signIn(other, WEB);
    expect(attributesOf(answer.setCookie)).toContain(`SameSite=${sameSite}`);
    const cleared = await logOut(other, { headers: OWN_SCRIPT, cookie: cookieOf(answer) });
    expect(attributesOf(cleared.setCookie)).toContain(`SameSite=${sameSite}`);
    await other.close();
  });

  it('refreshes with the cookie, and the body never contains the token', async () => {
    const person = await signIn(service, WEB);
    const answer = await refreshByCookie(service, person, person.refresh);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('slr1.');
    expect(cookieOf(answer)).not.toBe(person.refresh);
    expect(attributesOf(answer.setCookie)).toContain('HttpOnly');
    const { status } = await ask(service, 'GET', ACCOUNT, { bearer: answer.body.access_token });
    expect(status).toBe(200);
  });

  it('a desktop client of the same service keeps its token in the body', async () => {
    const person = await signIn(service, { platform: 'windows' });
    expect(person.answer.setCookie).toBeUndefined();
    const answer = await refresh(service, person, person.refresh);
    expect(answer).toMatchObject({ status: 200, setCookie: undefined });
    expect(answer.body.refresh_token).toMatch(/^slr1\./);
    // And it needs no origin, whichever page it is embedded in.
    const headers = { origin: 'https://evil.example' };
    const embedded = await logIn(service, { email: person.email, platform: 'windows', headers });
    expect(embedded.status).toBe(200);
    expect(embedded.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('without cookie mode, a website gets its token in the body like other clients', async () => {
    const plain = await createTestService({ env: UNLIMITED });
    const { answer, device, refresh: token } = await signIn(plain, { platform: 'web' });
    expect(answer.setCookie).toBeUndefined();
    expect(answer.body.refresh_token).toMatch(/^slr1\./);
    expect((await refreshByCookie(plain, { device }, token)).status).toBe(401);
    const refused = await refreshByCookie(plain, { device }, 'invented');
    expect(refused.setCookie).toBeUndefined();
    expect((await refresh(plain, { device, platform: 'web' }, token)).status).toBe(200);
    await plain.close();
  });

  describe('a refused session', () => {
    const expectCleared = (answer: Awaited<ReturnType<typeof refreshByCookie>>): void => {
      expect(answer).toMatchObject({ status: 401, body: { code: 'session_ended' } });
      expect(cookieOf(answer)).toBe('');
      expect(attributesOf(answer.setCookie)).toEqual(
        ['Max-Age=0', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict'].sort(),
      );
    };

    it('clears the cookie: invented, empty, absent, of another device', async () => {
      const person = await signIn(service, WEB);
      for (const cookie of ['invented', 'slr1.e30.e30', undefined, '']) {
        expectCleared(await refreshByCookie(service, person, cookie));
      }
      const elsewhere = { device: { id: 'elsewhere', name: 'x' } };
      expectCleared(await refreshByCookie(service, elsewhere, person.refresh));
    });

    it('clears it when the session was signed out, ended elsewhere or its token was reused', async () => {
      const person = await signIn(service, WEB);
      const next = await refreshByCookie(service, person, person.refresh);
      clock.advance(61_000);
      expectCleared(await refreshByCookie(service, person, person.refresh));
      expectCleared(await refreshByCookie(service, person, cookieOf(next)));
      const other = await signIn(service, WEB);
      await ask(service, 'DELETE', SESSIONS, { bearer: other.access });
      expectCleared(await refreshByCookie(service, other, other.refresh));
    });

    it('does not clear it when the store fails: 503, and the cookie works later', async () => {
      const person = await signIn(service, WEB);
      for (const code of ['store_unavailable', 'store_denied', 'store_full'] as const) {
        for (const method of ['get', 'create'] as const) {
          store.setPlan((call) => (call.method === method ? { when: 'before', code } : undefined));
          const answer = await refreshByCookie(service, person, person.refresh);
          expect(answer, `${code} ${method}`).toMatchObject({ status: 503, body: { code } });
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
          expect(answer.setCookie).toBeUndefined();
          store.setPlan(undefined);
        }
      }
      expect((await refreshByCookie(service, person, person.refresh)).status).toBe(200);
    });

    it('does not clear it on a forged request, with which any page could log the visitor out', async () => {
      const person = await signIn(service, WEB);
      const headers = { ...OWN_SCRIPT, origin: 'https://evil.example' };
      const answer = await refreshByCookie(service, person, person.refresh, headers);
      expect(answer).toMatchObject({ status: 403, setCookie: undefined });
      const out = await logOut(service, { cookie: person.refresh, headers });
      expect(out).toMatchObject({ status: 403, setCookie: undefined });
      expect((await refreshByCookie(service, person, person.refresh)).status).toBe(200);
    });
  });

  describe('signing out', () => {
    const out = (person: Person, asked: Parameters<typeof logOut>[1] = {}) =>
      logOut(service, { headers: OWN_SCRIPT, cookie: person.refresh, ...asked });

    it('ends the session of the cookie, and clears it', async () => {
      const person = await signIn(service, WEB);
      const answer = await out(person);
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(cookieOf(answer)).toBe('');
      expect((await refreshByCookie(service, person, person.refresh)).status).toBe(401);
      expect((await out(person)).status).toBe(204);
    });

    it('everywhere, by the cookie', async () => {
      const person = await signIn(service, WEB);
      const desktop = await signIn(service, { email: person.email });
      expect((await out(person, { scope: 'global' })).status).toBe(204);
      expect((await refresh(service, desktop, desktop.refresh)).status).toBe(401);
    });

    it('an invalid token in the body does not protect the session of the cookie', async () => {
      for (const refresh_token of ['', 'invented', 'slr1.e30.e30']) {
        const person = await signIn(service, WEB);
        const answer = await out(person, { body: { refresh_token } });
        expect(answer.status).toBe(204);
        expect((await refreshByCookie(service, person, person.refresh)).status).toBe(401);
      }
    });

    it('keeps the cookie while the store fails: the session has not ended', async () => {
      const person = await signIn(service, WEB);
      store.setPlan(() => ({ when: 'before' }));
      const answer = await out(person);
      store.setPlan(undefined);
      expect(answer).toMatchObject({ status: 503, setCookie: undefined });
      expect((await refreshByCookie(service, person, person.refresh)).status).toBe(200);
    });

    it('without a session to end succeeds, and clears the cookie', async () => {
      for (const cookie of [undefined, '', 'invented']) {
        const asked = cookie === undefined ? {} : { cookie };
        const answer = await logOut(service, { headers: OWN_SCRIPT, ...asked });
        expect(answer.status).toBe(204);
        expect(cookieOf(answer)).toBe('');
      }
    });

    it('everywhere, and erasing the account, clear the cookie too', async () => {
      for (const url of [SESSIONS, ACCOUNT]) {
        const { access } = await signIn(service, WEB);
        const answer = await ask(service, 'DELETE', url, {
          bearer: access,
          ...(url === ACCOUNT ? { body: { password: PASSWORD } } : {}),
        });
        expect(answer.status).toBe(204);
        expect(cookieOf(answer)).toBe('');
      }
    });
  });

  describe('session fixation', () => {
    it('a planted cookie never becomes the session of the user who signs in', async () => {
      const attacker = await signIn(service, WEB);
      const victim = await signIn(service, { ...WEB, cookie: attacker.refresh });
      expect(victim.refresh).not.toBe(attacker.refresh);
      const sessionOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? ''))[1];
      expect(sessionOf(victim.refresh)).not.toBe(sessionOf(attacker.refresh));
      // The session of the replaced cookie has ended: no client could end it later.
      expect((await refreshByCookie(service, attacker, attacker.refresh)).status).toBe(401);
      const { body } = await ask(service, 'GET', SESSIONS, { bearer: victim.access });
      expect(body.sessions).toHaveLength(1);
    });

    it('no field of the request chooses a session or an account', async () => {
      const attacker = await signIn(service);
      const planted = { session: 'mine', session_id: 'mine', account: attacker.id, sid: 'mine' };
      const email = await register(service);
      const device = { id: 'd', name: 'n', ...planted };
      const answer = await ask(service, 'POST', '/api/v1/auth/login', {
        body: {
          email,
          password: 'correct horse battery staple',
          platform: 'linux',
          device,
          ...planted,
          refresh_token: attacker.refresh,
        },
      });
      expect(answer.status).toBe(200);
      expect(answer.body.account.email).toBe(email);
      expect(atob(answer.body.refresh_token.split('.')[1])).not.toContain('mine');
    });

    it('a cookie of another name, and a second one of the same, change nothing', async () => {
      const person = await signIn(service, WEB);
      const attacker = await signIn(service, WEB);
      const send = (cookie: string) =>
        refreshByCookie(service, person, undefined, { ...OWN_SCRIPT, cookie });
      // Without the prefix, a sub-domain or plain HTTP could have set it.
      for (const name of ['slipway_session', '__Secure-slipway_session', COOKIE.toLowerCase()]) {
        expect((await send(`${name}=${person.refresh}`)).status, name).toBe(401);
      }
      const both = await send(`${COOKIE}=${person.refresh}; ${COOKIE}=${attacker.refresh}`);
      expect(both.body.account.id).toBe(person.id);
    });

    it('a token sent in the body takes no part where the cookie does', async () => {
      const person = await signIn(service, WEB);
      const attacker = await signIn(service, WEB);
      const asked = { headers: OWN_SCRIPT };
      const web = { device: attacker.device, platform: 'web' } as const;
      const alone = await refresh(service, web, attacker.refresh, asked);
      expect(alone).toMatchObject({ status: 401, body: { code: 'session_ended' } });
      const both = await refresh(service, web, attacker.refresh, {
        ...asked,
        cookie: person.refresh,
      });
      expect(both.body.account.id).toBe(person.id);
      // Nor does the cookie's token work as a desktop client's.
      const desktop = { device: person.device, platform: 'linux' } as const;
      expect((await refresh(service, desktop, cookieOf(both))).status).toBe(401);
    });
  });
});
