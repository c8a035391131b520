import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockAccount } from '../../../../src/features/accounts/lock-account.ts';
import { release } from '../../../server/support.ts';
import { createHastyClock } from '../../../support/clock.ts';
import { createTestService, type TestService } from '../../../support/service.ts';
import { ANALYTICS, ask, KEYS, type Person, signIn, UNLIMITED } from './account-support.ts';

const DAY_MS = 86_400_000;
const READ = [{ application: 'desktop', access: 'read' }];

describe('developer keys', () => {
  const clock = createHastyClock();
  const log: string[] = [];
  let service: TestService;
  let person: Person;

  beforeAll(async () => {
    const env = { ...UNLIMITED, TIERS: '{"free":["developer_keys","analytics"]}' };
    service = await createTestService({ env, clock, log });
    await release(service, '1.0.0', ['windows x64 nsis']);
  });
  beforeEach(async () => {
    person = await signIn(service);
  });
  afterAll(() => service.close());

  const make = (body: object = {}, bearer = person.access) =>
    ask(service, 'POST', KEYS, { bearer, body: { name: 'CI', scopes: READ, ...body } });
  const list = async (bearer = person.access) =>
    (await ask(service, 'GET', KEYS, { bearer })).body.keys;
  const revoke = (id: string, bearer = person.access) =>
    ask(service, 'DELETE', `${KEYS}/${id}`, { bearer });
  const use = async (key: string, app = 'desktop') =>
    (await ask(service, 'GET', `${ANALYTICS}?app=${app}`, { bearer: key })).status;

  it('are shown once, and then only described', async () => {
    const scopes = [...READ, { application: 'other', access: 'publish', extra: 'ignored' }];
    const made = await make({ name: ' My CI ', scopes, expires_in_days: 7 });
    expect(made.status).toBe(201);
    expect(made.headers['cache-control']).toBe('no-store');
    const { key, ...described } = made.body;
    expect(key).toMatch(/^slk_[0-9a-f]{32}_[0-9a-f]{16}_[\w-]{43}$/);
    expect(described).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'My CI',
      scopes: [...READ, { application: 'other', access: 'publish' }],
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_on: null,
    });
    expect(Date.parse(described.expires_at) - Date.parse(described.created_at)).toBeCloseTo(
      7 * DAY_MS,
      -2,
    );
    const answer = await ask(service, 'GET', KEYS, { bearer: person.access });
    expect(answer.body).toEqual({ keys: [described] });
    const secret = key.slice(-43);
    expect(answer.text).not.toContain(secret);
    for await (const { key: stored } of service.store.list('')) {
      const content = (await service.store.get(stored, { bytesMax: 99_999 }))?.body ?? '';
      expect(Buffer.from(content).includes(secret), stored).toBe(false);
    }
    expect(log.join('')).not.toContain(secret);
  });

  it('are valid for ninety days by default', async () => {
    const { body } = await make();
    const days = (Date.parse(body.expires_at) - Date.parse(body.created_at)) / DAY_MS;
    expect(days).toBeCloseTo(90, 3);
  });

  it('give the access that their scopes name, record their last use, and expire', async () => {
    const { key } = (await make({ expires_in_days: 2 })).body;
    expect(await use(key)).toBe(200);
    expect(await use(key, 'other')).toBe(403);
    await expect
      .poll(async () => (await list())[0].last_used_on)
      .toBe(new Date(clock.now()).toISOString().slice(0, 10));
    clock.advance(2 * DAY_MS);
    expect(await use(key)).toBe(401);
  });

  it('are refused within half a minute after revocation, and leave the list at once', async () => {
    const { id, key } = (await make()).body;
    const kept = (await make({ name: 'kept' })).body;
    expect(await use(key)).toBe(200);
    expect(await revoke(id)).toMatchObject({ status: 204, text: '' });
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['kept']);
    clock.advance(31_000);
    expect(await use(key)).toBe(401);
    expect(await use(kept.key)).toBe(200);
    expect((await revoke(id)).body.code).toBe('unknown_key');
  });

  it('belong to their owner: no other account lists or revokes them', async () => {
    const { id, key } = (await make()).body;
    const stranger = await signIn(service);
    expect(await list(stranger.access)).toEqual([]);
    expect((await revoke(id, stranger.access)).body.code).toBe('unknown_key');
    expect(await use(key)).toBe(200);
  });

  it('cannot be revoked by an address that leads elsewhere', async () => {
    const { id, key } = (await make()).body;
    for (const name of [
      `${person.id}%2f${id}`,
      `..%2f${person.id}%2f${id}`,
      `${id}%2f..%2f${id}`,
      `${id}%2f`,
      `${id}%00`,
      `%20${id}`,
      id.toUpperCase().replace(/\d/g, 'F'),
      'end',
      '1',
    ]) {
      const answer = await revoke(name);
      expect(answer.status, name).toBe(400);
      expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/key' }] });
      // The answer must not name the keys of the store.
      expect(answer.text).not.toContain(person.id);
    }
    expect(await use(key)).toBe(200);
  });

  it('cannot be created, and stop working, when the account is locked', async () => {
    const { key } = (await make()).body;
    await lockAccount(service, person.id, null);
    expect((await make()).status).toBe(401);
    clock.advance(31_000);
    expect(await use(key)).toBe(401);
  });
});
