import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/system.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore } from '../../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  AUTH,
  ask,
  COOKIE_ENV,
  logIn,
  logOut,
  newEmail,
  PASSWORD,
  type Person,
  refresh,
  register,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const DAY_MS = 86_400_000;

/** Cookie mode makes no difference to clients other than browsers. */
describe.each([
  ['with tokens in bodies', UNLIMITED],
  ['beside a website with cookies', COOKIE_ENV],
])('a desktop client, %s', (_mode, env) => {
  const clock = createHastyClock();
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ env, clock, store });
  });
  afterAll(() => service.close());

  it('registers', async () => {
    const answer = await ask(service, 'POST', `${AUTH}/register`, {
      body: { email: newEmail(), password: PASSWORD, name: '  Ada  ', surname: 'ignored' },
    });
    expect(answer).toMatchObject({ status: 202, body: { status: 'accepted' } });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.setCookie).toBeUndefined();
  });

  it('signs in, and gets everything that it needs', async () => {
    const email = newEmail();
    const body = { email: email.toUpperCase(), password: PASSWORD, name: '  Ada Lovelace ' };
    await ask(service, 'POST', `${AUTH}/register`, { body });
    for (const platform of ['windows', 'macos', 'linux'] as const) {
      const answer = await logIn(service, { email, platform });
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.setCookie).toBeUndefined();
      expect(answer.body).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        token_type: 'Bearer',
        expires_in: 600,
        refresh_token: expect.stringMatching(/^slr1\./),
        refresh_expires_in: expect.closeTo((30 * DAY_MS) / 1000, -1),
        account: {
          id: expect.stringMatching(/^[0-9a-f]{32}$/),
          email,
          email_verified: false,
          tier: 'free',
        },
      });
      const account = await ask(service, 'GET', ACCOUNT, { bearer: answer.body.access_token });
      expect(account.body).toMatchObject({ email, name: 'Ada Lovelace', tier: 'free' });
    }
  });

  describe('signed in', () => {
    let person: Person;
    beforeEach(async () => {
      person = await signIn(service);
    });

    it('refreshes the session, and gets the same answer when one was lost', async () => {
      const first = await refresh(service, person, person.refresh);
      expect(first).toMatchObject({ status: 200, setCookie: undefined });
      expect(first.body).toMatchObject({
        expires_in: 600,
        account: { id: person.id, email: person.email },
      });
      expect(first.body.refresh_token).not.toBe(person.refresh);
      expect(first.body.access_token).not.toBe(person.access);
      const again = await refresh(service, person, person.refresh);
      expect(again.body.refresh_token).toBe(first.body.refresh_token);
      const next = await refresh(service, person, first.body.refresh_token);
      expect(next.status).toBe(200);
      const { status } = await ask(service, 'GET', ACCOUNT, { bearer: next.body.access_token });
      expect(status).toBe(200);
    });

    it('loses its session when it reuses a token after a minute', async () => {
      const first = await refresh(service, person, person.refresh);
      clock.advance(60_001);
      const reused = await refresh(service, person, person.refresh);
      expect(reused).toMatchObject({ status: 401, body: { code: 'session_ended' } });
      const victim = await refresh(service, person, first.body.refresh_token);
      expect(victim).toMatchObject({ status: 401, body: { code: 'session_ended' } });
      expect((await signIn(service, { email: person.email })).answer.status).toBe(200);
    });

    it('fifty simultaneous refreshes count as one', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refresh(service, person, person.refresh)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    });

    it('the access token is valid for ten minutes', async () => {
      clock.advance(599_000);
      expect((await ask(service, 'GET', ACCOUNT, { bearer: person.access })).status).toBe(200);
      clock.advance(10_000);
      const late = await ask(service, 'GET', ACCOUNT, { bearer: person.access });
      expect(late).toMatchObject({ status: 401, body: { code: 'not_signed_in' } });
    });

    it('the refresh token is valid for thirty days, and the session for ninety', async () => {
      let token = person.refresh;
      for (const days of [29, 29, 29]) {
        clock.advance(days * DAY_MS);
        const answer = await refresh(service, person, token);
        expect(answer.status).toBe(200);
        token = answer.body.refresh_token;
      }
      const left = (await refresh(service, person, token)).body.refresh_expires_in;
      expect(left).toBeLessThanOrEqual((3 * DAY_MS) / 1000);
      clock.advance(3 * DAY_MS);
      expect((await refresh(service, person, token)).status).toBe(401);
      const idle = await signIn(service);
      clock.advance(30 * DAY_MS + 1_000);
      expect((await refresh(service, idle, idle.refresh)).status).toBe(401);
    });

    it('the token does not work on another device or platform, and the attempt ends the session', async () => {
      const other = { device: { id: 'stolen', name: 'x' }, platform: person.platform };
      expect((await refresh(service, other, person.refresh)).body.code).toBe('session_ended');
      expect((await refresh(service, person, person.refresh)).status).toBe(401);
      const second = await signIn(service);
      const mac = { device: second.device, platform: 'macos' as const };
      expect((await refresh(service, mac, second.refresh)).status).toBe(401);
    });

    it('signs out with either token, of this session only', async () => {
      const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
      const third = await signIn(service, { email: person.email, deviceId: 'device-3' });
      const byRefresh = await logOut(service, { body: { refresh_token: person.refresh } });
      expect(byRefresh).toMatchObject({ status: 204, text: '', setCookie: expectedCookie(env) });
      expect((await refresh(service, person, person.refresh)).status).toBe(401);
      expect((await logOut(service, { bearer: other.access })).status).toBe(204);
      expect((await refresh(service, other, other.refresh)).status).toBe(401);
      expect((await refresh(service, third, third.refresh)).status).toBe(200);
    });

    it('ends all sessions with either token', async () => {
      for (const by of ['access', 'refresh'] as const) {
        const first = await signIn(service);
        const { email } = first;
        const sessions = [first, await signIn(service, { email, deviceId: 'device-2' })] as const;
        const token = sessions[0][by];
        const { status } = await logOut(service, {
          scope: 'global',
          ...(by === 'access' ? { bearer: token } : { body: { refresh_token: token } }),
        });
        expect(status).toBe(204);
        for (const session of sessions) {
          expect((await refresh(service, session, session.refresh)).status).toBe(401);
        }
        // Later sessions are not affected.
        clock.advance(1);
        const later = await signIn(service, { email });
        expect((await refresh(service, later, later.refresh)).status).toBe(200);
      }
    });

    it('an expired token ends no other session', async () => {
      await logOut(service, { body: { refresh_token: person.refresh } });
      clock.advance(1_000);
      const later = await signIn(service, { email: person.email, deviceId: 'device-2' });
      const answer = await logOut(service, {
        scope: 'global',
        body: { refresh_token: person.refresh },
      });
      expect(answer.status).toBe(204);
      expect((await refresh(service, later, later.refresh)).status).toBe(200);
    });

    it('ending all sessions can be repeated when the store failed half way', async () => {
      const other = await signIn(service, { email: person.email, deviceId: 'device-2' });
      const body = { refresh_token: person.refresh };
      store.setPlan(({ method, key }) =>
        method === 'create' && key.startsWith('accounts/') ? { when: 'before' } : undefined,
      );
      expect((await logOut(service, { scope: 'global', body })).status).toBe(503);
      store.setPlan(undefined);
      expect((await logOut(service, { scope: 'global', body })).status).toBe(204);
      expect((await refresh(service, other, other.refresh)).status).toBe(401);
    });

    it('a failing store ends no session', async () => {
      for (const code of ['store_unavailable', 'store_denied'] as const) {
        store.setPlan(() => ({ when: 'before', code }));
        const failed = await refresh(service, person, person.refresh);
        expect(failed).toMatchObject({ status: 503, body: { code } });
        expect(Number(failed.headers['retry-after'])).toBeGreaterThan(0);
        store.setPlan(undefined);
      }
      expect((await refresh(service, person, person.refresh)).status).toBe(200);
    });

    it('lists its sessions, and ends another one', async () => {
      const other = await signIn(service, {
        email: person.email,
        deviceId: 'device-2',
        platform: 'macos',
      });
      const { body } = await ask(service, 'GET', SESSIONS, { bearer: person.access });
      expect(body.sessions).toHaveLength(2);
      const [mine] = body.sessions.filter(({ current }: { current: boolean }) => current);
      const [theirs] = body.sessions.filter(({ current }: { current: boolean }) => !current);
      expect(mine).toMatchObject({ platform: 'linux', device_name: 'A laptop', os_version: null });
      expect(theirs).toMatchObject({ platform: 'macos', current: false });
      // A refresh proves the device by its id: no answer contains it.
      expect(JSON.stringify(body)).not.toMatch(/device-[12]|digest|slr1/);
      const end = (bearer: string) =>
        ask(service, 'DELETE', `${SESSIONS}/${theirs.id}`, { bearer });
      expect((await end((await signIn(service)).access)).body.code).toBe('unknown_session');
      expect((await end(person.access)).status).toBe(204);
      expect((await end(person.access)).body.code).toBe('unknown_session');
      expect((await refresh(service, other, other.refresh)).status).toBe(401);
      expect((await refresh(service, person, person.refresh)).status).toBe(200);
    });

    it('ends all sessions through its account, the current one included', async () => {
      const { status } = await ask(service, 'DELETE', SESSIONS, { bearer: person.access });
      expect(status).toBe(204);
      expect((await refresh(service, person, person.refresh)).status).toBe(401);
    });

    it('changes its name, and only that', async () => {
      const change = (body: object) =>
        ask(service, 'PATCH', ACCOUNT, { bearer: person.access, body });
      const renamed = await change({ name: ' Grace ', tier: 'pro', email: 'x@example.com' });
      expect(renamed.body).toMatchObject({ name: 'Grace', tier: 'free', email: person.email });
      expect((await change({ name: null })).body.name).toBeNull();
      expect((await change({ name: 'Zoë 🦊 עברית' })).body.name).toBe('Zoë 🦊 עברית');
    });

    it('gets the document of the signed-in routes, which a visitor does not', async () => {
      const { status } = await ask(service, 'GET', SIGNED_IN_DOCUMENT);
      expect(status).toBe(401);
      const { body, headers } = await ask(service, 'GET', SIGNED_IN_DOCUMENT, {
        bearer: person.access,
      });
      expect(headers['cache-control']).toBe('no-store');
      expect(body.security).toEqual([{ session: [] }]);
      expect(Object.keys(body.paths)).toContain(ACCOUNT);
      expect(Object.keys(body.paths).join()).not.toMatch(/auth|desktop\/(?!explain)|feeds/);
      for (const open of ['/openapi.json', '/docs/json', '/docs/yaml']) {
        const { text } = await ask(service, 'GET', open);
        expect(text, open).not.toMatch(/developer-keys|billing|desktop\/explain|api\/v1\/account/);
      }
    });
  });

  it('signing out without a session to end succeeds', async () => {
    const over = await signIn(service);
    await logOut(service, { bearer: over.access });
    for (const scope of ['local', 'global'] as const) {
      for (const asked of [
        {},
        { bearer: 'invented' },
        { headers: { authorization: 'Basic YTpi' } },
        { body: { refresh_token: 'invented' } },
        { body: { refresh_token: '' } },
        { body: { refresh_token: over.refresh } },
        { bearer: over.access },
      ]) {
        expect((await logOut(service, { scope, ...asked })).status).toBe(204);
      }
    }
  });

  it('logs neither passwords nor tokens, in any error', async () => {
    const log: string[] = [];
    const logging = await createTestService({ env, log, clock, store });
    const person = await signIn(logging);
    await refresh(logging, person, person.refresh);
    await logIn(logging, { email: person.email, password: 'hunter2 and more' });
    const broken = { 'content-type': 'application/json', authorization: `Bearer ${person.access}` };
    for (const path of ['login', 'register', 'refresh', 'logout']) {
      const body = `{"password":"hunter2 and more","refresh_token":"${person.refresh}"`;
      await ask(logging, 'POST', `${AUTH}/${path}`, { headers: broken, body });
      await ask(logging, 'POST', `${AUTH}/${path}`, { headers: broken, body: `${body}}` });
    }
    store.setPlan(() => ({ when: 'before', code: 'document_corrupt' }));
    await logIn(logging, { email: person.email, password: 'hunter2 and more' });
    await refresh(logging, person, person.refresh);
    store.setPlan(undefined);
    await logging.close();
    expect(log.length).toBeGreaterThan(10);
    const secrets = [person.access, person.refresh, 'hunter2', PASSWORD];
    for (const secret of secrets) expect(log.join('')).not.toContain(secret);
  });

  it('an address is registered once, and the first account keeps it', async () => {
    const email = await register(service);
    const body = { email, password: 'another password' };
    expect((await ask(service, 'POST', `${AUTH}/register`, { body })).status).toBe(202);
    expect((await logIn(service, { email, password: body.password })).status).toBe(401);
    expect((await logIn(service, { email })).status).toBe(200);
  });
});

/** In cookie mode, signing out clears the client's cookie. */
function expectedCookie(env: object): unknown {
  return 'COOKIE_MODE' in env ? expect.stringMatching(/=; Max-Age=0;/) : undefined;
}
