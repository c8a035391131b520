import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApplication } from '../../../src/catalog/writing/change.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { LEGACY_SERVERS } from '../../../src/updaters/legacy/servers.ts';
import { LEGACY_SERVER_NAMES } from '../../../src/updaters/legacy/settings.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { release, setStatus } from '../support.ts';

/** Addresses of other update servers, asked as installed applications and websites ask there. */

const BASE = 'https://updates.example.com';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36';

let service: TestService;

beforeAll(async () => {
  service = await createTestService({
    env: {
      PUBLIC_URL: BASE,
      LEGACY_ADDRESSES: 'hazel, nuts electronjs',
      LEGACY_APPS: 'acme/notes=notes,Acme/Desktop=desktop,Pro=notes,darwin=notes',
    },
  });
  const machines = [
    'macos x64 zip',
    'macos arm64 zip',
    'macos universal dmg',
    'windows x64 nsis',
    'linux x64 deb',
    'linux x64 appimage',
    'windows x64 msix',
  ];
  for (const version of ['1.0.0', '1.1.0']) {
    const filename = `App-${version}-full.nupkg`;
    const nupkg = { machine: 'windows x64 squirrel', filename };
    await release(service, version, [...machines, nupkg]);
  }
  await release(service, '2.0.0', ['macos x64 zip']);
  await setStatus(service, 'pause', '2.0.0');
  await release(service, '1.2.0-beta.1', ['macos x64 zip'], { channel: 'beta' });
  await release(service, '5.0.0', ['macos x64 zip', 'windows x64 nsis'], { application: 'notes' });
});
afterAll(() => service.close());

const ask = (url: string, headers: Record<string, string> = {}) =>
  service.app.http.inject({ url, headers });

async function updateFrom(url: string): Promise<string | number> {
  const { statusCode, body } = await ask(url);
  return statusCode === 200 ? JSON.parse(body).url.slice(`${BASE}/feeds/`.length) : statusCode;
}

describe('update addresses', () => {
  const macX64 = 'desktop/stable/squirrel-mac/1.1.0/App-1.1.0-macos-x64.zip';
  const macArm = 'desktop/stable/squirrel-mac/1.1.0/App-1.1.0-macos-arm64.zip';
  const notes = 'notes/stable/squirrel-mac/5.0.0/App-5.0.0-macos-x64.zip';

  it.each<[string, string | number]>([
    // Hazel
    ['/update/darwin/1.0.0', macX64],
    ['/update/darwin_arm64/1.0.0', macArm],
    ['/update/darwin/1.1.0', 204],
    ['/update/darwin/9.0.0', 204],
    ['/update/win32/1.0.0', 'desktop/stable/squirrel-mac/1.1.0/App-1.1.0-windows-x64.nsis'],
    ['/update/appimage/1.0.0', 'desktop/stable/squirrel-mac/1.1.0/App-1.1.0-linux-x64.appimage'],
    ['/update/darwin/latest', 400],
    ['/update/amiga/1.0.0', 400],
    ['/update/darwin_constructor/1.0.0', 400],
    // Nuts and electron-release-server
    ['/update/osx_64/1.0.0', macX64],
    ['/update/osx_arm64/1.0.0', macArm],
    ['/update/linux_deb_64/1.0.0', 'desktop/stable/squirrel-mac/1.1.0/App-1.1.0-linux-x64.deb'],
    ['/update?platform=darwin&version=1.0.0', macX64],
    [
      '/update/channel/beta/osx/1.1.0',
      'desktop/beta/squirrel-mac/1.2.0-beta.1/App-1.2.0-beta.1-macos-x64.zip',
    ],
    [
      '/update/osx/1.1.0/beta',
      'desktop/beta/squirrel-mac/1.2.0-beta.1/App-1.2.0-beta.1-macos-x64.zip',
    ],
    ['/update/flavor/default/darwin/1.0.0', macX64],
    ['/update/flavor/notes/darwin/1.0.0', notes],
    ['/update/flavor/pro/darwin_x64/1.0.0/stable', notes],
    ['/update/flavor/none/darwin/1.0.0', 404],
    ['/update/notes/darwin/1.0.0', notes],
    ['/update/darwin/1.0.0/nightly', 404],
    // update.electronjs.org
    ['/acme/desktop/darwin/1.0.0', macX64],
    ['/Acme/Desktop/darwin/1.0.0', macX64],
    ['/ACME/Notes/darwin/1.0.0', notes],
    ['/acme/desktop/darwin-arm64/1.0.0', macArm],
    ['/acme/desktop/darwin-universal/1.0.0', 204],
    ['/acme/notes/darwin-x64/1.0.0', notes],
    ['/acme/notes/darwin-x64/5.0.0', 204],
    ['/acme/desktop/win32-x64/msix/1.0.0', 'desktop/stable/msix/1.1.0/App-1.1.0-windows-x64.msix'],
    ['/acme/other/darwin/1.0.0', 404],
    ['/acme/desktop/amiga/1.0.0', 400],
  ])('%s', async (url, expected) => {
    expect(await updateFrom(url)).toBe(expected);
  });

  it.each([
    '/update/win32/1.0.0/RELEASES',
    '/update/win32/1.0.0/releases?id=app&localversion=1.0.0&arch=amd64',
    '/update/windows_64/1.0.0/RELEASES?id=App&localVersion=1.0.0&arch=amd64',
    '/update/win32_x64/1.0.0/stable/RELEASES',
    '/update/channel/stable/win32/1.0.0/RELEASES',
    '/update/flavor/default/windows_64/1.0.0/stable/RELEASES',
    '/acme/desktop/win32-x64/1.0.0/RELEASES',
    '/acme/desktop/win32/squirrel/1.0.0/RELEASES',
    '/acme/desktop/win32-x64/1.0.0/releases?id=app&localversion=1.0.0&arch=amd64',
  ])('%s lists absolute addresses for Squirrel.Windows', async (url) => {
    const { statusCode, headers, body } = await ask(url);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toContain('text/plain');
    const file = `${BASE}/feeds/desktop/stable/squirrel-windows/1.1.0/App-1.1.0-full.nupkg`;
    const [, sha1, address, size] = /^([0-9A-F]{40}) (\S+) (\d+)$/.exec(body) ?? [];
    expect([sha1?.length, address]).toEqual([40, file]);
    expect(Number(size)).toBeGreaterThan(0);
  });

  it('lists the own version of a client that is up to date, and answers its packages', async () => {
    expect((await ask('/update/win32/1.1.0/RELEASES')).body).toContain('App-1.1.0-full.nupkg');
    const file = await ask('/update/win32/1.0.0/App-1.1.0-full.nupkg');
    expect([file.statusCode, String(file.headers.location)]).toEqual([
      302,
      expect.stringContaining('App-1.1.0-full.nupkg'),
    ]);
    expect((await ask('/update/win32/1.0.0/other.txt')).statusCode).toBe(404);
  });

  it('answers electron-updater with absolute addresses', async () => {
    const { statusCode, body } = await ask('/update/win/latest.yml');
    expect(statusCode).toBe(200);
    expect(body).toContain(`url: '${BASE}/feeds/desktop/stable/electron/1.1.0/`);
    // The beta has no build for Apple silicon, and this address does not tell the architecture.
    const beta = await ask('/update/osx/beta/latest-mac.yml');
    expect(beta.body).toContain(`url: '${BASE}/feeds/desktop/beta/electron/1.1.0/`);
  });

  it('names the archive for Intel Macs first, as electron-builder does', async () => {
    const archives = ['macos universal zip', 'macos arm64 zip', 'macos x64 zip'];
    await release(service, '1.0.0', archives, { application: 'photos' });
    const { body } = await ask('/update/flavor/photos/osx/latest-mac.yml');
    const names = [...body.matchAll(/url: '.*-(\w+)\.zip'/g)].map(([, name]) => name);
    expect(names).toEqual(['x64', 'arm64', 'universal']);
  });
});

describe('download addresses', () => {
  it.each<[string, string | number]>([
    ['/download/darwin', 'App-1.1.0-macos-universal.dmg'],
    ['/download/mac?update=true', 'App-1.1.0-macos-x64.zip'],
    ['/download/dmg', 'App-1.1.0-macos-universal.dmg'],
    ['/download/win32', 'App-1.1.0-windows-x64.nsis'],
    ['/download/exe', 'App-1.1.0-windows-x64.nsis'],
    ['/download/deb', 'App-1.1.0-linux-x64.deb'],
    ['/download/latest/osx', 'App-1.1.0-macos-universal.dmg'],
    ['/download/latest/osx?filetype=zip', 'App-1.1.0-macos-x64.zip'],
    ['/download/1.0.0/windows_64', 'App-1.0.0-windows-x64.nsis'],
    ['/download/version/1.0.0/linux_64', 'App-1.0.0-linux-x64.appimage'],
    ['/download/v1.0.0/App-1.0.0-linux-x64.deb', 'App-1.0.0-linux-x64.deb'],
    ['/download/1.0.0/linux_64/App-1.0.0-linux-x64.deb', 'App-1.0.0-linux-x64.deb'],
    ['/download/channel/beta/osx?filetype=zip', 'App-1.2.0-beta.1-macos-x64.zip'],
    ['/download/flavor/notes/latest/windows', 'App-5.0.0-windows-x64.nsis'],
    ['/download/amiga', 400],
    ['/download', 400],
  ])('%s', async (url, expected) => {
    const { statusCode, headers } = await ask(url, { 'user-agent': 'a robot' });
    const name = new URL(String(headers.location ?? '/'), BASE).pathname.split('/').at(-1);
    expect(statusCode === 302 ? name : statusCode).toBe(expected);
  });

  it('reads the platform from the browser', async () => {
    const { statusCode, headers } = await ask('/download', { 'user-agent': MAC });
    expect(statusCode).toBe(302);
    expect(headers.location).toContain('App-1.1.0-macos-universal.dmg');
    expect(headers.vary).toContain('User-Agent');
  });
});

/** The newest version gets no update, and a file is at the store's address. */
function statusFor(path: string): number {
  if (path.endsWith('/1.1.0')) return 204;
  return path.endsWith('.zip') ? 302 : 200;
}

it('answers every address of the page about leaving the other servers', async () => {
  const page = await readFile('docs/publishing/leave-update-electronjs.md', 'utf8');
  const env = Object.fromEntries(
    [...page.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(Object.keys(env)).toContain('LEGACY_APPS');
  const moved = await createTestService({ env });
  for (const version of ['1.0.0', '1.1.0']) {
    await release(
      moved,
      version,
      [
        { machine: 'macos arm64 zip', filename: `Notes-darwin-arm64-${version}.zip` },
        { machine: 'windows x64 squirrel', filename: `Notes-${version}-full.nupkg` },
      ],
      { application: env.DEFAULT_APP },
    );
  }
  const addresses = page.matchAll(/https:\/\/(?:updates|old)\.example\.com(\/\S+)/g);
  const paths = [...new Set([...addresses].map(([, path = '']) => path))];
  expect(paths.length).toBeGreaterThan(4);
  for (const path of [...paths, '/update/win32/1.0.0/RELEASES']) {
    const { statusCode } = await moved.app.http.inject({ url: path });
    expect([path, statusCode]).toEqual([path, statusFor(path)]);
  }
  const newest = await moved.app.http.inject({ url: '/acme/notes/win32-x64/1.1.0/RELEASES' });
  expect(newest.body).toMatch(/^\S+ \S+\/Notes-1\.1\.0-full\.nupkg \d+\s*$/);
  await moved.close();
});

describe('the service’s own addresses', () => {
  it('go first, also when they do not exist', async () => {
    expect((await ask('/livez')).statusCode).toBe(200);
    expect((await ask('/feeds/desktop/stable/electron/latest.yml')).statusCode).toBe(200);
    for (const url of ['/api/acme/darwin/1.0.0', '/docs/acme/darwin/1.0.0', '/update/']) {
      expect((await ask(url)).statusCode, url).toBeGreaterThanOrEqual(400);
    }
  });

  it('answer other methods as without LEGACY_ADDRESSES', async () => {
    const plain = await createTestService();
    for (const [method, url, expected] of [
      ['GET', '/api/v1/desktop/check-update', 405],
      ['GET', '/api/v1/auth/login', 405],
      ['PUT', '/api/v1/desktop/check-update', 405],
      ['POST', '/api/v1/desktop/nothing', 404],
      ['POST', '/monitoring/a/b', 404],
      ['GET', '/api/v1/desktop/nothing', 404],
    ] as const) {
      const [own, other] = await Promise.all(
        [service, plain].map(({ app }) => app.http.inject({ method, url })),
      );
      const shown = [method, url, own?.statusCode, own?.headers.allow];
      expect(shown).toEqual([method, url, expected, other?.headers.allow]);
      expect(other?.statusCode).toBe(expected);
    }
    await plain.close();
  });

  it('are the only ones without LEGACY_ADDRESSES', async () => {
    const plain = await createTestService();
    for (const url of ['/update/darwin/1.0.0', '/download/darwin', '/acme/desktop/darwin/1.0.0']) {
      expect((await plain.app.http.inject(url)).statusCode).toBe(404);
    }
    await plain.close();
  });
});

it('an outage is not "no update"', async () => {
  const blind = await createTestService({ start: false, env: { LEGACY_ADDRESSES: 'hazel' } });
  expect((await blind.app.http.inject('/update/darwin/1.0.0')).statusCode).toBe(503);
  await blind.close();
});

it.each(['windows', 'darwin', 'channel', 'flavor', 'api', 'feeds', 'download'])(
  'a new application cannot be called %s',
  async (application) => {
    const artifacts = [await makeArtifact(service.directory)];
    const refused = { code: 'invalid_name' };
    await expect(
      publish(service, { application, version: '1.0.0', artifacts }),
    ).rejects.toMatchObject(refused);
    const action = { kind: 'create', create: true, settings: {} } as const;
    const deps = { ...service, actor: 'test', ensureConforming: async () => {} };
    const request = { application, channel: 'beta', action, reason: null };
    await expect(changeChannel(deps, request)).rejects.toMatchObject(refused);
  },
);

it.each(['windows', 'update', 'api'])(
  'an application that has the name %s already works as before',
  async (application) => {
    const older = await createTestService({ env: { LEGACY_ADDRESSES: 'hazel,nuts,electronjs' } });
    await registerApplication({ ...older, actor: 'test' }, application);
    await release(older, '1.0.0', ['macos x64 zip'], { application });
    await release(older, '1.1.0', ['macos x64 zip'], { application });
    const ask = (url: string) => older.app.http.inject(url);
    const feed = await ask(`/feeds/${application}/stable/squirrel-mac/darwin/x64/1.0.0`);
    expect([feed.statusCode, feed.body]).toEqual([200, expect.stringContaining('1.1.0')]);
    const legacy = await ask(`/update/flavor/${application}/darwin/1.0.0`);
    expect([legacy.statusCode, legacy.body]).toEqual([200, expect.stringContaining('1.1.0')]);
    expect((await ask(`/download/flavor/${application}/mac?update=true`)).statusCode).toBe(302);
    await older.close();
  },
);

it('the setting names every server', () => {
  expect(LEGACY_SERVERS.map(({ name }) => name)).toEqual([...LEGACY_SERVER_NAMES]);
});
