import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check, DOWNLOAD, get, LATEST_VERSION, release } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ANALYTICS,
  AUTH,
  ask,
  BILLING,
  comparable,
  JWKS,
  KEYS,
  PASSWORD,
  PORTAL,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const DEVICE = { id: 'd', name: 'n' };
const EMAIL = 'ada@example.com';
const SCOPES = [{ application: 'desktop', access: 'read' }];
const ROUTES: readonly (readonly [string, string, object?])[] = [
  ['POST', `${AUTH}/register`, { email: EMAIL, password: PASSWORD }],
  ['POST', `${AUTH}/login`, { email: EMAIL, password: PASSWORD, platform: 'web', device: DEVICE }],
  ['POST', `${AUTH}/refresh`, { refresh_token: 'x', platform: 'web', device: DEVICE }],
  ['POST', `${AUTH}/logout`, { scope: 'local' }],
  ['POST', `${AUTH}/request-reset`, { email: EMAIL }],
  ['POST', `${AUTH}/resend-verification`, { email: EMAIL }],
  ['GET', ACCOUNT],
  ['PATCH', ACCOUNT, { name: 'Ada' }],
  ['DELETE', ACCOUNT, { password: PASSWORD }],
  ['POST', `${ACCOUNT}/password`, { password: PASSWORD, new_password: PASSWORD }],
  ['GET', SESSIONS],
  ['DELETE', SESSIONS],
  ['DELETE', `${SESSIONS}/x`],
  ['GET', KEYS],
  ['POST', KEYS, { name: 'k', scopes: SCOPES }],
  ['DELETE', `${KEYS}/0123456789abcdef`],
  ['GET', ANALYTICS],
  ['GET', BILLING],
  ['POST', PORTAL],
  ['GET', SIGNED_IN_DOCUMENT],
  ['GET', JWKS],
];

describe('without accounts', () => {
  let off: TestService;
  let production: TestService;
  const tiers = JSON.stringify({ free: [], pro: ['channel:desktop/insider'] });

  beforeAll(async () => {
    [off, production] = await Promise.all([
      createTestService({ env: { IDENTITY_PROVIDER: 'off', TIERS: tiers, COOKIE_MODE: 'false' } }),
      createTestService({
        env: { NODE_ENV: 'production', PUBLIC_URL: 'https://updates.example.com' },
      }),
    ]);
    await release(off, '2.0.0', ['windows x64 nsis']);
    await release(off, '3.0.0', ['windows x64 nsis'], { channel: 'insider' });
  });
  afterAll(() => Promise.all([off.close(), production.close()]));

  it.each(ROUTES.map(([method, url, body]) => ({ method, url, body })))(
    '$method $url reports that accounts are off',
    async ({ method, url, body }) => {
      for (const service of [off, production]) {
        for (const headers of [{}, { authorization: 'Bearer x.y.z' }, { cookie: 'a=b' }]) {
          const answer = await ask(service, method, url, { body, headers: headers as never });
          expect(answer.status).toBe(501);
          expect(answer.body).toMatchObject({
            code: 'not_configured',
            detail: expect.stringMatching(/IDENTITY_PROVIDER is off/),
          });
          expect(answer.headers['cache-control']).toBe('no-store');
          expect(answer.headers['retry-after']).toBeUndefined();
          expect(answer.setCookie).toBeUndefined();
        }
      }
    },
  );

  it('all other routes work, with and without a token', async () => {
    expect(await check(off, {})).toMatchObject({
      status: 200,
      body: { update_available: true, version: '2.0.0' },
    });
    const headers = { authorization: 'Bearer x.y.z' };
    for (const url of [
      LATEST_VERSION,
      `${DOWNLOAD}/windows`,
      '/feeds/desktop/stable/electron/latest.yml',
      '/api/v1/system/status',
      '/monitoring/overview',
      '/openapi.json',
    ]) {
      expect((await get(off, url)).status, url).toBeLessThan(400);
      expect((await get(off, url, headers)).status, url).toBeLessThan(400);
    }
    // No client can use a channel that requires a tier then.
    const insider = `${LATEST_VERSION}?channel=insider`;
    expect((await get(off, insider, headers)).body.code).toBe('not_entitled');
    expect((await check(off, { channel: 'insider' })).body.reason).toBe('not_entitled');
  });

  it('writes no document of accounts', async () => {
    const names = await readdir(`${off.config.dataDirectory}/secrets`);
    expect(names).toEqual(['url-signing-secret']);
  });
});

describe('an unknown address', () => {
  let service: TestService;
  let off: TestService;

  beforeAll(async () => {
    [service, off] = await Promise.all([
      createTestService({ env: UNLIMITED }),
      createTestService({ env: { IDENTITY_PROVIDER: 'off' } }),
    ]);
  });
  afterAll(() => Promise.all([service.close(), off.close()]));

  it('is the same plain 404 with and without a session', async () => {
    const { access } = await signIn(service);
    const paths = [
      '/api/v1/trading',
      '/api/v1/trading/orders?limit=1',
      '/api/v1/portfolio',
      '/api/v1/vault',
      '/api/v1/vault/secrets',
      '/api/v1/admin',
      '/api/v1/admin/accounts',
      '/api/v1/account/admin',
      '/api/v1/auth',
      '/api/v1/auth/session',
      '/api/v1/developer-keys/x/y',
      '/api/v1/5f0c2d1e',
      '/api/v2/account',
      '/api/v1/account/',
      '/.well-known/openid-configuration',
    ];
    const answers = [];
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        for (const [to, bearer] of [
          [service, undefined],
          [service, access],
          [service, 'x.y.z'],
          [off, undefined],
        ] as const) {
          const asked = bearer === undefined ? {} : { bearer };
          answers.push({ path, method, ...comparable(await ask(to, method, path, asked)) });
        }
      }
    }
    const isOpen = (path: string) => path.startsWith('/.well-known');
    for (const { path, method, ...answer } of answers) {
      const { headers, ...rest } = answer;
      const [first] = answers;
      expect(rest, `${method} ${path}`).toEqual({ status: 404, content: first?.content });
      // Apart from who may read it, which is so for every address below it.
      if (!isOpen(path)) expect(headers, `${method} ${path}`).toEqual(first?.headers);
    }
    const { body } = await ask(service, 'GET', '/api/v1/vault');
    expect(Object.keys(body).sort()).toEqual(
      ['code', 'detail', 'request_id', 'status', 'title', 'type'].sort(),
    );
    expect(JSON.stringify(body)).not.toMatch(/vault/);
  });
});
