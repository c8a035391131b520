import { cpSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderSchemas } from '../../src/features/stored-documents.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { json, slipway } from '../cli/support.ts';
import { createHastyClock } from '../support/clock.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { narrowings, type Schema } from './narrowings.ts';

/** Every version reads the stores of all earlier versions. What they wrote stays here, as it was. */

const VERSIONS = readdirSync(import.meta.dirname).filter((name) => /^\d+\.\d+$/.test(name));
/** The password of the account in the stores. */
const PASSWORD = 'lighthouse at the harbor';
/** A moment soon after the store was written, when its rollout plan is not frozen. */
const AFTER: Readonly<Record<string, string>> = { '0.1': '2026-11-30T12:00:00Z' };

it('has a store of each minor version that changed a stored document', () => {
  expect(VERSIONS).toEqual(Object.keys(AFTER));
});

describe.each(VERSIONS)('the schemas of %s', (version) => {
  const folder = path.join(import.meta.dirname, version, 'schemas');
  it.each(readdirSync(folder))('%s accepted nothing that is refused now', (file) => {
    const before = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Schema;
    const after = JSON.parse(renderSchemas().get(file) ?? '{"const":"nothing"}') as Schema;
    expect(narrowings(before, after)).toEqual([]);
  });

  it('have an example of each document', async () => {
    const objects = path.join(import.meta.dirname, version, 'objects');
    const texts = readdirSync(objects, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.json'))
      .map((file) => readFileSync(path.join(objects, file), 'utf8'));
    for (const file of readdirSync(folder)) {
      const { properties } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
      const type = properties.signed?.properties?.type?.const;
      if (type === undefined) continue;
      expect(
        texts.some((text) => text.includes(`"type":${JSON.stringify(type)}`)),
        file,
      ).toBe(true);
    }
  });
});

describe.each(VERSIONS)('a store of %s', (version) => {
  const stored = path.join(import.meta.dirname, version, 'objects');
  let service: TestService;
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    cpSync(stored, path.join(directory.path, 'data/objects'), { recursive: true });
    // In memory, the store has the time at which the documents were new.
    const clock = createHastyClock(Date.parse(AFTER[version] ?? ''));
    const store = createMemoryStore({ clock });
    const files = await openDirectoryStore(path.join(directory.path, 'data/objects'));
    for await (const { key } of files.list('')) {
      const object = await files.get(key);
      if (object !== undefined) await store.create(key, object.body);
    }
    const env = {
      TRUST_ROOT: path.join(stored, 'apps/signed/trust/root/1.json'),
      TRUST_UNSIGNED: 'desktop,shell',
      REGISTRATION: 'open',
    };
    service = await createTestService({ store, clock, env });
  });
  afterAll(async () => {
    await service.close();
    await directory.remove();
  });

  const check = async (body: object) => {
    const url = '/api/v1/desktop/check-update';
    const payload = { platform: 'windows', arch: 'x64', ...body };
    return (await service.app.http.inject({ method: 'POST', url, payload })).json();
  };
  const run = async (...words: readonly string[]) => {
    const env = { DATA_DIR: path.join(directory.path, 'data'), TRUST_UNSIGNED: 'signed' };
    return slipway(words, { cwd: directory.path, env });
  };

  it('answers clients: rollouts, stepping stones, pauses, channels, signatures', async () => {
    const id = (n: number) => ({ installation_id: `machine-${n}` });
    const offers = [];
    for (let n = 0; n < 100; n++) {
      offers.push((await check({ current_version: '1.1.0', ...id(n) })).version ?? null);
    }
    // The plan has reached 10 %. 1.3.0 is paused, 1.2.0 is yanked.
    expect(offers.filter((offer) => offer === '2.0.0').length).toBeGreaterThan(2);
    expect(offers.filter((offer) => offer === '2.0.0').length).toBeLessThan(25);
    expect(new Set(offers)).toEqual(new Set(['2.0.0', null]));
    expect(await check({ current_version: '1.0.0' })).toMatchObject({ version: '1.1.0' });
    const beta = await check({ current_version: '1.1.0', channel: 'beta' });
    expect(beta).toMatchObject({ version: '2.2.0-beta.1' });
    const signed = await check({ current_version: '1.0.0', app: 'signed' });
    expect(signed).toMatchObject({ version: '1.1.0', download: { filename: expect.any(String) } });
    const metadata = await service.app.http.inject({ url: '/tuf/signed/timestamp.json' });
    expect([metadata.statusCode, metadata.json().signed._type]).toEqual([200, 'timestamp']);
    const feed = await service.app.http.inject({ url: '/feeds/shell/stable/electron/latest.yml' });
    const carried = path.join(stored, 'apps/shell/releases/1.0.0/carried/1/latest.yml');
    expect(feed.body).toBe(readFileSync(carried, 'utf8'));
  });

  it('has its accounts: a password, sessions and developer keys', async () => {
    const payload = {
      email: 'ada@example.com',
      password: PASSWORD,
      platform: 'macos',
      device: { id: 'device-2', name: 'Lap' },
    };
    const login = await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/auth/login',
      payload,
    });
    expect(login.statusCode).toBe(200);
    const headers = { authorization: `Bearer ${login.json().access_token}` };
    const get = async (url: string) => (await service.app.http.inject({ url, headers })).json();
    expect((await get('/api/v1/account')).email).toBe('ada@example.com');
    const sessions = await get('/api/v1/account/sessions');
    expect(JSON.stringify(sessions)).toMatch(/"Desk".*"Lap"|"Lap".*"Desk"/);
    expect(JSON.stringify(await get('/api/v1/developer-keys'))).toContain('"name":"ci"');
  });

  it('has its metrics, its messages and its history', async () => {
    await service.app.usage.refresh();
    const rows = service.app.usage.publicMetrics(null);
    expect(rows.links.allTime).toBeGreaterThan(0);
    const messages = await run('contact', 'list', '--json');
    expect(messages.stdout).toContain('grace@example.com');
    expect((await run('accounts', 'invitations', '--json')).code).toBe(0);
    const history = json(await run('history', '--json'));
    expect(JSON.stringify(history)).toContain('deletes files');
    expect((await run('stats', '--json')).code).toBe(0);
  });

  it('is sound, and a new version continues it', async () => {
    const verified = await run('verify', '--deep');
    expect([verified.code, verified.stderr]).toEqual([0, '']);
    const file = path.join(directory.path, 'data/objects/store!.json');
    const build = `${file},os=windows,arch=x64,format=nsis,name=Notes.exe`;
    expect((await run('publish', '3.0.0', build)).stdout).toContain('Published desktop 3.0.0');
    expect((await run('resume', '1.3.0')).code).toBe(0);
    expect((await run('verify', '--deep')).code).toBe(0);
    expect((await run('releases')).stdout).toMatch(/^3\.0\.0 +stable +active +every client/m);
  });
});

describe('the comparison of schemas', () => {
  const before: Schema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 10 },
      kind: { enum: ['a', 'b'] },
      when: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      list: { type: 'array', items: { type: 'integer', minimum: 0 } },
    },
    required: ['name', 'kind'],
  };
  const withProperty = (name: string, schema: Schema): Schema => ({
    ...before,
    properties: { ...before.properties, [name]: schema },
  });

  it.each<[string, Schema]>([
    ['an optional property', withProperty('more', { type: 'string' })],
    ['a value', withProperty('kind', { enum: ['a', 'b', 'c'] })],
    ['room', withProperty('name', { type: 'string', maxLength: 20 })],
    ['an alternative', withProperty('kind', { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] })],
    ['less that is required', { ...before, required: ['name'] }],
  ])('accepts %s', (_, after) => {
    expect(narrowings(before, after)).toEqual([]);
  });

  it.each<[string, Schema, string]>([
    [
      'a property that is required',
      { ...before, required: ['name', 'kind', 'when'] },
      '.when is required',
    ],
    ['a value that is gone', withProperty('kind', { enum: ['a'] }), '.kind no longer accepts b'],
    [
      'another type',
      withProperty('name', { type: 'integer', maxLength: 10 }),
      '.name is no longer string',
    ],
    [
      'less room',
      withProperty('name', { type: 'string', maxLength: 9 }),
      '.name has a smaller maxLength',
    ],
    [
      'a pattern',
      withProperty('name', { type: 'string', pattern: 'x', maxLength: 10 }),
      '.name has another pattern',
    ],
    [
      'an alternative that is gone',
      withProperty('when', { type: 'string' }),
      '.when is no longer null',
    ],
    [
      'stricter items',
      withProperty('list', { type: 'array', items: { type: 'integer', minimum: 1 } }),
      '.list[] has a larger minimum',
    ],
    [
      'a closed object',
      { ...before, additionalProperties: false },
      ' accepts no further properties',
    ],
  ])('finds %s', (_, after, found) => {
    expect(narrowings(before, after)).toEqual([found]);
  });
});
