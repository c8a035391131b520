import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setTier } from '../../../../src/features/accounts/accounts/change-account.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION, release } from '../../../server/support.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  ask,
  BILLING,
  KEYS,
  type Person,
  refresh,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const TIERS = {
  free: [],
  pro: ['developer_keys', 'channel:desktop/insider'],
  team: ['developer_keys', 'analytics', 'channel:desktop/insider'],
};

describe('the tier of an account', () => {
  const clock = createHastyClock();
  let service: TestService;
  let person: Person;

  beforeAll(async () => {
    service = await createTestService({
      env: { ...UNLIMITED, TIERS: JSON.stringify(TIERS) },
      clock,
    });
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis'], { channel: 'insider' });
  });
  beforeEach(async () => {
    person = await signIn(service);
  });
  afterAll(() => service.close());

  /** The tier that the next refresh states. */
  const tierAfterRefresh = async (): Promise<{ tier: string; access: string }> => {
    const { body } = await refresh(service, person, person.refresh);
    person = { ...person, refresh: body.refresh_token };
    return { tier: body.account.tier, access: body.access_token };
  };
  const billingOf = async (bearer: string) => (await ask(service, 'GET', BILLING, { bearer })).body;

  it('is the first of the table until an admin sets another one, which the next refresh returns', async () => {
    expect(person.answer.body.account.tier).toBe('free');
    await setTier(service, person.id, 'pro');
    // Money was paid: the page about it does not wait for the token.
    expect(await billingOf(person.access)).toEqual({
      tier: 'pro',
      opens: TIERS.pro,
      tiers: [
        { tier: 'free', opens: [] },
        { tier: 'pro', opens: TIERS.pro },
        { tier: 'team', opens: TIERS.team },
      ],
      portal: false,
    });
    expect((await ask(service, 'GET', ACCOUNT, { bearer: person.access })).body.tier).toBe('pro');
    const body = { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] };
    const before = await ask(service, 'POST', KEYS, { bearer: person.access, body });
    expect(before).toMatchObject({ status: 403, body: { code: 'not_entitled' } });
    const { tier, access } = await tierAfterRefresh();
    expect(tier).toBe('pro');
    expect((await ask(service, 'POST', KEYS, { bearer: access, body })).status).toBe(201);
    await setTier(service, person.id, null);
    expect((await tierAfterRefresh()).tier).toBe('free');
  });

  it('a tier that is not (or no longer) in the table counts as the first', async () => {
    await setTier(service, person.id, 'platinum');
    expect((await tierAfterRefresh()).tier).toBe('free');
    expect((await billingOf(person.access)).tier).toBe('free');
  });

  describe('opens a channel', () => {
    const answersTo = async (authorization?: string) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const body = {
        current_version: '1.0.0',
        platform: 'windows',
        arch: 'x64',
        channel: 'insider',
      };
      const asked = await ask(service, 'POST', CHECK_UPDATE, { body, headers });
      const status = async (url: string) => (await ask(service, 'GET', url, { headers })).status;
      return {
        offered: asked.body.version ?? asked.body.reason,
        latest: await status(`${LATEST_VERSION}?channel=insider`),
        download: await status(`${DOWNLOAD}/windows?channel=insider`),
        electron: await status('/feeds/desktop/insider/electron/latest.yml'),
        tauri: await status('/feeds/desktop/insider/tauri/windows/x86_64/1.0.0'),
        file: await status('/feeds/desktop/insider/electron/2.0.0/App-2.0.0-windows-x64.nsis'),
      };
    };
    // What a Tauri release lacks here is its signature: said only to who may know of it.
    const OPEN = { offered: '2.0.0', latest: 200, download: 302, electron: 200, file: 302 };
    const CLOSED = {
      offered: 'not_entitled',
      latest: 403,
      download: 403,
      electron: 403,
      tauri: 403,
      file: 403,
    };

    it('to its access tokens, on every route, and to no other client', async () => {
      expect(await answersTo()).toEqual(CLOSED);
      expect(await answersTo(`Bearer ${person.access}`)).toEqual(CLOSED);
      await setTier(service, person.id, 'team');
      const { access } = await tierAfterRefresh();
      const open = await answersTo(`Bearer ${access}`);
      expect(open).toMatchObject(OPEN);
      expect(open.tauri).not.toBe(403);
      // The older token is what it was.
      expect(await answersTo(`Bearer ${person.access}`)).toEqual(CLOSED);
    });

    it('not to an expired or forged token, which counts as none and is not an error', async () => {
      await setTier(service, person.id, 'pro');
      const { access } = await tierAfterRefresh();
      const [header = '', payload = '', signature = ''] = access.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9e9 })).toString('base64url');
      for (const bad of [
        `Bearer ${header}.${forged}.${signature}`,
        `Bearer ${person.refresh}`,
        `Bearer ${access.slice(0, -3)}`,
        `Basic ${access}`,
        'Bearer',
        'Bearer nonsense',
        '',
        'x'.repeat(8_000),
      ]) {
        expect(await answersTo(bad), bad.slice(0, 40)).toEqual(CLOSED);
      }
      expect(await answersTo(`Bearer ${access}`)).toMatchObject(OPEN);
      clock.advance(610_000);
      expect(await answersTo(`Bearer ${access}`)).toEqual(CLOSED);
    });

    it('not to a developer key, nor to the cookie', async () => {
      await setTier(service, person.id, 'pro');
      const { access } = await tierAfterRefresh();
      const body = { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] };
      const { key } = (await ask(service, 'POST', KEYS, { bearer: access, body })).body;
      expect(await answersTo(`Bearer ${key}`)).toEqual(CLOSED);
    });
  });
});
