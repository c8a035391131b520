import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  AUTH,
  ask,
  COOKIE_ENV,
  KEYS,
  UNLIMITED,
  WEBSITE,
} from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION, release } from '../support.ts';

const SECOND = 'http://localhost:5173';
const FOREIGN = 'https://evil.example';

/** Open to every origin: method and address. */
const OPEN = [
  ['POST', CHECK_UPDATE],
  ['GET', LATEST_VERSION],
  ['GET', `${LATEST_VERSION}?platform=amiga`],
  ['GET', `${DOWNLOAD}/windows`],
  ['GET', '/feeds/desktop/stable/electron/latest.yml'],
  ['GET', '/feeds/nothing'],
  ['GET', '/%66eeds/desktop/stable/electron/latest.yml'],
  ['GET', '/api/v1/system/status'],
  ['GET', '/api/v1/metrics/public/live'],
  ['GET', '/monitoring/health'],
  ['GET', '/monitoring/overview'],
  ['GET', '/openapi.json'],
  ['GET', '/.well-known/jwks.json'],
] as const;
/** Open to the website only. */
const OURS = [
  ['POST', `${AUTH}/register`],
  ['POST', `${AUTH}/login`],
  ['POST', `${AUTH}/refresh`],
  ['POST', `${AUTH}/logout`],
  ['POST', `${AUTH}/request-reset`],
  ['GET', ACCOUNT],
  ['PATCH', ACCOUNT],
  ['DELETE', ACCOUNT],
  ['POST', `${ACCOUNT}/password`],
  ['GET', `${ACCOUNT}/sessions`],
  ['DELETE', `${KEYS}/0123456789abcdef`],
  ['GET', KEYS],
  ['GET', '/api/v1/billing'],
  ['POST', '/api/v1/portal/session'],
  ['GET', '/api/v1/analytics/releases'],
  ['GET', '/api/v1/desktop/explain?version=1.0.0&platform=windows&arch=x64'],
  ['GET', '/api/v1/desktop/%65xplain?version=1.0.0&platform=windows&arch=x64'],
  ['GET', '/%61pi/v1/openapi.json'],
  ['POST', '/api/v1/contact'],
  ['GET', '/api/v1/nothing'],
] as const;
/** Closed to every page. */
const CLOSED = [
  ['GET', '/files/apps/desktop/x'],
  ['GET', '/livez'],
  ['GET', '/readyz'],
  ['GET', '/docs'],
  ['GET', '/'],
  ['GET', '/metrics'],
  ['GET', '/nothing'],
  // These addresses only look like the address of a route.
  ['GET', '/%2561pi/v1/account'],
  ['GET', '//api/v1/account'],
  ['GET', '/API/v1/account'],
] as const;

describe('routes that a page may call from a browser', () => {
  let service: TestService;
  let plain: TestService;

  beforeAll(async () => {
    const env = { ...COOKIE_ENV, WEBSITE_ORIGINS: `${WEBSITE} ${SECOND}` };
    [service, plain] = await Promise.all([
      createTestService({ env }),
      createTestService({ env: UNLIMITED }),
    ]);
    await release(service, '1.0.0', ['windows x64 nsis']);
  });
  afterAll(() => Promise.all([service.close(), plain.close()]));

  const preflight = (url: string, origin: string, method: string, headers = 'content-type') =>
    ask(service, 'OPTIONS', url, {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': headers,
      },
    });
  const ALLOWED = 'access-control-allow-origin';
  const CREDENTIALS = 'access-control-allow-credentials';

  it.each(OPEN)('every origin, without credentials: %s %s', async (method, url) => {
    for (const origin of [WEBSITE, FOREIGN, 'null']) {
      for (const answer of [
        await ask(service, method, url, { headers: { origin } }),
        await preflight(url, origin, method),
      ]) {
        expect(answer.headers[ALLOWED]).toBe('*');
        expect(answer.headers[CREDENTIALS]).toBeUndefined();
      }
    }
    const { status, headers } = await preflight(url, FOREIGN, method);
    expect(status).toBe(204);
    expect(headers['access-control-allow-methods']).toMatch(method);
  });

  it.each(OURS)('the website, with credentials: %s %s', async (method, url) => {
    for (const origin of [WEBSITE, SECOND]) {
      const { headers } = await ask(service, method, url, { headers: { origin } });
      expect(headers[ALLOWED]).toBe(origin);
      expect(headers[CREDENTIALS]).toBe('true');
      expect(headers['access-control-expose-headers']).toMatch(/retry-after.*x-request-id/);
      // Otherwise a cache could send the answer for one origin to another.
      expect(headers.vary).toMatch(/Origin/);
      const asked = await preflight(url, origin, method, 'authorization,x-slipway-request');
      expect(asked.status).toBe(204);
      expect(asked.headers[ALLOWED]).toBe(origin);
      expect(asked.headers[CREDENTIALS]).toBe('true');
      expect(asked.headers['access-control-allow-methods']).toContain(method);
      const allowed = String(asked.headers['access-control-allow-headers']);
      for (const header of ['authorization', 'content-type', 'idempotency-key']) {
        expect(allowed).toContain(header);
      }
      expect(allowed).toContain('x-slipway-request');
      expect(allowed).not.toContain('*');
    }
  });

  it.each(OURS)('and no other page: %s %s', async (method, url) => {
    for (const origin of [
      FOREIGN,
      'null',
      `${WEBSITE}.evil.example`,
      'http://www.example.com',
      'https://sub.www.example.com',
      'https://www.example.com:444',
      'http://localhost:5174',
      'http://localhost',
    ]) {
      for (const answer of [
        await ask(service, method, url, { headers: { origin } }),
        await preflight(url, origin, method),
      ]) {
        expect(answer.headers[ALLOWED], origin).toBeUndefined();
        expect(answer.headers.vary).toMatch(/Origin/);
      }
    }
  });

  it.each(CLOSED)('no origin: %s %s', async (method, url) => {
    for (const origin of [WEBSITE, FOREIGN]) {
      for (const answer of [
        await ask(service, method, url, { headers: { origin } }),
        await preflight(url, origin, method),
      ]) {
        expect(answer.headers[ALLOWED]).toBeUndefined();
        expect(answer.headers[CREDENTIALS]).toBeUndefined();
      }
    }
  });

  it('without WEBSITE_ORIGINS, no page may sign in', async () => {
    for (const [method, url] of OURS) {
      const { headers } = await ask(plain, method, url, { headers: { origin: WEBSITE } });
      expect(headers[ALLOWED]).toBeUndefined();
      expect(headers[CREDENTIALS]).toBeUndefined();
    }
    const open = await ask(plain, 'GET', LATEST_VERSION, { headers: { origin: FOREIGN } });
    expect(open.headers[ALLOWED]).toBe('*');
  });

  it('an OPTIONS that is not a preflight gets a problem document or an empty answer', async () => {
    for (const [, url] of [...OPEN, ...OURS, ...CLOSED]) {
      for (const headers of [{}, { origin: WEBSITE }, { 'access-control-request-method': 'GET' }]) {
        const answer = await ask(service, 'OPTIONS', url, { headers: headers as never });
        expect([204, 404, 405], `${url} ${answer.text}`).toContain(answer.status);
        if (answer.status === 404) expect(answer.body.code).toBe('route_not_found');
      }
    }
  });
});

describe('a page of an origin outside WEBSITE_ORIGINS', () => {
  it('is logged once, with a remedy', async () => {
    const log: string[] = [];
    const env = { ...COOKIE_ENV, PUBLIC_URL: 'https://updates.example.com' };
    const service = await createTestService({ env, log });
    const visit = (origin: string, url: string, method = 'POST') =>
      ask(service, method as 'POST', url, { headers: { origin } });
    for (let n = 0; n < 3; n++) {
      await visit(FOREIGN, `${AUTH}/login`);
      await visit(FOREIGN, '/api/v1/contact', 'OPTIONS');
    }
    // Allowed origins, and routes open to every page.
    await visit(WEBSITE, `${AUTH}/login`);
    await visit('https://updates.example.com', `${AUTH}/login`);
    await visit('https://elsewhere.example', CHECK_UPDATE);
    const refused = () =>
      log.map((line) => JSON.parse(line)).filter(({ level, origin }) => level === 40 && origin);
    expect(refused()).toMatchObject([
      { origin: FOREIGN, msg: expect.stringContaining('add its origin to WEBSITE_ORIGINS') },
    ]);
    for (let n = 0; n < 100; n++) await visit(`https://${n}.${'x'.repeat(900)}`, ACCOUNT, 'GET');
    expect(refused()).toHaveLength(20);
    for (const line of log) expect(line.length).toBeLessThan(1_000);
    await service.close();
  });
});
