import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { setTier } from '../../../src/features/accounts/accounts/change-account.ts';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { check, get, release } from '../../server/support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import {
  ask,
  EXPLAIN,
  KEYS,
  type Person,
  SIGNED_IN_DOCUMENT,
  signIn,
  UNLIMITED,
} from '../accounts/routes/account-support.ts';

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
      rollout: { text: '0.01%@0h,100%@2h', freezeWindows: [] },
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
    expect(body.releases[0].rules.at(-1)).toMatchObject({
      rule: 'rollout',
      result: 'failed',
      percentage: 0.01,
      bucket: expect.any(Number),
      frozen_by: null,
      plan: null,
      planned: [],
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

  it('goes back to a revision and to a time, and makes no forecast', async () => {
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
    const forecast = await explain(`${CLIENT}&at=${later}`);
    expect([forecast.status, forecast.body.errors]).toEqual([
      400,
      [expect.objectContaining({ pointer: '/at' })],
    ]);
    expect(forecast.text).not.toContain('1.3.0');
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

  it('tells what clients can find out, and nothing that only publishers know', async () => {
    const tiers = { team: ['explain', 'console'] };
    const own = await createTestService({ env: { ...UNLIMITED, TIERS: JSON.stringify(tiers) } });
    const deps = { ...own, actor: 'ada@build-7' };
    const on = { application: 'desktop', channel: undefined };
    const windows = ['windows x64 nsis'];
    const begun = (text: string) => ({ rollout: { text, freezeWindows: [] } });
    const { access } = await signIn(own);
    await release(own, '1.0.0', windows);
    await release(own, '1.1.0', windows);
    await release(own, '1.2.0', windows);
    await release(own, '1.3.0', windows, begun('5%@0h,100%@2h'));
    // What no client is offered.
    await release(own, '3.0.0', windows, { mode: 'draft' });
    await release(own, '3.1.0', windows, { mode: 'draft', channel: 'planned' });
    await release(own, '3.2.0', windows, begun('0%'));
    await release(own, '3.3.0', windows, begun('0%@0h,100%@2h'));
    await release(own, '3.4.0', windows, begun('0%'));
    await release(own, '3.5.0', windows, begun('0%'));
    await changeStatus(deps, 'pause', { ...on, version: '1.1.0', reason: 'SECRET one' });
    await changeStatus(deps, 'yank', { ...on, version: '1.2.0', reason: 'SECRET two' });
    await changeStatus(deps, 'pause', { ...on, version: '3.4.0', reason: 'SECRET three' });
    await changeStatus(deps, 'yank', { ...on, version: '3.5.0', reason: 'SECRET four' });
    const frozen = { ...on, version: '1.3.0', reason: null, action: { kind: 'freeze' } } as const;
    await changeRollout(deps, frozen);
    await own.refresh();
    const explained = (query: string) =>
      ask(own, 'GET', `${EXPLAIN}?platform=windows&${query}`, { bearer: access });
    const { body: now } = await explained('arch=x64&version=1.0.0');
    const questions = ['1.0.0', '3.0.0', '3.2.0', '3.5.0', '9.9.9'].flatMap((version) =>
      ['x64', 'arm64', 'ia32'].flatMap((arch) =>
        ['', '&allow_downgrade=true&id=me', '&channel=beta', '&manual=true'].map(
          (more) => [version, `version=${version}&arch=${arch}${more}`] as const,
        ),
      ),
    );
    const past = Array.from({ length: now.catalog_revision }, (_, n) => n + 1);
    questions.push(...past.map((at) => ['1.0.0', `version=1.0.0&arch=x64&at=${at}`] as const));
    for (const [version, query] of questions) {
      const { status, text } = await explained(query);
      expect([200, 404], query).toContain(status);
      // The client states its own version, so the answer reveals nothing by naming it.
      const told = text.replaceAll(`"version":"${version}"`, '');
      expect(told, query).not.toMatch(/3\.\d\.0|SECRET|planned"?:\[\{|@|"publisher"/);
      expect(JSON.parse(text).drafts ?? [], query).toEqual([]);
      if (status === 200 && version.startsWith('3')) {
        expect(['not_listed', null]).toContain(JSON.parse(text).installed.state);
      }
    }
    expect(now.releases.map(({ version }: { version: string }) => version)).toEqual([
      '1.3.0',
      '1.1.0',
    ]);
    expect(now.passed_over.map(({ version }: { version: string }) => version)).toEqual(['1.2.0']);
    // The console, which an operator opens to the team, has the whole explanation.
    const url = '/console/api/apps/desktop/explain?version=1.0.0&platform=windows&arch=x64';
    const whole = await ask(own, 'GET', url, { bearer: access });
    expect(whole.text).toContain('3.3.0');
    expect(whole.text).toContain('SECRET');
    await own.close();
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
