import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSigningKeys } from '../../../src/features/accounts/access-tokens/signing-keys.ts';
import { setTier } from '../../../src/features/accounts/accounts/change-account.ts';
import { refresh, signIn, UNLIMITED } from '../../features/accounts/routes/account-support.ts';
import {
  createTestService,
  type TestService,
  type TestServiceOptions,
} from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, get, release } from '../support.ts';

/** PUBLIC_FILES_URL: which files are redirected to addresses that a CDN keeps. */

const CDN = 'https://cdn.example.com/files-of-acme';
const TIERS = JSON.stringify({ free: [], pro: ['channel:desktop/insider'] });
const PUBLIC = /^https:\/\/cdn\.example\.com\/files-of-acme\//;

async function start(options: TestServiceOptions): Promise<TestService> {
  const env = { ...UNLIMITED, TIERS, PUBLIC_FILES_URL: `${CDN}/`, ...options.env };
  const service = await createTestService({ ...options, env });
  await release(service, '1.0.0', ['windows x64 nsis', 'linux x64 appimage']);
  await release(service, '2.0.0', ['windows x64 nsis'], { channel: 'insider' });
  return service;
}

describe('public files of a bucket', () => {
  let service: TestService;
  let bearer: Record<string, string>;

  beforeAll(async () => {
    const secrets = {
      SESSION_SECRET: 'a'.repeat(32),
      ACCESS_TOKEN_KEYS: await createSigningKeys(),
    };
    service = await start({ env: { OBJECT_STORE: 's3', S3_BUCKET: 'releases', ...secrets } });
    const person = await signIn(service);
    await setTier(service, person.id, 'pro');
    const { body } = await refresh(service, person, person.refresh);
    bearer = { authorization: `Bearer ${body.access_token}` };
  });
  afterAll(() => service.close());

  const linkTo = async (url: string, headers: Record<string, string> = {}) =>
    String((await get(service, url, headers)).headers.location);

  it('have the address of their key below the CDN, for all dialects and methods', async () => {
    const link = await linkTo(`${DOWNLOAD}/windows-x64`);
    expect(link).toMatch(
      /^https:\/\/cdn\.example\.com\/files-of-acme\/apps\/desktop\/artifacts\/[0-9a-f]{64}\/App-1\.0\.0-windows-x64\.nsis$/,
    );
    expect(await linkTo(`${DOWNLOAD}/windows-x64?version=1.0.0`, bearer)).toBe(link);
    const file = '/feeds/desktop/stable/electron/1.0.0/App-1.0.0-windows-x64.nsis';
    expect(await linkTo(file)).toBe(link);
    expect(await linkTo(file, { range: 'bytes=0-3' })).toBe(link);
    const head = await service.app.http.inject({ method: 'HEAD', url: file });
    expect(head.headers.location).toBe(link);
    const { body } = await get(service, `${DOWNLOAD}/windows-x64`, { accept: 'application/json' });
    expect(body).toMatchObject({ url: link, expires_at: expect.stringMatching(/Z$/) });
    const payload = { current_version: '0.9.0', platform: 'windows', arch: 'x64' };
    const check = await service.app.http.inject({ method: 'POST', url: CHECK_UPDATE, payload });
    expect(check.json().download.url).toBe(link);
  });

  it('do not include files of a channel that needs a tier', async () => {
    for (const url of [
      `${DOWNLOAD}/windows-x64?channel=insider`,
      '/feeds/desktop/insider/electron/2.0.0/App-2.0.0-windows-x64.nsis',
    ]) {
      expect((await get(service, url)).status).toBe(403);
      const link = await linkTo(url, bearer);
      expect(link).toContain('App-2.0.0');
      expect(link).not.toMatch(PUBLIC);
    }
  });
});

describe('public files of a directory store', () => {
  let service: TestService;
  let path: string;

  beforeAll(async () => {
    service = await start({ store: 'directory' });
    const { headers } = await get(service, `${DOWNLOAD}/windows-x64`);
    expect(headers.location).toMatch(PUBLIC);
    path = String(headers.location).slice(CDN.length);
  });
  afterAll(() => service.close());

  it('are served by the service, for a cache to keep', async () => {
    const { statusCode, headers, body } = await service.app.http.inject({ url: path });
    expect(statusCode).toBe(200);
    expect(body).toBe('bytes of App-1.0.0-windows-x64.nsis');
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-disposition': 'attachment; filename=App-1.0.0-windows-x64.nsis',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^".+"$/),
    });
    const range = await service.app.http.inject({ url: path, headers: { range: 'bytes=0-4' } });
    expect([range.statusCode, range.body]).toEqual([206, 'bytes']);
    const head = await service.app.http.inject({ method: 'HEAD', url: path });
    expect([head.statusCode, head.headers['content-length']]).toEqual([200, '35']);
  });

  it('have an address that is the same for every client and does not expire', async () => {
    const again = await get(service, `${DOWNLOAD}/windows-x64?version=1.0.0`);
    expect(again.headers.location).toBe(`${CDN}${path}`);
    expect(path).not.toMatch(/expires/);
  });

  it('have one spelling: a cache must not be given a file twice', async () => {
    for (const more of ['!!!', '...', '=', '%20']) {
      const other = path.replace(/(\/public\/[\w-]+)/, `$1${more}`);
      expect((await get(service, other)).body.code, other).toBe('invalid_link');
    }
  });

  it('end with the setting', async () => {
    const env = { DATA_DIR: service.config.dataDirectory };
    const without = await createTestService({ env });
    expect((await get(without, path)).body.code).toBe('invalid_link');
    await without.close();
  });

  it('are no way to other objects', async () => {
    const other = await get(service, `${DOWNLOAD}/linux-x64`);
    const [, , , signature = ''] = path.split('/');
    const key = String(other.headers.location).split('/').slice(-5).join('/');
    for (const url of [
      `/files/public/${signature}/${key}`,
      `/files/public/${signature}/applications/0000000001.json`,
      `/files/public/${signature}/`,
      path.replace('/public/', '/'),
    ]) {
      expect((await get(service, url)).body.code, url).toMatch(/^(invalid_link|unknown_file)$/);
    }
  });
});
