import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { release, setStatus } from '../../server/support.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Squirrel.Mac and Electron's MSIX updater install what they are given: their answers are held against that. */

const FEED = '/feeds/desktop/stable';
const BASE = 'https://updates.example.com';
const agent = (darwin: string) => ({
  'user-agent': `App/1.0.0 CFNetwork/1408.0.4 Darwin/${darwin}`,
});

let service: TestService;

beforeAll(async () => {
  service = await createTestService({ env: { PUBLIC_URL: BASE } });
  const described = { name: 'The <first> & "last"', notes: 'line 1\n]]> \u0007' };
  await release(service, '1.0.0', ['macos x64 zip', 'macos arm64 zip', 'windows x64 msix']);
  await release(
    service,
    '1.1.0',
    ['macos x64 zip', { machine: 'macos arm64 zip', minimumOsVersion: '13.0' }, 'windows x64 msix'],
    { described },
  );
  await release(service, '2.0.0', ['windows universal msix'], { requires: '>=1.1.0' });
  await release(service, '3.0.0', ['macos x64 zip', 'windows x64 nsis']);
  await setStatus(service, 'yank', '3.0.0');
});
afterAll(() => service.close());

const ask = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  service.app.http.inject({ method, url: `${FEED}/${url}`, headers });

describe('squirrel-mac', () => {
  it('answers with what the client reads: absolute address, name, notes and a date without milliseconds', async () => {
    const { statusCode, headers, body } = await ask('squirrel-mac/darwin/x64/1.0.0');
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(body)).toEqual({
      url: `${BASE}${FEED}/squirrel-mac/1.1.0/App-1.1.0-macos-x64.zip`,
      name: 'The <first> & "last"',
      notes: 'line 1\n]]> \u0007',
      pub_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
    });
  });

  it.each([
    ['the same version', 'darwin/x64/1.1.0'],
    ['a newer version', 'darwin/x64/9.0.0'],
    ['a yanked version, which has no newer one', 'darwin/x64/3.0.0'],
    ['a system that is too old', 'darwin/arm64/1.0.0?os_version=12.6'],
    ['a system that is not stated', 'darwin/arm64/1.0.0'],
  ])('answers 204 to %s', async (_name, url) => {
    const { statusCode, headers, body } = await ask(`squirrel-mac/${url}`);
    expect([statusCode, body, headers['cache-control']]).toEqual([204, '', 'no-store']);
  });

  it.each([
    ['21.6.0', 204],
    ['22.5.0', 200],
    ['25.0.0', 200],
  ])('reads the version of the system from Darwin %s', async (darwin, status) => {
    const { statusCode, headers } = await ask('squirrel-mac/darwin/arm64/1.0.0', agent(darwin));
    expect(statusCode).toBe(status);
    expect(headers.vary).toBe('user-agent');
    // A parameter that an application left empty states nothing.
    const empty = 'squirrel-mac/darwin/arm64/1.0.0?os_version=';
    expect((await ask(empty, agent(darwin))).statusCode).toBe(status);
  });

  it.each([
    ['darwin/x64/latest', 'invalid_version', 400],
    ['darwin/x64/{version}', 'invalid_version', 400],
    ['win32/x64/1.0.0', 'unknown_platform', 400],
    ['darwin/z80/1.0.0', 'unknown_arch', 400],
  ])('refuses %s: the client would install any answer', async (url, code, status) => {
    const { statusCode, body } = await ask(`squirrel-mac/${url}`);
    expect([statusCode, JSON.parse(body).code]).toEqual([status, code]);
  });

  it('understands versions of installed applications that are not semantic', async () => {
    expect((await ask('squirrel-mac/darwin/x64/v1.0.0')).statusCode).toBe(200);
    expect((await ask('squirrel-mac/darwin/x64/1.1')).statusCode).toBe(204);
    expect((await ask('squirrel-mac/darwin/x64/1.0.9.4')).statusCode).toBe(200);
  });

  it('lists the newest release for clients that read a file', async () => {
    for (const url of ['darwin/x64/RELEASES.json', 'releases.json?arch=x64']) {
      const { body } = await ask(`squirrel-mac/${url}`);
      const { currentRelease, releases } = JSON.parse(body);
      expect(currentRelease).toBe('1.1.0');
      expect(releases).toEqual([
        {
          version: '1.1.0',
          updateTo: expect.objectContaining({
            version: '1.1.0',
            url: `${BASE}${FEED}/squirrel-mac/1.1.0/App-1.1.0-macos-x64.zip`,
          }),
        },
      ]);
    }
  });

  it('lists no build for one architecture to clients that do not state theirs', async () => {
    const { statusCode, body } = await ask('squirrel-mac/releases.json');
    expect([statusCode, JSON.parse(body).code]).toEqual([404, 'no_release']);
  });

  it('lists the own version of a client that states it and is up to date', async () => {
    const { body } = await ask('squirrel-mac/releases.json?arch=x64&current_version=1.1.0');
    expect(JSON.parse(body)).toEqual({ currentRelease: '1.1.0', releases: [] });
  });

  it('offers a delta to the version that it changes, and to no other', async () => {
    const other = await createTestService({ env: { PUBLIC_URL: BASE } });
    await release(other, '1.0.0', ['macos x64 zip']);
    const { makeArtifact } = await import('../../support/release.ts');
    const file = await makeArtifact(`${other.directory}/delta`, { filename: 'App-1.0.0.delta' });
    const delta = { ...file, kind: 'delta' as const, base: '1.0.0' };
    await release(other, '1.1.0', [{ machine: 'macos x64 zip', companions: [delta] }]);
    const from = async (version: string) =>
      (await other.app.http.inject(`${FEED}/squirrel-mac/darwin/x64/${version}`)).json();
    expect((await from('1.0.0')).delta).toEqual({
      from_version: '1.0.0',
      url: `${BASE}${FEED}/squirrel-mac/1.1.0/App-1.0.0.delta`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: file.size,
    });
    for (const version of ['0.9.0', '1.0.0.4'])
      expect(await from(version)).not.toHaveProperty('delta');
    await other.close();
  });
});

describe('msix', () => {
  it('answers HEAD and GET, and its package ends with .msix after the redirect', async () => {
    const head = await ask('msix/1.0.0', {}, 'HEAD');
    expect([head.statusCode, head.body]).toEqual([200, '']);
    const { url } = JSON.parse((await ask('msix/1.0.0')).body);
    expect(url).toBe(`${BASE}${FEED}/msix/1.1.0/App-1.1.0-windows-x64.msix`);
    const file = await service.app.http.inject({ method: 'HEAD', url: url.slice(BASE.length) });
    expect(file.statusCode).toBe(302);
    expect(new URL(String(file.headers.location), BASE).pathname).toMatch(/\.msix$/);
  });

  it('follows stepping stones, and understands the version of a package', async () => {
    const { url } = JSON.parse((await ask('msix/1.1.0.0')).body);
    expect(url).toContain('/2.0.0/');
    expect((await ask('msix/2.0.0.0')).statusCode).toBe(204);
  });

  it('takes the architecture of the client', async () => {
    expect((await ask('msix/1.0.0?arch=arm64')).statusCode).toBe(200);
    expect((await ask('msix/1.0.0?arch=ia32')).statusCode).toBe(204);
    expect((await ask('msix/1.0.0?arch=z80')).statusCode).toBe(400);
  });
});
