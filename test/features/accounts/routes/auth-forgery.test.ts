import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Identity } from '../../../../src/features/accounts/identity.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  AUTH,
  ask,
  BILLING,
  COOKIE_ENV,
  KEYS,
  logIn,
  logOut,
  PASSWORD,
  type Person,
  PORTAL,
  refresh,
  refreshByCookie,
  register,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  WEBSITE,
} from './account-support.ts';

const SECOND = 'https://admin.example.com:8443';
const ENV = {
  ...COOKIE_ENV,
  WEBSITE_ORIGINS: `${WEBSITE}, ${SECOND}`,
  BILLING_PORTAL_URL: 'https://billing.example.com/portal',
  TIERS: JSON.stringify({ free: ['developer_keys', 'analytics'] }),
};

/** Nearly the website's. */
const FOREIGN_ORIGINS = [
  'null',
  '',
  '*',
  'https://evil.example',
  'http://www.example.com',
  'https://www.example.com:8443',
  'https://www.example.com:443',
  'https://www.example.com/',
  'https://www.example.com.evil.example',
  'https://evilwww.example.com',
  'https://www.example.com@evil.example',
  'https://evil.example#https://www.example.com',
  'https://sub.www.example.com',
  'https://example.com',
  'https://WWW.example.com',
  'https://www.example.com, https://evil.example',
  `${WEBSITE} ${SECOND}`,
  'https://www-example.com',
  'https://wwwxexample.com',
  'https://admin.example.com',
  'file://',
];

let service: TestService;
beforeAll(async () => {
  service = await createTestService({ env: ENV });
});
afterAll(() => service.close());

describe('a page of another site', () => {
  const script = { 'x-slipway-request': '1' };

  it.each([WEBSITE, SECOND])('the website itself, at %s, may', async (origin) => {
    const person = await signIn(service, { platform: 'web', headers: { origin } });
    const headers = { origin, ...script };
    const answer = await refreshByCookie(service, person, person.refresh, headers);
    expect(answer.status).toBe(200);
  });

  it.each(FOREIGN_ORIGINS)(
    'cannot sign a visitor in, refresh or sign out from %j',
    async (origin) => {
      const person = await signIn(service, { platform: 'web', headers: { origin: WEBSITE } });
      const login = await logIn(service, {
        email: person.email,
        platform: 'web',
        headers: { origin, ...script },
      });
      const headers = { origin, ...script };
      const refreshed = await refreshByCookie(service, person, person.refresh, headers);
      const out = await logOut(service, { cookie: person.refresh, headers });
      for (const answer of [login, refreshed, out]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'request_forgery' } });
        expect(answer.setCookie).toBeUndefined();
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
      const own = { origin: WEBSITE, ...script };
      expect((await refreshByCookie(service, person, person.refresh, own)).status).toBe(200);
    },
  );

  it('a request without Origin, or without the header of an own script, is refused as well', async () => {
    const person = await signIn(service, { platform: 'web', headers: { origin: WEBSITE } });
    for (const headers of [{}, script, { origin: WEBSITE }, { referer: WEBSITE, ...script }]) {
      const { status, body, setCookie } = await refreshByCookie(
        service,
        person,
        person.refresh,
        headers as Record<string, string>,
      );
      expect([status, body.code, setCookie]).toEqual([403, 'request_forgery', undefined]);
      const out = await logOut(service, { cookie: person.refresh, headers: headers as never });
      expect(out.body.code).toBe('request_forgery');
    }
    expect((await logIn(service, { email: person.email, platform: 'web' })).status).toBe(403);
  });

  it('is refused before the password is checked or counted', async () => {
    const email = await register(service);
    const headers = { origin: 'https://evil.example' };
    for (let guess = 0; guess < 10; guess++) {
      const answer = await logIn(service, { email, platform: 'web', headers, password: 'guess' });
      expect(answer.body.code).toBe('request_forgery');
    }
    expect((await logIn(service, { email })).status).toBe(200);
  });

  it('cannot use a form: the routes accept JSON only', async () => {
    const person = await signIn(service, { platform: 'web', headers: { origin: WEBSITE } });
    const body = JSON.stringify({ scope: 'global' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { 'content-type': type, origin: WEBSITE, ...script };
      for (const path of ['login', 'register', 'refresh', 'logout']) {
        const asked = { body, headers, cookie: person.refresh };
        const answer = await ask(service, 'POST', `${AUTH}/${path}`, asked);
        expect(answer.status, `${path} ${type}`).toBe(415);
      }
    }
  });

  it('gains nothing from the cookie on other routes: none of them accepts it', async () => {
    const person = await signIn(service, { platform: 'web', headers: { origin: WEBSITE } });
    const headers = { origin: WEBSITE, ...script };
    for (const [method, url] of SIGNED_IN_ROUTES) {
      const { status } = await ask(service, method, url, { cookie: person.refresh, headers });
      expect(status, `${method} ${url}`).toBe(401);
    }
  });
});

const SIGNED_IN_ROUTES = [
  ['GET', ACCOUNT],
  ['GET', SESSIONS],
  ['DELETE', SESSIONS],
  ['DELETE', `${SESSIONS}/x`],
  ['GET', KEYS],
  ['DELETE', `${KEYS}/0123456789abcdef`],
  ['GET', ANALYTICS],
  ['GET', BILLING],
  ['POST', PORTAL],
  ['GET', SIGNED_IN_DOCUMENT],
] as const;

describe('a token in the wrong place', () => {
  let person: Person;
  let developerKey: string;
  let portalToken: string;

  beforeAll(async () => {
    person = await signIn(service);
    const body = { name: 'CI', scopes: [{ application: 'desktop', access: 'publish' }] };
    developerKey = (await ask(service, 'POST', KEYS, { bearer: person.access, body })).body.key;
    const portal = await ask(service, 'POST', PORTAL, { bearer: person.access });
    portalToken = new URL(portal.body.url).searchParams.get('token') ?? '';
  });

  const expectNowhere = async (token: string): Promise<void> => {
    for (const [method, url] of SIGNED_IN_ROUTES) {
      const answer = await ask(service, method, url, { bearer: token });
      expect(answer.status, `${method} ${url}`).toBe(401);
      expect(answer.body.code).toBe('not_signed_in');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    const patch = await ask(service, 'PATCH', ACCOUNT, { bearer: token, body: { name: 'x' } });
    expect(patch.status).toBe(401);
    const erase = { bearer: token, body: { password: PASSWORD } };
    expect((await ask(service, 'DELETE', ACCOUNT, erase)).status).toBe(401);
    const change = { bearer: token, body: { password: PASSWORD, new_password: PASSWORD } };
    expect((await ask(service, 'POST', `${ACCOUNT}/password`, change)).status).toBe(401);
    const create = { name: 'k', scopes: [{ application: 'desktop', access: 'read' }] };
    expect((await ask(service, 'POST', KEYS, { bearer: token, body: create })).status).toBe(401);
    expect((await ask(service, 'GET', ACCOUNT, { bearer: person.access })).status).toBe(200);
  };

  it('a refresh token is no access token', () => expectNowhere(person.refresh));
  it('a portal token is no access token', () => expectNowhere(portalToken));

  it('a developer key is no access token: it opens metrics, and no account', async () => {
    for (const [method, url] of SIGNED_IN_ROUTES.filter(([, path]) => path !== ANALYTICS)) {
      const answer = await ask(service, method, url, { bearer: developerKey });
      expect([answer.status, answer.body.code], `${method} ${url}`).toEqual([401, 'not_signed_in']);
    }
    for (const forged of [
      `${developerKey}x`,
      developerKey.slice(0, -1),
      `${developerKey.slice(0, -4)}AAAA`,
      'slk_',
      `slk_${person.id}_0123456789abcdef_${'A'.repeat(43)}`,
    ]) {
      const { status } = await ask(service, 'GET', ANALYTICS, { bearer: forged });
      expect(status, forged).toBe(401);
    }
  });

  it('an access token, a portal token and a developer key are no refresh tokens', async () => {
    for (const token of [person.access, portalToken, developerKey, PASSWORD]) {
      const answer = await refresh(service, person, token);
      expect(answer).toMatchObject({ status: 401, body: { code: 'session_ended' } });
      expect((await logOut(service, { body: { refresh_token: token } })).status).toBe(204);
    }
    // None of them ended anything.
    expect((await refresh(service, person, person.refresh)).status).toBe(200);
  });

  it('the algorithm in the header of a token is not trusted', async () => {
    const [header = '', payload = '', signature = ''] = person.access.split('.');
    const json = JSON.parse(atob(header));
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const { body } = await ask(service, 'GET', '/.well-known/jwks.json');
    const publicKey = Buffer.from(body.keys[0].x, 'base64url');
    const signed = (alg: string, change: object = {}) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ ...json, alg }).sign(publicKey);
    for (const forged of [
      `${encode({ ...json, alg: 'none' })}.${payload}.`,
      `${encode({ ...json, alg: 'none' })}.${payload}.${signature}`,
      // The public key as an HMAC's secret.
      await signed('HS256'),
      `${header}.${encode({ ...claims, sub: 'somebody else' })}.${signature}`,
      `${header}.${encode({ ...claims, tier: 'pro' })}.${signature}`,
      `${encode({ ...json, kid: 'other' })}.${payload}.${signature}`,
      `${encode({ ...json, jwk: body.keys[0] })}.${payload}.${signature}`,
      `${encode({ ...json, crit: ['exp'] })}.${payload}.${signature}`,
      `${header}.${payload}`,
      `${header}..${signature}`,
      `${person.access}.`,
      `${person.access}=`,
      `${person.access}${'A'.repeat(5_000)}`,
      `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    ]) {
      const { status } = await ask(service, 'GET', ACCOUNT, { bearer: forged });
      expect(status, forged).toBe(401);
    }
  });

  it('a token that this service signed for another purpose is refused', async () => {
    const { signingKeys: keys } = service.app.identity as Identity;
    const claims = JSON.parse(
      Buffer.from(person.access.split('.')[1] ?? '', 'base64url').toString(),
    );
    const statusOf = async (change: object, header: object = {}) => {
      const token = await new SignJWT({ ...claims, ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: keys.signing.kid, ...header })
        .sign(keys.signing.key);
      return (await ask(service, 'GET', KEYS, { bearer: token })).status;
    };
    expect(await statusOf({})).toBe(200);
    for (const typ of ['JWT', 'portal+jwt', 'id+jwt', undefined]) {
      expect(await statusOf({}, { typ }), String(typ)).toBe(401);
    }
    for (const change of [
      { aud: ENV.BILLING_PORTAL_URL },
      { aud: undefined },
      { iss: 'urn:other' },
      { sub: undefined },
      { sid: undefined },
      { sid: 7 },
      { tier: undefined },
      { tier: ['pro'] },
      { exp: undefined },
      { exp: claims.iat - 60 },
      { nbf: claims.iat + 3_600 },
      { iat: undefined },
    ]) {
      expect(await statusOf(change), JSON.stringify(change)).toBe(401);
    }
  });

  it('a token of another service with the same format is refused', async () => {
    const other = await createTestService({ env: ENV });
    const stranger = await signIn(other);
    await expectNowhere(stranger.access);
    expect((await refresh(service, stranger, stranger.refresh)).status).toBe(401);
    await other.close();
  });

  it('a token of this service for another address is refused', async () => {
    const keys = JSON.stringify({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          kid: 'shared',
          // RFC 8037, appendix A.1.
          d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        },
      ],
    });
    const open = (address: string) =>
      createTestService({ env: { ...ENV, ACCESS_TOKEN_KEYS: keys, PUBLIC_URL: address } });
    const [one, two] = await Promise.all([
      open('https://one.example.com'),
      open('https://two.example.com'),
    ]);
    const { access } = await signIn(one);
    expect((await ask(one, 'GET', BILLING, { bearer: access })).status).toBe(200);
    expect((await ask(two, 'GET', KEYS, { bearer: access })).status).toBe(401);
    await Promise.all([one.close(), two.close()]);
  });

  it('Authorization is parsed exactly as RFC 6750 says', async () => {
    const { access } = person;
    const send = async (authorization: string) =>
      (await ask(service, 'GET', KEYS, { headers: { authorization } })).status;
    for (const good of [`Bearer ${access}`, `bearer ${access}`, `BEARER   ${access} `]) {
      expect(await send(good), good).toBe(200);
    }
    for (const bad of [
      access,
      'Bearer',
      'Bearer ',
      `Bearer,${access}`,
      `Bearer\t${access}`,
      `Bearer ${access}, Bearer ${access}`,
      `Bearer "${access}"`,
      `Basic ${btoa(`${person.email}:${PASSWORD}`)}`,
      `Token ${access}`,
      `XBearer ${access}`,
      `Bearer Bearer ${access}`,
    ]) {
      expect(await send(bad), bad).toBe(401);
    }
    for (const elsewhere of [`?access_token=${access}`, `?token=${access}`]) {
      expect((await ask(service, 'GET', `${KEYS}${elsewhere}`)).status).toBe(401);
    }
  });
});
