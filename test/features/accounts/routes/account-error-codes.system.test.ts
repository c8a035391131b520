import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revisionKey } from '../../../../src/catalog/documents/keys.ts';
import type { ErrorCode } from '../../../../src/core/errors.ts';
import { systemClock } from '../../../../src/core/system.ts';
import { invite } from '../../../../src/features/accounts/accounts/invitations.ts';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import { renderEnvelope, renderSealed } from '../../../../src/store/sequence/envelope.ts';
import {
  type MonitoringStub as Stub,
  startMonitoringStub,
} from '../../../server/monitoring/stub.ts';
import { createErrorLedger, get, release } from '../../../server/support.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createFaultyStore, type StoreMethod } from '../../../support/faulty-store.ts';
import { readText } from '../../../support/objects.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  AUTH,
  ask,
  BILLING,
  COOKIE,
  COOKIE_ENV,
  EXPLAIN,
  KEYS,
  logIn,
  logOut,
  newEmail,
  PASSWORD,
  type Person,
  PORTAL,
  register,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
  WEBSITE,
} from './account-support.ts';

/**
 * Produces every error code of the routes about accounts, and compares the codes with both OpenAPI documents in
 * both directions: every produced code is documented, every documented code is produced.
 */

const REGISTER = `POST ${AUTH}/register`;
const LOGIN = `POST ${AUTH}/login`;
const REFRESH = `POST ${AUTH}/refresh`;
const LOGOUT = `POST ${AUTH}/logout`;
const MAILS = [`POST ${AUTH}/resend-verification`, `POST ${AUTH}/request-reset`];
const END_ONE = `DELETE ${SESSIONS}/{session}`;
const CHANGE_PASSWORD = `POST ${ACCOUNT}/password`;
const REVOKE = `DELETE ${KEYS}/{key}`;

const DEVICE = { id: 'device-1', name: 'A laptop' };
/** A body that is well formed, for each operation that takes one. */
const BODIES: Readonly<Record<string, object>> = {
  [REGISTER]: { email: 'new@example.com', password: PASSWORD },
  [LOGIN]: { email: 'new@example.com', password: PASSWORD, platform: 'linux', device: DEVICE },
  [REFRESH]: { refresh_token: 'x', platform: 'linux', device: { id: 'device-1' } },
  [LOGOUT]: { scope: 'local' },
  [String(MAILS[0])]: { email: 'new@example.com' },
  [String(MAILS[1])]: { email: 'new@example.com' },
  [`PATCH ${ACCOUNT}`]: { name: 'Ada' },
  [`DELETE ${ACCOUNT}`]: { password: PASSWORD },
  [CHANGE_PASSWORD]: { password: PASSWORD, new_password: 'another battery staple' },
  [`POST ${KEYS}`]: { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] },
};
const SIGNED_IN = [
  `GET ${ACCOUNT}`,
  `PATCH ${ACCOUNT}`,
  `DELETE ${ACCOUNT}`,
  CHANGE_PASSWORD,
  `GET ${SESSIONS}`,
  `DELETE ${SESSIONS}`,
  END_ONE,
  `GET ${KEYS}`,
  `POST ${KEYS}`,
  REVOKE,
  `GET ${ANALYTICS}`,
  `GET ${EXPLAIN}`,
  `GET ${BILLING}`,
  `POST ${PORTAL}`,
];
const OPERATIONS = [REGISTER, LOGIN, REFRESH, LOGOUT, ...MAILS, ...SIGNED_IN];
const WRITING = [
  REGISTER,
  LOGIN,
  REFRESH,
  LOGOUT,
  `PATCH ${ACCOUNT}`,
  `DELETE ${ACCOUNT}`,
  CHANGE_PASSWORD,
  `DELETE ${SESSIONS}`,
  END_ONE,
  `POST ${KEYS}`,
  REVOKE,
];

const CLIENT = 'version=1.0.0&platform=windows&arch=x64';

/** An address of an operation that is well formed. */
function addressOf(operation: string): string {
  const [, path = ''] = operation.split(' ');
  if (path === EXPLAIN) return `${EXPLAIN}?${CLIENT}`;
  return path.replace('{key}', '0123456789abcdef');
}

const ledger = createErrorLedger();

describe('error codes of accounts', () => {
  const inner = createMemoryStore({ clock: systemClock });
  const store = createFaultyStore(inner);
  const clock = createHastyClock();
  let service: TestService;
  let off: TestService;
  let website: TestService;
  let mailed: TestService;
  let invited: TestService;
  let captcha: Stub;
  let gotrue: Stub;

  beforeAll(async () => {
    [captcha, gotrue] = await Promise.all([startMonitoringStub(), startMonitoringStub()]);
    const tiers = { free: ['developer_keys', 'analytics', 'explain'], nothing: [] };
    [service, off, website, mailed, invited] = await Promise.all([
      createTestService({
        env: {
          ...UNLIMITED,
          TIERS: JSON.stringify(tiers),
          BILLING_PORTAL_URL: 'https://billing.example.com',
        },
        store,
        clock,
      }),
      createTestService({ env: { IDENTITY_PROVIDER: 'off' } }),
      createTestService({
        env: {
          ...COOKIE_ENV,
          CAPTCHA_PROVIDER: 'turnstile',
          CAPTCHA_SECRET: 'secret',
          CAPTCHA_VERIFY_URL: captcha.baseUrl,
        },
      }),
      createTestService({
        env: {
          ...UNLIMITED,
          IDENTITY_PROVIDER: 'gotrue',
          GOTRUE_URL: gotrue.baseUrl,
          GOTRUE_API_KEY: 'key',
        },
      }),
      createTestService({ env: { ...UNLIMITED, REGISTRATION: 'invite' } }),
    ]);
    await release(service, '1.0.0', ['windows x64 nsis']);
  });
  afterAll(() =>
    Promise.all(
      [service, off, website, mailed, invited, captcha, gotrue].map((part) => part.close()),
    ),
  );

  /** A request that succeeds unless the test makes it fail. */
  async function good(operation: string, person: Person): Promise<Record<string, unknown>> {
    const [, url = ''] = operation.split(' ');
    const headers = { authorization: `Bearer ${person.access}` };
    const payload = BODIES[operation];
    const asked = { headers, ...(payload === undefined ? {} : { payload }) };
    if (operation === REGISTER) return { payload: { ...payload, email: newEmail() } };
    if (operation === LOGIN) return { payload: { ...payload, email: person.email } };
    if (operation === REFRESH) return { payload: { ...payload, refresh_token: person.refresh } };
    if (operation === END_ONE) {
      const [, session] = (await sessionsOf(person)).map(({ id }) => id);
      return { ...asked, url: `${SESSIONS}/${session}` };
    }
    if (operation === REVOKE) return { ...asked, url: `${KEYS}/${(await makeKey(person)).id}` };
    // A service explains the present state from memory.
    if (operation === `GET ${EXPLAIN}`) return { ...asked, url: `${addressOf(operation)}&at=1` };
    // A person asks for metrics without the store: a key has to be read.
    if (operation === `GET ${ANALYTICS}`) {
      return { headers: { authorization: `Bearer ${(await makeKey(person)).key}` } };
    }
    return { ...asked, url };
  }

  async function sessionsOf(person: Person): Promise<{ id: string; current: boolean }[]> {
    await signIn(service, { email: person.email, deviceId: 'device-2' });
    const { body } = await ask(service, 'GET', SESSIONS, { bearer: person.access });
    return body.sessions.sort((a: { current: boolean }) => (a.current ? -1 : 1));
  }

  async function makeKey(person: Person): Promise<{ id: string; key: string }> {
    const body = BODIES[`POST ${KEYS}`];
    return (await ask(service, 'POST', KEYS, { bearer: person.access, body })).body;
  }

  /** Makes every call of some store methods below a key fail during the request. */
  async function underFault(
    code: ErrorCode,
    methods: readonly StoreMethod[] | 'all',
    request: () => Promise<void>,
  ): Promise<void> {
    // A store that is full is told of in its own words.
    const reason = code === 'store_full' ? 'full' : 'private';
    store.setPlan(({ method }) =>
      methods === 'all' || methods.includes(method) ? { when: 'before', code, reason } : undefined,
    );
    try {
      await request();
    } finally {
      store.setPlan(undefined);
    }
  }

  it('not_configured: on every route without accounts', async () => {
    for (const operation of OPERATIONS) {
      const url = addressOf(operation);
      const payload = BODIES[operation];
      await ledger.produce(off, operation, 501, 'not_configured', {
        url,
        ...(payload === undefined ? {} : { payload }),
      });
    }
    // Without mail.
    for (const operation of MAILS) {
      await ledger.produce(service, operation, 501, 'not_configured', {
        payload: BODIES[operation],
      });
    }
  });

  it('not_signed_in', async () => {
    for (const operation of SIGNED_IN) {
      const url = addressOf(operation);
      const payload = BODIES[operation];
      const body = payload === undefined ? {} : { payload };
      await ledger.produce(service, operation, 401, 'not_signed_in', { url, ...body });
    }
  });

  it('bodies that cannot be parsed', async () => {
    const json = { 'content-type': 'application/json' };
    for (const operation of OPERATIONS.filter((name) => !name.startsWith('GET '))) {
      const url = addressOf(operation);
      const send = (status: number, code: ErrorCode, payload: string, headers = json) =>
        ledger.produce(service, operation, status, code, { url, payload, headers });
      await send(400, 'malformed_json', '{"email":');
      // Where no body is wanted, an empty one is none.
      if (operation in BODIES) await send(400, 'malformed_json', '');
      await send(400, 'malformed_json', '{"__proto__":{"email":"a@example.com"}}');
      await send(413, 'body_too_large', `"${'x'.repeat(70_000)}"`);
      await send(415, 'unsupported_media_type', 'a=b', { 'content-type': 'text/csv' });
    }
  });

  it('invalid_request', async () => {
    for (const operation of Object.keys(BODIES)) {
      await ledger.produce(service, operation, 400, 'invalid_request', { payload: { email: 7 } });
      await ledger.produce(service, operation, 400, 'invalid_request', { payload: [] });
    }
    const long = 'x'.repeat(129);
    const send = (operation: string, url: string) =>
      ledger.produce(service, operation, 400, 'invalid_request', { url });
    await send(END_ONE, `${SESSIONS}/${long}`);
    for (const id of [long, '..%2fx', '%00', '%5c', 'a%2fused'])
      await send(REVOKE, `${KEYS}/${id}`);
    const { access } = await signIn(service);
    const headers = { authorization: `Bearer ${access}` };
    for (const query of ['from=yesterday', 'from=2026-01-02&to=2026-01-01', 'app=']) {
      const url = `${ANALYTICS}?${query}`;
      await ledger.produce(service, `GET ${ANALYTICS}`, 400, 'invalid_request', { url, headers });
    }
  });

  it('register: an invalid invitation, or one of a newer Slipway', async () => {
    const payload = BODIES[REGISTER];
    await ledger.produce(invited, REGISTER, 403, 'registration_refused', { payload });
    const { email } = payload as { email: string };
    const { code } = await invite(invited, email, 7);
    for await (const { key } of invited.store.list('invitations/')) {
      await invited.store.delete(key);
      await invited.store.create(key, renderEnvelope({ schema_version: 2 }));
    }
    await ledger.produce(invited, REGISTER, 503, 'document_newer', {
      payload: { ...payload, invitation: code },
    });
  });

  it('register: a weak password, a captcha', async () => {
    const weak = { ...BODIES[REGISTER], password: 'short' };
    await ledger.produce(service, REGISTER, 400, 'weak_password', { payload: weak });
    await ledger.produce(website, REGISTER, 403, 'captcha_refused', { payload: BODIES[REGISTER] });
    const payload = { ...BODIES[REGISTER], captcha_token: 'token' };
    captcha.answerJson({ success: false, 'error-codes': ['timeout-or-duplicate'] });
    await ledger.produce(website, REGISTER, 403, 'captcha_refused', { payload });
    captcha.answerWith((_request, response) => response.writeHead(500).end());
    await ledger.produce(website, REGISTER, 503, 'captcha_unavailable', { payload });
  });

  it('a new password: weak, or without the old one', async () => {
    const { access } = await signIn(service);
    const headers = { authorization: `Bearer ${access}` };
    const change = (status: number, code: ErrorCode, payload: object) =>
      ledger.produce(service, CHANGE_PASSWORD, status, code, {
        headers,
        payload: { ...BODIES[CHANGE_PASSWORD], ...payload },
      });
    await change(400, 'weak_password', { new_password: 'password123' });
    await change(401, 'invalid_credentials', { password: 'wrong password' });
  });

  it('login: refused accounts', async () => {
    const email = await register(service);
    const payload = { ...BODIES[LOGIN], email };
    const wrong = { ...payload, password: 'wrong password' };
    await ledger.produce(service, LOGIN, 401, 'invalid_credentials', { payload: wrong });
    const erased = await signIn(service, { email });
    store.setPlan(async ({ method, key }) => {
      // The account ends while its session is being begun.
      if (method === 'create' && key.startsWith(`sessions/${erased.id}/`)) {
        await inner.create(`accounts/${erased.id}/end.json`, Buffer.from('{}'));
      }
      return undefined;
    });
    await ledger.produce(service, LOGIN, 401, 'session_ended', { payload });
    store.setPlan(undefined);
    const locked = await signIn(service);
    await lockAccount(service, locked.id, null);
    await ledger.produce(service, LOGIN, 403, 'account_locked', {
      payload: { ...payload, email: locked.email },
    });
    gotrue.answerWith((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error_code":"email_not_confirmed"}');
    });
    await ledger.produce(mailed, LOGIN, 403, 'email_not_verified', { payload });
    const web = { ...payload, platform: 'web' };
    for (const origin of [undefined, 'https://evil.example']) {
      const headers = origin === undefined ? {} : { origin };
      await ledger.produce(website, LOGIN, 403, 'request_forgery', { payload: web, headers });
    }
  });

  it('refresh and logout: ended sessions and forged requests', async () => {
    await ledger.produce(service, REFRESH, 401, 'session_ended', { payload: BODIES[REFRESH] });
    const web = { ...BODIES[REFRESH], platform: 'web' };
    const headers = { origin: WEBSITE, cookie: `${COOKIE}=x` };
    await ledger.produce(website, REFRESH, 403, 'request_forgery', { payload: web, headers });
    const out = { payload: BODIES[LOGOUT], headers };
    await ledger.produce(website, LOGOUT, 403, 'request_forgery', out);
    const { access } = await signIn(service);
    clock.advance(2 * 3_600_000);
    const late = { headers: { authorization: `Bearer ${access}` }, payload: { scope: 'global' } };
    await ledger.produce(service, LOGOUT, 401, 'not_signed_in', late);
  });

  it('explain: clients that it cannot parse, and states that do not exist', async () => {
    const { access } = await signIn(service);
    const headers = { authorization: `Bearer ${access}` };
    const send = (status: number, code: ErrorCode, query: string, on = service) => {
      const url = `${EXPLAIN}?${query}`;
      return ledger.produce(on, `GET ${EXPLAIN}`, status, code, { url, headers });
    };
    await send(400, 'invalid_request', 'platform=windows');
    await send(400, 'invalid_request', 'version=1.0.0&platform=windows');
    for (const at of ['yesterday', '2026-11-22', '2026-02-30T10:00:00Z', '0', 'x'.repeat(129)]) {
      await send(400, 'invalid_request', `${CLIENT}&at=${at}`);
    }
    await send(400, 'invalid_version', 'version=1&platform=windows&arch=x64');
    await send(400, 'unknown_platform', 'version=1.0.0&platform=amiga&arch=x64');
    await send(400, 'unknown_arch', 'version=1.0.0&platform=windows&arch=68000');
    await send(400, 'unknown_format', `${CLIENT}&format=lha`);
    await send(404, 'unknown_application', `${CLIENT}&app=other`);
    await send(404, 'unknown_channel', `${CLIENT}&channel=none`);
    await send(404, 'unknown_version', `${CLIENT}&at=99`);
    await send(404, 'unknown_version', `${CLIENT}&at=2001-01-01T00:00:00Z`);
  });

  it('explain: a corrupt revision, a newer one, a signed one, and a catalog that is not loaded', async () => {
    const { access } = await signIn(service);
    const headers = { authorization: `Bearer ${access}` };
    const send = (status: number, code: ErrorCode, query: string, on = service) => {
      const url = `${EXPLAIN}?${query}`;
      return ledger.produce(on, `GET ${EXPLAIN}`, status, code, { url, headers });
    };
    const { signed } = JSON.parse(String(await readText(inner, revisionKey('desktop', 1))));
    const signature = { key_id: 'someone', jws: 'x' };
    for (const [code, bytes] of [
      ['document_corrupt', Buffer.from('{')],
      ['document_newer', renderEnvelope({ schema_version: 3 })],
      ['root_missing', renderSealed({ ...signed, revision: 77 }, [signature]).bytes],
    ] as const) {
      const key = 'apps/desktop/catalog/0000000077.json';
      await inner.delete(key);
      await inner.create(key, bytes);
      await send(503, code, `${CLIENT}&at=77`);
      await inner.delete(key);
    }
    let release = (): void => undefined;
    const released = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    store.setPlan(({ key }) => (key.endsWith('0000000001.json') ? released : undefined));
    let refused = 0;
    const many = Array.from({ length: 20 }, async () => {
      const url = `${EXPLAIN}?${CLIENT}&at=1`;
      const { statusCode } = await service.app.http.inject({ url, headers });
      if (statusCode === 503) refused++;
    });
    // One is read, and eight wait.
    await expect.poll(() => refused).toBe(11);
    await send(503, 'overloaded', CLIENT);
    release();
    await Promise.all(many);
    expect(refused).toBe(11);
    store.setPlan(undefined);
    const unloaded = await createTestService({
      env: { TIERS: '{"free":["explain"]}' },
      store,
      clock,
      start: false,
    });
    const person = await signIn(unloaded);
    await ledger.produce(unloaded, `GET ${EXPLAIN}`, 503, 'catalog_unavailable', {
      url: `${EXPLAIN}?${CLIENT}`,
      headers: { authorization: `Bearer ${person.access}` },
    });
    await unloaded.close();
  });

  it('signed in: unknown resources, and features outside the tier', async () => {
    const person = await signIn(service);
    const headers = { authorization: `Bearer ${person.access}` };
    const send = (operation: string, status: number, code: ErrorCode, request: object) =>
      ledger.produce(service, operation, status, code, { headers, ...request });
    await send(END_ONE, 404, 'unknown_session', { url: `${SESSIONS}/nothing` });
    await send(REVOKE, 404, 'unknown_key', { url: `${KEYS}/0123456789abcdef` });
    await send(`GET ${ANALYTICS}`, 404, 'unknown_application', { url: `${ANALYTICS}?app=other` });
    const { key } = await makeKey(person);
    await send(`GET ${ANALYTICS}`, 403, 'scope_missing', {
      url: `${ANALYTICS}?app=other`,
      headers: { authorization: `Bearer ${key}` },
    });
    await send(`GET ${EXPLAIN}`, 403, 'scope_missing', {
      url: `${EXPLAIN}?${CLIENT}&app=other`,
      headers: { authorization: `Bearer ${key}` },
    });
    for (let made = 1; made < 20; made++) await makeKey(person);
    const payload = BODIES[`POST ${KEYS}`];
    await send(`POST ${KEYS}`, 409, 'limit_reached', { payload });
    const { identity } = service.app;
    const token = await identity?.accessTokens.issue({
      account: person.id,
      session: 'any',
      tier: 'nothing',
      startedAt: clock.now(),
    });
    const poor = { authorization: `Bearer ${token}` };
    await send(`POST ${KEYS}`, 403, 'not_entitled', { payload, headers: poor });
    await send(`GET ${ANALYTICS}`, 403, 'not_entitled', { headers: poor });
    const url = addressOf(`GET ${EXPLAIN}`);
    await send(`GET ${EXPLAIN}`, 403, 'not_entitled', { url, headers: poor });
  });

  it('the store is down or refuses: on every route', async () => {
    for (const code of ['store_unavailable', 'store_denied'] as const) {
      for (const operation of OPERATIONS.filter((name) => !MAILS.includes(name))) {
        const person = await signIn(service);
        // A refresh token of a session that nothing was done with, and a token to sign out with.
        const request = await good(operation, person);
        await underFault(code, 'all', () => ledger.produce(service, operation, 503, code, request));
      }
    }
  });

  it('the store is full or does not conform', async () => {
    for (const code of ['store_unavailable', 'store_full', 'store_nonconforming'] as const) {
      for (const operation of WRITING) {
        const request = await good(operation, await signIn(service));
        await underFault(code, ['create'], () =>
          ledger.produce(service, operation, 503, code, request),
        );
      }
      const person = await signIn(service);
      const headers = { authorization: `Bearer ${person.access}` };
      await underFault(code, ['create'], () =>
        ledger.produce(service, LOGOUT, 503, code, { headers, payload: { scope: 'global' } }),
      );
    }
  });

  it('a write whose answer was lost is not reported as "unknown"', async () => {
    const lost = { when: 'after', reason: 'private' } as const;
    const requests = [`PATCH ${ACCOUNT}`, `DELETE ${SESSIONS}`, LOGOUT];
    for (const operation of requests) {
      const person = await signIn(service);
      const request = await good(operation, person);
      const global = operation === LOGOUT ? { payload: { scope: 'global' } } : {};
      store.setPlan(({ method, key }) =>
        // Nor does it say afterwards what is there.
        key.startsWith(`accounts/${person.id}/2`) && (method === 'create' || method === 'get')
          ? lost
          : undefined,
      );
      await ledger.produce(service, operation, 503, 'store_unavailable', { ...request, ...global });
      store.setPlan(undefined);
    }
  });

  it('documents of a newer Slipway, and corrupt ones', async () => {
    const newer = renderEnvelope({ schema_version: 2 });
    const put = async (key: string, bytes: Uint8Array = newer) =>
      void (await inner.create(key, bytes));
    const send = async (operation: string, code: ErrorCode, person: Person, request = {}) =>
      ledger.produce(service, operation, 503, code, {
        ...(await good(operation, person)),
        ...request,
      });
    const person = await signIn(service);
    await put(`accounts/${person.id}/2.json`);
    for (const operation of [
      `GET ${ACCOUNT}`,
      `PATCH ${ACCOUNT}`,
      `DELETE ${ACCOUNT}`,
      CHANGE_PASSWORD,
      `DELETE ${SESSIONS}`,
      `POST ${KEYS}`,
      `GET ${BILLING}`,
      `POST ${PORTAL}`,
      LOGIN,
      REFRESH,
    ]) {
      await send(operation, 'document_newer', person);
    }
    await send(LOGOUT, 'document_newer', person, { payload: { scope: 'global' } });
    const bearer = { authorization: `Bearer ${person.access}` };
    for (const [operation, url] of [
      [END_ONE, `${SESSIONS}/any`],
      [REVOKE, `${KEYS}/0123456789abcdef`],
    ] as const) {
      await ledger.produce(service, operation, 503, 'document_newer', { url, headers: bearer });
    }
    for (const [code, bytes] of [
      ['document_newer', newer],
      ['document_corrupt', Buffer.from('{')],
    ] as const) {
      const other = await signIn(service);
      await put(`sessions/${other.id}/another/1.json`, bytes);
      const key = `developer-keys/${other.id}/${(await makeKey(other)).id}/1.json`;
      await inner.delete(key);
      await put(key, bytes);
      for (const operation of [`GET ${SESSIONS}`, `GET ${KEYS}`]) {
        if (code === 'document_newer') await send(operation, code, other);
        // A list shows the others.
        else {
          const url = operation.slice('GET '.length);
          const { statusCode } = await service.app.http.inject({
            url,
            headers: { authorization: `Bearer ${other.access}` },
          });
          expect([operation, statusCode]).toEqual([operation, 200]);
        }
      }
      // An unreadable session must not prevent its owner from ending all sessions.
      if (code === 'document_corrupt') {
        const body = { refresh_token: other.refresh };
        const { status } = await logOut(service, { scope: 'global', body });
        if (status !== 204) throw new Error(`signing out everywhere is ${status}`);
      }
    }
  });

  it('the identity provider fails', async () => {
    gotrue.answerWith((_request, response) => response.writeHead(500).end());
    for (const operation of [REGISTER, LOGIN, ...MAILS]) {
      const payload = BODIES[operation];
      await ledger.produce(mailed, operation, 503, 'identity_provider_unavailable', { payload });
    }
    const user = { id: 'user-1', email: 'ada@example.com', email_confirmed_at: '2026-01-01' };
    gotrue.answerJson({ access_token: 'token', user });
    const { access } = await signIn(mailed, { email: user.email });
    const request = {
      headers: { authorization: `Bearer ${access}` },
      payload: BODIES[`DELETE ${ACCOUNT}`],
    };
    const erase = (status: number, code: ErrorCode) =>
      ledger.produce(mailed, `DELETE ${ACCOUNT}`, status, code, request);
    gotrue.answerWith((_request, response) => response.writeHead(500).end());
    await erase(503, 'identity_provider_unavailable');
    gotrue.answerWith((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error_code":"email_not_confirmed"}');
    });
    await erase(403, 'email_not_verified');
    // The address is another user's by now.
    gotrue.answerJson({ access_token: 'token', user: { ...user, id: 'user-2' } });
    await erase(401, 'invalid_credentials');
    gotrue.answerJson({ access_token: 'token', user });
    const asked = { bearer: access, body: request.payload };
    expect((await ask(mailed, 'DELETE', ACCOUNT, asked)).status).toBe(204);
    expect((await ask(mailed, 'GET', ACCOUNT, { bearer: access })).status).toBe(401);
  });

  it('overloaded: too many passwords wait to be hashed', async () => {
    const people = Array.from({ length: 80 }, newEmail);
    const owners = await Promise.all(Array.from({ length: 8 }, () => signIn(service)));
    const storm = people.map((email) => logIn(service, { email }));
    const busy = (operation: string) =>
      ledger.produce(service, operation, 503, 'overloaded', {
        payload: { ...BODIES[operation], email: newEmail() },
      });
    // Once the first of the storm have been turned away, the queue is full.
    await Promise.race(
      storm.map(async (answer) => {
        if ((await answer).status !== 503) await new Promise(() => {});
      }),
    );
    const someOwners = (operation: string) =>
      Promise.any(
        owners.map(async (owner) => {
          const request = await good(operation, owner);
          await ledger.produce(service, operation, 503, 'overloaded', request);
        }),
      );
    const byOwners = [`DELETE ${ACCOUNT}`, CHANGE_PASSWORD].map(someOwners);
    // A turn or two may come free meanwhile, and not as many as these.
    const some = (operation: string) =>
      Promise.any(Array.from({ length: 8 }, () => busy(operation)));
    await Promise.all([some(REGISTER), some(LOGIN), ...byOwners]);
    await Promise.all(storm);
  });

  it('too_many_requests: each operation, from an address above its limit', async () => {
    const strict = await createTestService({ env: { AUTH_PER_ADDRESS: '1' } });
    for (let asked = 0; asked < 600; asked++) await ask(strict, 'GET', ACCOUNT);
    await ask(strict, 'POST', `${AUTH}/login`, { body: BODIES[LOGIN] });
    for (const operation of OPERATIONS) {
      const url = addressOf(operation);
      const payload = BODIES[operation];
      const headers = { authorization: 'Bearer invented' };
      const request = { url, headers, ...(payload === undefined ? {} : { payload }) };
      await ledger.produce(strict, operation, 429, 'too_many_requests', request);
    }
    await strict.close();
  });

  it('are exactly those that the public document lists for auth', async () => {
    ledger.expectDocumented((await get(service, '/openapi.json')).body, ['auth']);
  });

  it('are exactly those that the signed-in document lists', async () => {
    const { access } = await signIn(service);
    const { body } = await ask(service, 'GET', SIGNED_IN_DOCUMENT, { bearer: access });
    const tags = body.tags.map(({ name }: { name: string }) => name);
    ledger.expectDocumented(body, tags);
  });
});
