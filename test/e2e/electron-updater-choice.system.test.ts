import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BuiltArtifact } from '../../src/builds/build-output.ts';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../src/releases/withdraw/change-status.ts';
import {
  createElectronClient,
  type ElectronClient,
  type ElectronClientOptions,
} from '../support/electron-updater.ts';
import { makeArtifact, publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';

/** Which release, and which of its files, the real electron-updater downloads. */

let service: TestService;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
});

afterEach(() => service.close());

interface Options extends Omit<ElectronClientOptions, 'url'> {
  readonly channel?: string;
  readonly headers?: Record<string, string>;
  /** The query string of the feed's address. */
  readonly search?: string;
}

async function openClient(options: Options): Promise<ElectronClient> {
  const { channel, headers, search = '', ...rest } = options;
  return createElectronClient({
    ...rest,
    url: `${await service.listen()}/feeds/desktop/stable/electron${search}`,
    configure: (updater) => {
      if (channel !== undefined) updater.channel = channel;
      if (headers !== undefined) updater.requestHeaders = headers;
    },
  });
}

const WINDOWS = { platform: 'windows', format: 'nsis' } as const;
const MAC = { platform: 'macos', format: 'zip' } as const;
const LINUX = { platform: 'linux', format: 'appimage' } as const;

/** Publishes a release. The content of each file is its name. */
async function release(
  version: string,
  files: Readonly<Record<string, Partial<BuiltArtifact>>>,
  request: Partial<PublishRequest> = {},
): Promise<void> {
  const artifacts = [];
  for (const [filename, artifact] of Object.entries(files)) {
    const directory = path.join(service.directory, version);
    artifacts.push(await makeArtifact(directory, { ...artifact, filename, content: filename }));
  }
  await publish(service, { version, artifacts, ...request });
  await service.refresh();
}

async function change(verb: StatusVerb, version: string): Promise<void> {
  const request = { application: 'desktop', channel: undefined, reason: null };
  await changeStatus({ ...service, actor: 'test' }, verb, { ...request, version });
  await service.refresh();
}

/** The content of the file that the client would install; null when it finds no update. */
async function fileFor(options: Options): Promise<string | null> {
  const client = await openClient(options);
  if ((await client.check()) === null) return null;
  return (await client.download()).bytes.toString();
}

async function versionFor(options: Options): Promise<string | null> {
  return (await openClient(options)).check();
}

describe('channels', () => {
  const client = { kind: 'nsis', channel: 'beta' } as const;

  beforeEach(async () => {
    await release('1.0.0', { 'a.exe': WINDOWS });
    await release('1.1.0-beta.1', { 'b.exe': WINDOWS }, { channel: 'beta' });
  });

  it('serves the beta channel and its files to beta.yml, and the stable channel to latest.yml', async () => {
    expect(await fileFor({ ...client, version: '1.0.0' })).toBe('b.exe');
    expect(await fileFor({ kind: 'nsis', version: '0.9.0' })).toBe('a.exe');
    // A beta build names its channel in app-update.yml.
    const built = { kind: 'nsis', config: { channel: 'beta' } } as const;
    expect(await fileFor({ ...built, version: '1.0.0' })).toBe('b.exe');
  });

  it('gives a beta client a newer stable release', async () => {
    await release('1.1.0', { 'c.exe': WINDOWS });
    expect(await fileFor({ ...client, version: '1.1.0-beta.1' })).toBe('c.exe');
  });

  it('offers nothing to the newest beta, without an error', async () => {
    expect(await versionFor({ ...client, version: '1.1.0-beta.1' })).toBeNull();
  });

  it('is an error when the channel does not exist', async () => {
    const lost = await openClient({ kind: 'nsis', version: '1.0.0', channel: 'nightly' });
    await expect(lost.check()).rejects.toMatchObject({
      code: 'ERR_UPDATER_CHANNEL_FILE_NOT_FOUND',
    });
  });
});

describe('withdrawal', () => {
  beforeEach(async () => {
    await release('1.0.0', { 'a.exe': WINDOWS });
    await release('2.0.0', { 'b.exe': WINDOWS });
  });

  it.each(['pause', 'yank', 'retire'] as const)(
    '%s: the release is not offered to any client',
    async (verb) => {
      await change(verb, '2.0.0');
      expect(await versionFor({ kind: 'nsis', version: '1.0.0' })).toBeNull();
      expect(await versionFor({ kind: 'nsis', version: '0.9.0' })).toBe('1.0.0');
      // A client with the release keeps it.
      expect(await versionFor({ kind: 'nsis', version: '2.0.0' })).toBeNull();
    },
  );

  it('resume: the release is offered again', async () => {
    await change('pause', '2.0.0');
    await change('resume', '2.0.0');
    expect(await versionFor({ kind: 'nsis', version: '1.0.0' })).toBe('2.0.0');
  });

  it('moves a client with a yanked release to the next one', async () => {
    await change('yank', '2.0.0');
    await release('2.0.1', { 'c.exe': WINDOWS });
    expect(await fileFor({ kind: 'nsis', version: '2.0.0' })).toBe('c.exe');
  });

  it('a yank refuses the download of a release that was already announced', async () => {
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    await change('yank', '2.0.0');
    await expect(client.download()).rejects.toThrow(/status 410/);
  });

  it('downgrades a client whose code sets the channel, unless it sends its version', async () => {
    // electron-updater's `channel` setter sets allowDowngrade.
    await change('pause', '2.0.0');
    const client = { kind: 'nsis', version: '2.0.0', channel: 'latest' } as const;
    expect(await versionFor(client)).toBe('1.0.0');
    expect(await versionFor({ ...client, headers: { 'x-current-version': '2.0.0' } })).toBeNull();
  });
});

describe('stepping stones', () => {
  beforeEach(async () => {
    await release('1.0.0', { 'a.exe': WINDOWS });
    await release('1.5.0', { 'b.exe': WINDOWS });
    await release('2.0.0', { 'c.exe': WINDOWS }, { requires: '>=1.5.0' });
  });

  it('offers a client that does not send its version only releases without requirements', async () => {
    expect(await versionFor({ kind: 'nsis', version: '1.0.0' })).toBe('1.5.0');
    expect(await versionFor({ kind: 'nsis', version: '1.5.0' })).toBeNull();
  });

  it.each([
    ['1.0.0', '1.5.0'],
    ['1.5.0', '2.0.0'],
    ['2.0.0', null],
  ])('leads a client that sends %s to %s', async (version, next) => {
    const own = { headers: { 'x-current-version': version } };
    expect(await versionFor({ kind: 'nsis', version, ...own })).toBe(next);
    const search = `?current_version=${version}`;
    expect(await versionFor({ kind: 'nsis', version, search })).toBe(next);
  });
});

describe('web installers', () => {
  const WEB = { platform: 'windows', format: 'nsis-web', arch: 'x64' } as const;

  async function releaseWeb(version: string): Promise<void> {
    const directory = path.join(service.directory, version);
    const filename = `app-${version}-x64.nsis.7z`;
    const payload = await makeArtifact(directory, { filename, content: `payload of ${version}` });
    const companions = [{ ...payload, kind: 'package' as const, arch: 'x64' as const }];
    await release(version, { [`App Web Setup ${version}.exe`]: { ...WEB, companions } });
  }

  it('are offered with their package, which the client downloads itself', async () => {
    await releaseWeb('2.0.0');
    const client = await openClient({ kind: 'nsis', version: '1.0.0' });
    expect(await client.check()).toBe('2.0.0');
    const { name, bytes } = await client.download();
    expect([name, bytes.toString()]).toEqual([
      'App Web Setup 2.0.0.exe',
      'App Web Setup 2.0.0.exe',
    ]);
    const fetched = client.requests.find(({ url }) =>
      /2\.0\.0\/app-2\.0\.0-x64\.nsis\.7z/.test(url),
    );
    expect(fetched?.status).toBe(302);
  });

  it('find their package at the address that electron-builder writes into them', async () => {
    await releaseWeb('2.0.0');
    const base = `${await service.listen()}/feeds/desktop/stable/electron`;
    const given = await fetch(`${base}/app-2.0.0-x64.nsis.7z`);
    expect([given.status, await given.text()]).toEqual([200, 'payload of 2.0.0']);
    expect((await fetch(`${base}/app-3.0.0-x64.nsis.7z`)).status).toBe(404);
    expect((await fetch(`${base}/other-2.0.0-x64.nsis.7z`)).status).toBe(404);
  });

  it('are not used when the release has an ordinary installer', async () => {
    await releaseWeb('2.0.0');
    await release('2.0.0', { 'App Setup 2.0.0.exe': WINDOWS });
    expect(await fileFor({ kind: 'nsis', version: '1.0.0' })).toBe('App Setup 2.0.0.exe');
  });

  it('are not offered to clients that do not name their format', async () => {
    await releaseWeb('2.0.0');
    const answer = await service.app.http.inject({
      method: 'POST',
      url: '/api/v1/desktop/check-update',
      payload: { current_version: '1.0.0', platform: 'windows', arch: 'x64' },
    });
    expect(answer.json()).toMatchObject({ update_available: false, reason: 'unsupported_format' });
  });
});

describe('machines', () => {
  it('serves a separate document for each architecture on Linux', async () => {
    await release('2.0.0', {
      'App-2.0.0.AppImage': { ...LINUX, arch: 'x64' },
      'App-2.0.0-arm64.AppImage': { ...LINUX, arch: 'arm64' },
      'App-2.0.0-armv7l.AppImage': { ...LINUX, arch: 'armv7' },
      'App-2.0.0.deb': { ...LINUX, arch: 'x64', format: 'deb' },
    });
    const client = { kind: 'appimage', version: '1.0.0' } as const;
    expect(await fileFor({ ...client, arch: 'x64' })).toBe('App-2.0.0.AppImage');
    expect(await fileFor({ ...client, arch: 'arm64' })).toBe('App-2.0.0-arm64.AppImage');
    expect(await fileFor({ ...client, arch: 'arm' })).toBe('App-2.0.0-armv7l.AppImage');
    expect(await fileFor({ ...client, kind: 'deb' })).toBe('App-2.0.0.deb');
  });

  it('lets the client choose the architecture by file name on Windows, unless the address names one', async () => {
    await release('2.0.0', {
      'App-2.0.0-arm64.exe': { ...WINDOWS, arch: 'arm64' },
      'App-2.0.0.exe': { ...WINDOWS, arch: 'x64' },
    });
    const client = { kind: 'nsis', version: '1.0.0' } as const;
    expect(await fileFor({ ...client, arch: 'x64' })).toBe('App-2.0.0.exe');
    expect(await fileFor({ ...client, arch: 'arm64' })).toBe('App-2.0.0-arm64.exe');
    expect(await fileFor({ ...client, search: '?arch=arm64' })).toBe('App-2.0.0-arm64.exe');
  });

  it('offers a Mac the archive for its processor, and Apple silicon an Intel archive when there is no other', async () => {
    const mac = { kind: 'mac', version: '1.0.0' } as const;
    await release('2.0.0', { 'App-2.0.0-mac.zip': { ...MAC, arch: 'x64' } });
    expect(await fileFor({ ...mac, arch: 'arm64' })).toBe('App-2.0.0-mac.zip');
    await release('2.0.0', { 'App-2.0.0-arm64-mac.zip': { ...MAC, arch: 'arm64' } });
    expect(await fileFor({ ...mac, arch: 'x64' })).toBe('App-2.0.0-mac.zip');
    expect(await fileFor({ ...mac, arch: 'arm64' })).toBe('App-2.0.0-arm64-mac.zip');
  });

  it('offers an Intel Mac its own archive, and no Mac a worse one, beside a universal archive', async () => {
    const mac = { kind: 'mac', version: '1.0.0' } as const;
    await release('2.0.0', {
      'App-2.0.0-universal-mac.zip': { ...MAC, arch: 'universal' },
      'App-2.0.0-mac.zip': { ...MAC, arch: 'x64' },
    });
    expect(await fileFor({ ...mac, arch: 'arm64' })).toBe('App-2.0.0-universal-mac.zip');
    await release('2.0.0', { 'App-2.0.0-arm64-mac.zip': { ...MAC, arch: 'arm64' } });
    expect(await fileFor({ ...mac, arch: 'x64' })).toBe('App-2.0.0-mac.zip');
    expect(await fileFor({ ...mac, arch: 'arm64' })).toBe('App-2.0.0-arm64-mac.zip');
  });

  it('offers an Intel Mac no release that has only an Apple silicon archive', async () => {
    await release('1.0.0', { 'App-1.0.0-mac.zip': { ...MAC, arch: 'x64' } });
    await release('2.0.0', { 'App-2.0.0-arm64-mac.zip': { ...MAC, arch: 'arm64' } });
    const mac = { kind: 'mac', version: '1.0.0' } as const;
    // The client does not send its architecture. It would fail only when it looks for its file.
    expect(await versionFor(mac)).toBeNull();
    expect(await versionFor({ ...mac, search: '?arch=x64' })).toBeNull();
    expect(await versionFor({ ...mac, search: '?arch=arm64' })).toBe('2.0.0');
  });

  describe.each([
    ['nsis', WINDOWS, 'exe', 'windows'],
    ['mac', MAC, 'zip', 'macos'],
  ] as const)('%s: native builds', (kind, file, suffix, platform) => {
    const name = (version: string, arch: 'x64' | 'arm64') => `App-${version}-${arch}.${suffix}`;
    const builds = (version: string, ...arches: ('x64' | 'arm64')[]) =>
      Object.fromEntries(arches.map((arch) => [name(version, arch), { ...file, arch }]));
    const arm64 = { kind, arch: 'arm64' } as const;
    const x64 = { kind, arch: 'x64' } as const;

    beforeEach(async () => {
      await release('1.0.0', builds('1.0.0', 'x64', 'arm64'));
      await release('1.1.0', builds('1.1.0', 'x64'));
    });

    it('are kept when a newer release has no native build (yet)', async () => {
      expect(await versionFor({ ...arm64, version: '1.0.0' })).toBeNull();
      expect(await fileFor({ ...arm64, version: '0.9.0' })).toBe(name('1.0.0', 'arm64'));
      expect(await versionFor({ ...arm64, version: '1.0.0', search: '?arch=arm64' })).toBeNull();
      // Without an architecture in its address, the feed is the same for both architectures.
      expect(await versionFor({ ...x64, version: '1.0.0' })).toBeNull();
      const named = { ...x64, version: '1.0.0', search: '?arch=x64' };
      expect(await fileFor(named)).toBe(name('1.1.0', 'x64'));
    });

    it('are offered as soon as they are published', async () => {
      await release('1.1.0', builds('1.1.0', 'arm64'));
      expect(await fileFor({ ...arm64, version: '1.0.0' })).toBe(name('1.1.0', 'arm64'));
      expect(await fileFor({ ...x64, version: '1.0.0' })).toBe(name('1.1.0', 'x64'));
    });

    it('end with the release that declares their end', async () => {
      const endsNative = [{ platform, arch: 'arm64' as const }];
      await release('1.2.0', builds('1.2.0', 'x64'), { endsNative });
      for (const search of ['', '?arch=arm64']) {
        expect(await fileFor({ ...arm64, version: '1.0.0', search })).toBe(name('1.2.0', 'x64'));
      }
    });
  });

  it('states the minimum version of macOS as a kernel version', async () => {
    await release('1.0.0', { 'a.zip': MAC });
    await release('2.0.0', { 'b.zip': { ...MAC, minimumOsVersion: '12.3' } });
    const client = { kind: 'mac', version: '1.0.0' } as const;
    // macOS 12.2 is Darwin 21.3, and 12.3 is 21.4.
    expect(await versionFor({ ...client, osRelease: '21.3.0' })).toBeNull();
    expect(await versionFor({ ...client, osRelease: '21.4.0' })).toBe('2.0.0');
  });

  it.each(['10', '10.0', '10.0.0', '10.0.0.0'])(
    'states the minimum version of Windows in a form that the client can parse, from %s',
    async (minimumOsVersion) => {
      await release('2.0.0', { 'b.exe': { ...WINDOWS, minimumOsVersion } });
      const client = { kind: 'nsis', version: '1.0.0' } as const;
      expect(await versionFor({ ...client, osRelease: '6.3.9600' })).toBeNull();
      expect(await versionFor({ ...client, osRelease: '10.0.19045' })).toBe('2.0.0');
    },
  );

  it.each([
    ['5.15', '5.14.0-70-generic', null],
    ['5.15', '5.15.0-91-generic', '2.0.0'],
    ['6.1.0', '6.1.0', '2.0.0'],
  ])(
    'compares the Linux kernel with the minimum %s: %s',
    async (minimumOsVersion, osRelease, version) => {
      await release('2.0.0', { 'b.AppImage': { ...LINUX, minimumOsVersion } });
      expect(await versionFor({ kind: 'appimage', version: '1.0.0', osRelease })).toBe(version);
    },
  );

  it('applies the minimum when only some of the files state one', async () => {
    await release('2.0.0', {
      'b.zip': { ...MAC, minimumOsVersion: '11.0' },
      'b.dmg': { ...MAC, format: 'dmg' },
    });
    const client = { kind: 'mac', version: '1.0.0' } as const;
    expect(await versionFor({ ...client, osRelease: '19.6.0' })).toBeNull();
    expect(await versionFor({ ...client, osRelease: '20.1.0' })).toBe('2.0.0');
  });
});

describe('no update', () => {
  it.each(['nsis', 'mac', 'appimage'] as const)(
    '%s: is silent to a client that does not state its version, also when it allows downgrades',
    async (kind) => {
      await release('2.0.0', { 'a.exe': WINDOWS, 'a.zip': MAC, 'a.AppImage': LINUX });
      await change('pause', '2.0.0');
      for (const channel of [undefined, 'latest']) {
        const client = { kind, version: '1.0.0', ...(channel === undefined ? {} : { channel }) };
        expect(await versionFor(client)).toBeNull();
      }
    },
  );

  it('is silent to an Intel Mac when only Apple silicon has a build', async () => {
    await release('2.0.0', { 'App-2.0.0-arm64-mac.zip': { ...MAC, arch: 'arm64' } });
    const intel = { kind: 'mac', version: '1.0.0', channel: 'latest' } as const;
    expect(await versionFor({ ...intel, search: '?arch=x64' })).toBeNull();
    expect(await versionFor({ ...intel, arch: 'arm64', search: '?arch=arm64' })).toBe('2.0.0');
  });

  it('is no error for a platform without builds, or an application that sends four numbers', async () => {
    await release('2.0.0', { 'a.exe': WINDOWS });
    expect(await versionFor({ kind: 'deb', version: '1.0.0' })).toBeNull();
    const headers = { 'x-current-version': '1.0.0.4' };
    expect(await versionFor({ kind: 'nsis', version: '1.0.0', headers })).toBe('2.0.0');
    expect(await versionFor({ kind: 'nsis', version: '2.0.0', headers })).toBeNull();
  });
});

describe('names that do not state their architecture', () => {
  it('never lead an Intel Mac to a build for Apple silicon', async () => {
    const mac = { kind: 'mac', version: '1.0.0' } as const;
    await release('2.0.0', {
      'App-2.0.0.zip': { ...MAC, arch: 'arm64' },
      'App-2.0.0-intel.zip': { ...MAC, arch: 'x64' },
    });
    expect(await fileFor({ ...mac, arch: 'x64' })).toBe('App-2.0.0-intel.zip');
    expect(await fileFor({ ...mac, arch: 'arm64' })).toBe('App-2.0.0-intel.zip');
    expect(await fileFor({ ...mac, arch: 'arm64', search: '?arch=arm64' })).toBe('App-2.0.0.zip');
  });

  it('are no obstacle to a universal archive beside a disk image for one processor', async () => {
    await release('2.0.0', {
      'App-2.0.0-mac.zip': { ...MAC, arch: 'universal' },
      'App-2.0.0-arm64.dmg': { ...MAC, arch: 'arm64', format: 'dmg' },
    });
    for (const arch of ['x64', 'arm64']) {
      const mac = { kind: 'mac', version: '1.0.0', arch } as const;
      expect(await fileFor(mac)).toBe('App-2.0.0-mac.zip');
    }
  });
});
