import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setTier } from '../../../src/identity/accounts/change-account.ts';
import { createMemoryStore } from '../../../src/object-store/memory.ts';
import { changeRollout } from '../../../src/operations/change-rollout.ts';
import { changeStatus } from '../../../src/operations/change-status.ts';
import { systemClock } from '../../../src/system.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, get, release } from '../support.ts';
import {
  ask,
  EXPLAIN,
  KEYS,
  type Person,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
} from './account-support.ts';

const TIERS = {
  free: ['explain', 'developer_keys'],
  pro: ['explain', 'developer_keys', 'channel:desktop/insider'],
  none: [],
};
const CLIENT = 'version=1.0.0&platform=win32&arch=amd64';

describe('GET /api/v1/desktop/explain', () => {
  const store = createFaultyStore(createMemoryStore({ clock: systemClock }));
  const hasty = createHastyClock();
  /** Skips the time-out of an explanation once it is told to. */
  let skips = false;
  const clock: typeof hasty = {
    ...hasty,
    sleep: (ms, signal) =>
      skips && ms === 12_000 ? hasty.sleep(50, signal) : hasty.sleep(ms, signal),
  };
  let service: TestService;
  let person: Person;
  const explain = async (query = CLIENT, bearer = person.access) =>
    ask(service, 'GET', `${EXPLAIN}?${query}`, { bearer });
  const bodyOf = async (query?: string, bearer?: string) => {
    const { status, body } = await explain(query, bearer);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };

  beforeAll(async () => {
    const env = { ...UNLIMITED, TIERS: JSON.stringify(TIERS) };
    service = await createTestService({ env, clock, store });
    const deps = { ...service, actor: 'ada@build-7' };
    const on = { application: 'desktop', channel: undefined, reason: null };
    await release(service, '1.0.0', ['windows x64 nsis', 'windows arm64 nsis']);
    await release(service, '1.1.0', ['windows x64 nsis']);
    await release(service, '1.2.0', ['windows x64 nsis']);
    await release(service, '9.0.0', ['windows x64 nsis'], { channel: 'insider' });
    await release(service, '1.3.0', ['windows x64 nsis'], {
      rollout: { text: '0%@0h,100%@2h', freezeWindows: [] },
    });
    const version = '1.2.0';
    await changeStatus(deps, 'pause', { ...on, version, reason: 'crashes on start' });
    await service.refresh();
  });
  beforeEach(async () => {
    person = await signIn(service);
  });
  afterAll(() => service.close());

  it('says what check-update answers, and why', async () => {
    const { headers } = await explain();
    expect(headers['cache-control']).toBe('no-store');
    const body = await bodyOf(`${CLIENT}&id=me`);
    expect(body).toMatchObject({
      app: 'desktop',
      channel: 'stable',
      inherits: [],
      catalog_revision: 6,
      is_forecast: false,
      reason: 'offer',
      version: '1.1.0',
      offered_by: 'stable',
      artifact: { platform: 'windows', arch: 'x64', format: 'nsis' },
      mandatory: false,
      installed: { version: '1.0.0', state: 'active', channel: 'stable' },
      newest_version: '1.3.0',
      releases_omitted: 0,
      passed_over: [],
      drafts: [],
    });
    expect(
      body.releases.map((each: Record<string, unknown>) => [each.version, each.outcome]),
    ).toEqual([
      ['1.3.0', 'held_by_rollout'],
      ['1.2.0', 'paused'],
      ['1.1.0', 'offer'],
    ]);
    expect(body.releases[1].status_reason).toBe('crashes on start');
    expect(body.releases[0].rules.at(-1)).toMatchObject({
      rule: 'rollout',
      result: 'failed',
      percentage: 0,
      bucket: expect.any(Number),
      frozen_by: null,
      plan: '0%@0h,100%@2h',
      planned: [{ percentage: 100 }],
    });
    const asked = await check(service, { installation_id: 'me' });
    expect([asked.body.version, asked.body.catalog_revision]).toEqual(['1.1.0', 6]);
  });

  it('answers as check-update does, whatever the client is', async () => {
    const clients = ['1.0.0', '1.2.0', '5.0.0'].flatMap((version) =>
      ['arm64', 'ia32'].flatMap((arch) =>
        [{}, { format: 'msi' }, { os_version: '10.0' }].map((more) => ({ version, arch, ...more })),
      ),
    );
    for (const { version, ...client } of clients) {
      const facts: Record<string, string> = { version, platform: 'windows', ...client };
      const explained = await bodyOf(new URLSearchParams(facts).toString());
      const { body } = await check(service, { current_version: version, ...client });
      expect([explained.reason, explained.version]).toEqual([body.reason, body.version ?? null]);
    }
  });

  it('refuses the clients that check-update refuses', async () => {
    const stated = { version: '1.0.0', platform: 'windows', arch: 'x64' };
    for (const id of ['', 'x'.repeat(129)]) {
      const { status, body } = await explain(new URLSearchParams({ ...stated, id }).toString());
      const asked = await check(service, { installation_id: id });
      expect([status, body.code]).toEqual([asked.status, asked.body.code]);
      expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '/id' })]]);
    }
    const { status, body } = await explain('version=1.0.0&platform=windows');
    const asked = await check(service, { arch: undefined });
    expect([status, body.code]).toEqual([asked.status, asked.body.code]);
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '/arch' })]]);
    const longest = await bodyOf(`${CLIENT}&id=${'x'.repeat(128)}`);
    expect(longest.releases[0].rules.at(-1).bucket).toEqual(expect.any(Number));
  });

  it('goes back to a revision, to a time, and forward along the plan', async () => {
    expect(await bodyOf(`${CLIENT}&at=2`)).toMatchObject({
      catalog_revision: 2,
      version: '1.1.0',
      newest_version: '1.1.0',
    });
    const { revision_at: at } = await bodyOf(`${CLIENT}&at=5`);
    expect(await bodyOf(`${CLIENT}&at=${at}`)).toMatchObject({
      catalog_revision: 5,
      at,
      version: '1.2.0',
    });
    const later = new Date(clock.now() + 3 * 3_600_000).toISOString();
    expect(await bodyOf(`${CLIENT}&at=${later}`)).toMatchObject({
      catalog_revision: 6,
      is_forecast: true,
      version: '1.3.0',
    });
    // A plus sign in a query means a space.
    for (const zone of ['+01:00', '%2B01:00']) {
      const early = await explain(`${CLIENT}&at=2001-01-01T00:00:00${zone}`);
      expect([early.status, early.body.code]).toEqual([404, 'unknown_version']);
    }
  });

  it('keeps a channel closed to other tiers, with all of its releases', async () => {
    for (const query of [`${CLIENT}&channel=insider`, `${CLIENT}&channel=insider&at=4`]) {
      const closed = await explain(query);
      expect(closed.status).toBe(200);
      expect(closed.body).toMatchObject({
        reason: 'not_entitled',
        version: null,
        releases: [],
        newest_version: null,
        installed: { state: null, channel: null },
        open_to_tiers: ['pro'],
      });
      expect(closed.text).not.toContain('9.0.0');
    }
    const elsewhere = await explain('version=9.0.0&platform=windows&arch=x64');
    expect(elsewhere.body.installed).toMatchObject({ state: 'not_listed', also_listed_on: [] });
    await setTier(service, person.id, 'pro');
    const { access } = await signIn(service, { email: person.email });
    const open = await bodyOf(`${CLIENT}&channel=insider`, access);
    expect(open).toMatchObject({ reason: 'offer', version: '9.0.0' });
    const other = await bodyOf('version=9.0.0&platform=windows&arch=x64', access);
    expect(other.installed.also_listed_on).toEqual(['insider']);
  });

  it('is open to developer keys with access to the application, and to tiers with the feature', async () => {
    const body = { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] };
    const { key } = (await ask(service, 'POST', KEYS, { bearer: person.access, body })).body;
    expect(await bodyOf(CLIENT, key)).toMatchObject({ reason: 'offer' });
    expect((await explain(`${CLIENT}&app=other`, key)).body.code).toBe('scope_missing');
    await setTier(service, person.id, 'none');
    clock.advance(31_000);
    expect((await explain(CLIENT, key)).body.code).toBe('not_entitled');
    expect((await ask(service, 'GET', `${EXPLAIN}?${CLIENT}`)).status).toBe(401);
  });

  it('reads no store for the present state, and counts no client', async () => {
    await explain();
    store.forgetCalls();
    await bodyOf();
    expect(store.total()).toBe(0);
    await bodyOf(`${CLIENT}&at=3`);
    expect(store.total()).toBeGreaterThan(0);
  });

  it('answers 503 when the store fails or hangs, and the next request is answered', async () => {
    for (const fault of [{ when: 'before' }, { when: 'hang' }] as const) {
      skips = true;
      store.setPlan(({ key }) => (key.startsWith('apps/') ? fault : undefined));
      const failed = await explain(`${CLIENT}&at=2`);
      expect([failed.status, failed.body.code]).toEqual([503, 'store_unavailable']);
      expect(failed.headers['retry-after']).toBeDefined();
      store.setPlan(undefined);
      skips = false;
      expect((await explain(`${CLIENT}&at=2`)).status).toBe(200);
    }
  });

  it('states who froze a rollout', async () => {
    const deps = { ...service, actor: 'ada@build-7' };
    const on = { application: 'desktop', channel: undefined, reason: null };
    await changeRollout(deps, { ...on, version: '1.3.0', action: { kind: 'freeze' } });
    await service.refresh();
    const { releases } = await bodyOf();
    const held = releases.find(({ version }: { version: string }) => version === '1.3.0');
    expect(held.rules.at(-1)).toMatchObject({ frozen_by: 'publisher', reaches_at: null });
  });

  it('says which release this process could not verify', async () => {
    const key = 'apps/desktop/releases/1.4.0/manifest/1.json';
    await release(service, '1.4.0', ['windows x64 nsis']);
    await store.delete(key);
    await store.create(key, Buffer.from('{'));
    const cold = await createTestService({
      env: { ...UNLIMITED, TIERS: JSON.stringify(TIERS) },
      clock,
      store,
    });
    const owner = await signIn(cold);
    const { body } = await ask(cold, 'GET', `${EXPLAIN}?${CLIENT}`, { bearer: owner.access });
    expect(body).toMatchObject({
      version: '1.1.0',
      passed_over: [{ version: '1.4.0', channel: 'stable', why: 'unverified' }],
    });
    await cold.close();
  });

  it('is in the signed-in document alone', async () => {
    const { body } = await ask(service, 'GET', SIGNED_IN_DOCUMENT, { bearer: person.access });
    expect(Object.keys(body.paths)).toContain(EXPLAIN);
    expect(Object.keys((await get(service, '/openapi.json')).body.paths)).not.toContain(EXPLAIN);
  });
});
