import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { downloadAnswerSchema } from '../../../src/answers/download/answer-download.ts';
import { systemClock } from '../../../src/core/system.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { DOWNLOAD, get, release, setStatus } from '../support.ts';

const JSON_WANTED = { accept: 'application/json' };

describe('GET /api/v1/desktop/download/{platform}', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ store: 'directory' });
    await release(service, '1.0.0', ['windows x64 nsis', 'linux x64 deb', 'linux x64 tar.gz']);
    await release(service, '2.0.0', [
      'windows x64 nsis',
      'windows x64 msi',
      'windows arm64 nsis',
      'macos arm64 dmg',
      'macos arm64 zip',
      'macos x64 dmg',
      'linux x64 appimage',
      'linux arm64 appimage',
    ]);
    await release(service, '3.0.0-beta.1', ['macos universal pkg'], { channel: 'beta' });
    await service.listen();
  });
  afterAll(() => service.close());

  const found = async (address: string) => {
    const { status, body } = await get(service, `${DOWNLOAD}/${address}`, JSON_WANTED);
    if (status !== 200) return `${status} ${body.code}`;
    const { platform, arch, format, version } = downloadAnswerSchema.parse(body);
    return [platform, arch, format, version].join(' ');
  };

  it('redirects to a presigned URL that no cache stores and that saves under the file name', async () => {
    const { status, headers } = await get(service, `${DOWNLOAD}/windows`);
    expect(status).toBe(302);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept' });
    const file = await fetch(String(headers.location));
    expect(await file.text()).toBe('bytes of App-2.0.0-windows-x64.nsis');
    expect(file.headers.get('content-disposition')).toBe(
      'attachment; filename=App-2.0.0-windows-x64.nsis',
    );
  });

  it('answers JSON by Accept, with hashes and a link that works; a browser gets the file', async () => {
    const { status, headers, body } = await get(service, `${DOWNLOAD}/linux`, JSON_WANTED);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept' });
    const answer = downloadAnswerSchema.parse(body);
    expect((await fetch(answer.url)).status).toBe(200);
    const left = Date.parse(answer.expires_at) - Date.now();
    expect(left).toBeGreaterThanOrEqual(10 * 60_000 - 1_000);
    for (const accept of [
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'text/html, application/json',
      '*/*',
    ]) {
      expect((await get(service, `${DOWNLOAD}/linux`, { accept })).status).toBe(302);
    }
  });

  it.each([
    // Without an architecture: universal, else arm64 on macOS; x64 elsewhere.
    ['windows', 'windows x64 nsis 2.0.0'],
    ['macos', 'macos arm64 dmg 2.0.0'],
    ['linux', 'linux x64 appimage 2.0.0'],
    ['macos?channel=beta', 'macos universal pkg 3.0.0-beta.1'],
    // Aliases, with and without the architecture.
    ['win32', 'windows x64 nsis 2.0.0'],
    ['osx', 'macos arm64 dmg 2.0.0'],
    ['DARWIN', 'macos arm64 dmg 2.0.0'],
    ['win-arm64', 'windows arm64 nsis 2.0.0'],
    ['darwin-x86_64', 'macos x64 dmg 2.0.0'],
    ['linux-aarch64', 'linux arm64 appimage 2.0.0'],
    ['mac?arch=x64', 'macos x64 dmg 2.0.0'],
    // A stated format is never replaced by another.
    ['windows?format=msi', 'windows x64 msi 2.0.0'],
    ['macos?format=zip', 'macos arm64 zip 2.0.0'],
    ['linux?format=tgz', 'linux x64 tar.gz 1.0.0'],
    ['linux?format=rpm', '404 unsupported_format'],
    ['windows?format=dmg', '404 unsupported_format'],
    ['windows?version=2.0.0&format=zip', '404 unsupported_format'],
    // A version by its number.
    ['windows?version=1.0.0', 'windows x64 nsis 1.0.0'],
    ['linux?version=1.0.0', 'linux x64 deb 1.0.0'],
    ['linux?version=v1.0.0', 'linux x64 deb 1.0.0'],
    ['macos?version=1.0.0', '404 unsupported_platform'],
    ['windows?channel=latest', 'windows x64 nsis 2.0.0'],
    // A version that the channel does not list stays unknown.
    ['macos?version=3.0.0-beta.1', '404 unknown_version'],
    ['macos?version=3.0.0-beta.1&channel=beta', 'macos universal pkg 3.0.0-beta.1'],
    ['macos?version=9.9.9', '404 unknown_version'],
    ['macos?version=../../secrets', '400 invalid_version'],
    ['linux-ia32', '404 unsupported_platform'],
    ['amiga', '400 unknown_platform'],
    ['darwin-', '400 unknown_arch'],
    ['linux?arch=z80', '400 unknown_arch'],
    ['linux?format=floppy', '400 unknown_format'],
    ['amiga?arch=z80&format=floppy', '400 invalid_request'],
    ['linux?app=nothing', '404 unknown_application'],
    ['linux?channel=nightly', '404 unknown_channel'],
  ])('%s gives %s', async (address, expected) => {
    expect(await found(address)).toBe(expected);
  });

  it('sends a HEAD to a link signed for HEAD', async () => {
    const head = await service.app.http.inject({ method: 'HEAD', url: `${DOWNLOAD}/windows` });
    expect(head.statusCode).toBe(302);
    const location = String(head.headers.location);
    const file = await fetch(location, { method: 'HEAD' });
    expect(file.status).toBe(200);
    expect(file.headers.get('content-length')).toBe('35');
    expect(file.headers.get('accept-ranges')).toBe('bytes');
    expect((await fetch(location)).status).toBe(403);
    const got = await get(service, `${DOWNLOAD}/windows`);
    expect((await fetch(String(got.headers.location), { method: 'HEAD' })).status).toBe(403);
  });
});

describe('a download by version, and its status', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await createTestService({ store: 'directory' });
    await release(service, '1.0.0', ['windows x64 nsis']);
    await release(service, '2.0.0', ['windows x64 nsis']);
  });
  afterEach(() => service.close());

  it('yanked and retired are 410 by version, and never the newest', async () => {
    await setStatus(service, 'yank', '2.0.0');
    const gone = { status: 410, body: { code: 'release_withdrawn' } };
    expect(await get(service, `${DOWNLOAD}/windows?version=2.0.0`)).toMatchObject(gone);
    await setStatus(service, 'retire', '2.0.0');
    expect(await get(service, `${DOWNLOAD}/windows?version=2.0.0`)).toMatchObject(gone);
    await setStatus(service, 'retire', '1.0.0');
    expect(await get(service, `${DOWNLOAD}/windows?version=1.0.0`)).toMatchObject(gone);
    expect(await get(service, `${DOWNLOAD}/windows`)).toMatchObject({
      status: 404,
      body: { code: 'no_release' },
    });
  });

  it('paused is available by version, and is not the newest', async () => {
    await setStatus(service, 'pause', '2.0.0');
    const pinned = await get(service, `${DOWNLOAD}/windows?version=2.0.0`, JSON_WANTED);
    expect(pinned.body).toMatchObject({ version: '2.0.0' });
    const newest = await get(service, `${DOWNLOAD}/windows`, JSON_WANTED);
    expect(newest.body).toMatchObject({ version: '1.0.0' });
  });

  it('refreshes the catalog once for a version published a moment ago', async () => {
    // The service waits for the refresh on its clock, so the clock must be the real one.
    const env = { DATA_DIR: service.config.dataDirectory };
    const other = await createTestService({ env, clock: systemClock });
    await release(service, '3.0.0', ['windows x64 nsis']);
    const answer = await get(other, `${DOWNLOAD}/windows?version=3.0.0`, JSON_WANTED);
    expect(answer.body).toMatchObject({ version: '3.0.0' });
    await other.close();
  });
});
