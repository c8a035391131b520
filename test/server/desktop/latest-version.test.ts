import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { latestVersionAnswerSchema } from '../../../src/answers/latest-version/answer-latest.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, DOWNLOAD, get, LATEST_VERSION, release, setStatus } from '../support.ts';

describe('GET /api/v1/desktop/latest-version', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({
      store: 'directory',
      env: { PUBLIC_URL: 'https://updates.example.com/base/' },
    });
    await release(service, '1.0.0', ['windows x64 nsis', 'windows arm64 nsis', 'linux x64 deb'], {
      notes: { und: 'First' },
    });
    await release(
      service,
      '1.1.0',
      ['windows x64 nsis', 'windows x64 msi', 'macos universal dmg'],
      {
        notes: { und: 'Second', de: 'Zweite' },
        mandatoryFor: '<1.0.0',
      },
    );
    await release(service, '1.2.0-beta.1', ['macos arm64 zip'], { channel: 'beta' });
  });
  afterAll(() => service.close());

  const ask = async (query = '') => {
    const answer = await get(service, `${LATEST_VERSION}${query}`);
    expect(answer.status).toBe(200);
    return latestVersionAnswerSchema.parse(answer.body);
  };
  const entries = async (query: string) =>
    (await ask(query)).downloads
      .map(({ platform, arch, format, version }) => [platform, arch, format, version].join(' '))
      .sort();

  it('names the newest version and, per platform and architecture, its newest download', async () => {
    const answer = await ask();
    expect(answer).toMatchObject({
      app: 'desktop',
      channel: 'stable',
      version: '1.1.0',
      notes: 'Second',
      mandatory_for: '<1.0.0',
      catalog_revision: 3,
    });
    expect(await entries('')).toEqual([
      'linux x64 deb 1.0.0',
      'macos universal dmg 1.1.0',
      'windows arm64 nsis 1.0.0',
      'windows x64 msi 1.1.0',
      'windows x64 nsis 1.1.0',
    ]);
  });

  it('filters by platform and architecture, under any alias', async () => {
    // A machine with native builds keeps them, although 1.1.0 would run there.
    expect(await entries('?platform=win32&arch=aarch64')).toEqual([
      'windows arm64 nsis 1.0.0',
      'windows x64 nsis 1.0.0',
    ]);
    expect(await entries('?platform=linux')).toEqual(['linux x64 deb 1.0.0']);
    expect((await ask('?platform=linux')).version).toBe('1.0.0');
    expect(await entries('?platform=darwin&arch=x86_64')).toEqual(['macos universal dmg 1.1.0']);
    expect(await entries('?arch=arm64')).toEqual([
      'macos universal dmg 1.1.0',
      'windows arm64 nsis 1.0.0',
      'windows x64 nsis 1.0.0',
    ]);
  });

  it('lists first the file that the download button gives', async () => {
    await release(service, '1.3.0', ['windows x64 msi', 'windows universal nsis'], {
      application: 'suite',
    });
    const machines = ['windows', 'windows-x64', 'windows-arm64', 'macos', 'macos-arm64', 'linux'];
    let compared = 0;
    for (const app of ['desktop', 'suite']) {
      for (const machine of machines) {
        const [platform = '', arch] = machine.split('-');
        const query = new URLSearchParams({ app, platform, ...(arch && { arch }) });
        const listed = await get(service, `${LATEST_VERSION}?${query}`);
        const given = await get(service, `${DOWNLOAD}/${platform}?${query}`, {
          accept: 'application/json',
        });
        expect(given.status).toBe(listed.status);
        if (given.status !== 200) continue;
        const [{ filename, version }] = listed.body.downloads;
        expect({ filename, version }).toEqual({
          filename: given.body.filename,
          version: given.body.version,
        });
        compared++;
      }
    }
    expect(compared).toBe(9);
  });

  it('shows a pre-release channel with newer stable releases, and "latest" as stable', async () => {
    expect(await ask('?channel=beta')).toMatchObject({ channel: 'beta', version: '1.2.0-beta.1' });
    expect(await entries('?channel=beta&platform=linux')).toEqual(['linux x64 deb 1.0.0']);
    expect((await ask('?channel=latest')).channel).toBe('stable');
  });

  it('agrees with check-update for every kind of machine', async () => {
    for (const platform of ['windows', 'macos', 'linux']) {
      for (const arch of ['x64', 'arm64', 'ia32', 'armv7', 'universal']) {
        for (const channel of ['stable', 'beta']) {
          const query = new URLSearchParams({ platform, arch, channel });
          const { status, body } = await get(service, `${LATEST_VERSION}?${query}`);
          const answer = await check(service, { platform, arch, channel });
          expect(answer.body.latest_version).toBe(status === 200 ? body.version : null);
        }
      }
    }
  });

  it('shared caches may store it, and it contains no link that expires', async () => {
    const { headers, body } = await get(service, LATEST_VERSION);
    expect(headers['cache-control']).toBe(
      'public, max-age=60, stale-while-revalidate=300, stale-if-error=600',
    );
    expect(JSON.stringify(body)).not.toMatch(/signature|expires/i);
    for (const { url } of latestVersionAnswerSchema.parse(body).downloads) {
      expect(url).toMatch(/^https:\/\/updates\.example\.com\/base\/api\/v1\/desktop\/download\//);
    }
  });

  it('answers 304 to its own ETag, and has another ETag after a change', async () => {
    const first = await get(service, LATEST_VERSION);
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get(service, LATEST_VERSION, { 'if-none-match': sent });
      expect(again).toMatchObject({ status: 304, body: '' });
      expect(again.headers).toMatchObject({ etag, 'cache-control': expect.any(String) });
    }
    expect((await get(service, LATEST_VERSION, { 'if-none-match': '"old"' })).status).toBe(200);
    const other = await get(service, `${LATEST_VERSION}?platform=linux`);
    expect(other.headers.etag).not.toBe(etag);
  });

  it.each([
    ['?app=nothing', 404, 'unknown_application'],
    ['?app=__proto__', 404, 'unknown_application'],
    ['?channel=nightly', 404, 'unknown_channel'],
    ['?channel=constructor', 404, 'unknown_channel'],
    ['?platform=linux&arch=ia32', 404, 'unsupported_platform'],
    ['?platform=amiga', 400, 'unknown_platform'],
    ['?arch=z80', 400, 'unknown_arch'],
    ['?platform=amiga&arch=z80', 400, 'invalid_request'],
    ['?platform=linux&platform=windows', 400, 'invalid_request'],
    ['?channel=', 400, 'invalid_request'],
  ])('%s is %i %s', async (query, status, code) => {
    const answer = await get(service, `${LATEST_VERSION}${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status, code, request_id: expect.any(String) });
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});

describe('latest-version and the store', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await createTestService({ store: 'directory' });
  });
  afterEach(() => service.close());

  it('contains addresses that lead to the bytes they describe', async () => {
    await release(service, '1.0.0+build-1', [
      { machine: 'windows x64 nsis', filename: 'Ünïcode & Setup (1).exe' },
      'macos universal dmg',
    ]);
    await release(service, '1.1.0', ['windows x64 nsis']);
    const base = await service.listen();
    const { body } = await get(service, LATEST_VERSION);
    const { downloads } = latestVersionAnswerSchema.parse(body);
    expect(downloads.map(({ version }) => version)).toEqual(['1.1.0', '1.0.0+build-1']);
    for (const download of downloads) {
      expect(new URL(download.url).origin).toBe(base);
      const file = await fetch(download.url);
      const bytes = Buffer.from(await file.arrayBuffer());
      expect(bytes.length).toBe(download.size);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(download.sha256);
      expect(createHash('sha512').update(bytes).digest('hex')).toBe(download.sha512);
    }
  });

  it('leaves out paused, yanked and retired releases', async () => {
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis']);
    const version = async () => (await get(service, LATEST_VERSION)).body.version;
    await setStatus(service, 'pause', '2.0.0');
    expect(await version()).toBe('1.0.0');
    await setStatus(service, 'resume', '2.0.0');
    expect(await version()).toBe('2.0.0');
    await setStatus(service, 'retire', '2.0.0');
    expect(await version()).toBe('1.0.0');
    await setStatus(service, 'yank', '1.0.0');
    expect(await get(service, LATEST_VERSION)).toMatchObject({
      status: 404,
      body: { code: 'no_release' },
    });
  });
});
