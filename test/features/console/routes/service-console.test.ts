import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { release } from '../../../server/support.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  AUTH,
  ask,
  COOKIE_ENV,
  type Person,
  signIn,
  UNLIMITED,
} from '../../accounts/routes/account-support.ts';

const OVERVIEW = '/console/api/apps/desktop/overview';

/** The access token of an account of this tier. */
async function accessOf(service: TestService, tier: string): Promise<string> {
  const { id, email } = await signIn(service);
  const identity = service.app.identity;
  if (identity === undefined) throw new Error('This service has no accounts.');
  await setTier(identity, id, tier);
  return (await signIn(service, { email })).access;
}

describe('the console of the service', () => {
  let service: TestService;
  let member: Person;
  beforeAll(async () => {
    service = await createTestService({
      env: { ...UNLIMITED, TIERS: JSON.stringify({ free: [], team: ['console'] }) },
    });
    await release(service, '1.0.0', ['windows x64 nsis']);
    member = await signIn(service);
  });
  afterAll(() => service.close());

  it('is a page without data for every visitor', async () => {
    const { status, text, headers } = await ask(service, 'GET', '/console/desktop');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('data-mode="service"');
    expect(text).not.toContain('1.0.0');
  });

  it('answers accounts whose tier includes console, and no others', async () => {
    for (const [bearer, status, code] of [
      [undefined, 401, 'not_signed_in'],
      ['invented', 401, 'not_signed_in'],
      [member.access, 403, 'not_entitled'],
    ] as const) {
      for (const path of [OVERVIEW, '/console/api/start', '/console/api/apps/desktop/history']) {
        const refused = await ask(service, 'GET', path, bearer === undefined ? {} : { bearer });
        expect([refused.status, refused.body.code], path).toEqual([status, code]);
      }
    }
    const access = await accessOf(service, 'team');
    const { status, body } = await ask(service, 'GET', OVERVIEW, { bearer: access });
    expect([status, body.releases[0].version]).toEqual([200, '1.0.0']);
    const start = await ask(service, 'GET', '/console/api/start', { bearer: access });
    expect(start.body).toMatchObject({
      mode: 'service',
      mayChange: false,
      store: null,
      actor: null,
    });
  });

  it('signs in with the cookie from its own page, beside the website', async () => {
    const origin = 'https://updates.example.com';
    const own = await createTestService({ env: { ...COOKIE_ENV, PUBLIC_URL: origin } });
    try {
      const script = { 'x-slipway-request': '1' };
      const { refresh } = await signIn(own, { platform: 'web', headers: { origin } });
      const body = { platform: 'web', device: { id: 'device-1' } };
      const from = (page: string) =>
        ask(own, 'POST', `${AUTH}/refresh`, {
          body,
          cookie: refresh,
          headers: { origin: page, ...script },
        });
      expect((await from('https://updates.example.org')).status).toBe(403);
      expect((await from(origin)).status).toBe(200);
    } finally {
      await own.close();
    }
  });

  it('has no address for a change, and none for doctor', async () => {
    const access = await accessOf(service, 'team');
    const change = { kind: 'pause', version: '1.0.0', channel: null, reason: null };
    for (const path of ['apps/desktop/change', 'apps/desktop/preview', 'doctor', 'markdown']) {
      const refused = await ask(service, 'POST', `/console/api/${path}`, {
        bearer: access,
        body: { change, revision: 1 },
      });
      expect([refused.status, refused.body.code], path).toEqual([404, 'route_not_found']);
    }
    const anonymous = await ask(service, 'GET', '/console/api/nope');
    expect(anonymous.status).toBe(401);
  });
});
