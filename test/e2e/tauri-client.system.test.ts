import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { changeSettings } from '../../src/releases/applications/change-settings.ts';
import type { PublishRequest, PublishResult } from '../../src/releases/publish/publish-request.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { machO, tar } from '../builds/materialize.ts';
import { generateTauriKey, signWithTauri, type TauriKey } from '../support/minisign.ts';
import { publish } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { checkTauri, downloadTauri, type TauriClient } from '../support/tauri-client.ts';

/**
 * Tauri's real signer, and a model of its client: the static document, custom targets, and what publish refuses. The
 * tests build on each other.
 */

let service: TestService;
let key: TauriKey;

beforeAll(async () => {
  service = await createTestService({ store: 'directory' });
  key = await generateTauriKey(service.directory);
  await publishBundles('1.0.0', ALL);
  const stated = { tauriPubkey: await readFile(`${key.file}.pub`, 'utf8') };
  await changeSettings(
    { ...service, actor: 'test' },
    { application: 'desktop', stated, reason: null },
  );
  await publishBundles('2.0.0', ALL);
});

afterAll(() => service.close());

const WINDOWS = ['App_VERSION_x64-setup.exe', 'App_VERSION_x64_en-US.msi'];
const LINUX = ['app_VERSION_amd64.AppImage', 'app_VERSION_amd64.deb'];
const MAC = ['App_universal.app.tar.gz'];
const ALL = [...WINDOWS, ...LINUX, ...MAC];

/** Writes bundles and signs them. */
async function makeBundles(version: string, names: readonly string[]): Promise<string> {
  const directory = path.join(service.directory, `${version}-${randomBytes(4).toString('hex')}`);
  await mkdir(directory);
  for (const name of names) {
    const file = path.join(directory, name.replace('VERSION', version));
    // Real builds never have the same bytes twice.
    const program = Buffer.concat([machO('universal'), randomBytes(64)]);
    const isArchive = name.endsWith('.gz');
    const content = isArchive
      ? gzipSync(tar(['App.app/Contents/MacOS/app', program]))
      : randomBytes(2000);
    await writeFile(file, content);
    await signWithTauri(key, file, version);
  }
  return directory;
}

async function publishFrom(
  directory: string,
  version: string,
  more: Partial<PublishRequest> = {},
): Promise<PublishResult> {
  const { artifacts } = await readBuildOutput({ paths: [directory], version });
  const result = await publish(service, { version, artifacts, ...more });
  await service.refresh();
  return result;
}

async function publishBundles(
  version: string,
  names: readonly string[],
  more: Partial<PublishRequest> = {},
): Promise<PublishResult> {
  return publishFrom(await makeBundles(version, names), version, more);
}

async function clientOf(
  words: string,
  version: string,
  { query = '', ...more }: Partial<TauriClient> & { query?: string } = {},
): Promise<TauriClient> {
  const [os, arch, bundle = null] = words.split(' ') as [
    TauriClient['os'],
    TauriClient['arch'],
    TauriClient['bundle']?,
  ];
  const endpoint = `${await service.listen()}/feeds/desktop/stable/tauri/latest.json${query}`;
  const known = { publicKey: key.publicKey, requiresSignedVersion: true };
  return { os, arch, bundle, version, endpoints: [endpoint], ...known, ...more };
}

async function versionFor(...given: Parameters<typeof clientOf>): Promise<string | undefined> {
  return (await checkTauri(await clientOf(...given)))?.version;
}

describe.each([
  ['windows x86_64 nsis', /\.exe$/],
  ['windows x86_64 msi', /\.msi$/],
  ['windows x86_64', /\.exe$/],
  ['windows aarch64', /\.exe$/],
  ['linux x86_64 appimage', /\.AppImage$/],
  ['linux x86_64 deb', /\.deb$/],
  ['linux x86_64', /\.AppImage$/],
  ['darwin aarch64 app', /universal\.app\.tar\.gz$/],
  ['darwin x86_64', /universal\.app\.tar\.gz$/],
] as const)('%s', (words, name) => {
  it('updates from latest.json, and from its own address', async () => {
    const base = `${await service.listen()}/feeds/desktop/stable/tauri`;
    for (const endpoint of [
      `${base}/latest.json`,
      `${base}/latest.json?current_version={{current_version}}`,
      `${base}/{{target}}/{{arch}}/{{current_version}}/{{bundle_type}}`,
    ]) {
      const client = await clientOf(words, '1.0.0', { endpoints: [endpoint] });
      const update = await checkTauri(client);
      expect([update?.version, update?.url]).toEqual(['2.0.0', expect.stringMatching(name)]);
      if (update !== undefined) await downloadTauri(client, update);
      const current = await clientOf(words, '2.0.0', { endpoints: [endpoint] });
      expect(await checkTauri(current)).toBeUndefined();
    }
  });
});

describe('a target that the application has set', () => {
  it.each(['darwin-universal', 'darwin-universal-app', 'darwin-aarch64'])(
    '%s finds its build',
    async (target) => {
      const own = `${await service.listen()}/feeds/desktop/stable/tauri/{{target}}/{{arch}}/{{current_version}}`;
      for (const more of [{ target }, { target, endpoints: [own] }]) {
        const client = await clientOf('darwin aarch64 app', '1.0.0', more);
        const update = await checkTauri(client);
        expect(update?.url).toMatch(/App_universal\.app\.tar\.gz$/);
        if (update !== undefined) await downloadTauri(client, update);
      }
    },
  );

  it('that the service does not know leads to the next address', async () => {
    const base = `${await service.listen()}/feeds/desktop/stable/tauri`;
    const first = `${base}/{{target}}/{{arch}}/{{current_version}}`;
    const second = `${base}/linux/{{arch}}/{{current_version}}`;
    const steamdeck = { target: 'steamdeck', endpoints: [first, second] };
    expect(await versionFor('linux x86_64', '1.0.0', steamdeck)).toBe('2.0.0');
    const alone = clientOf('linux x86_64', '1.0.0', { target: 'steamdeck', endpoints: [first] });
    await expect(checkTauri(await alone)).rejects.toThrow('ReleaseNotFound');
  });
});

describe('publish refuses', () => {
  const NAME = 'app_3.0.0_amd64.AppImage';
  const build = () => makeBundles('3.0.0', ['app_VERSION_amd64.AppImage']);

  it.each<[string, (file: string) => Promise<unknown>, RegExp]>([
    [
      'a tampered file',
      (file) => writeFile(file, randomBytes(2000)),
      /not a signature of this file/,
    ],
    [
      "another key's signature",
      async (file) => {
        const directory = path.join(path.dirname(file), 'keys');
        await mkdir(directory);
        await signWithTauri(await generateTauriKey(directory), file, '3.0.0');
      },
      /it was made with the key [0-9A-F]{16}, and desktop has the key/,
    ],
    [
      "another file's signature",
      async (file) => {
        // The comment names the same file.
        const other = path.join(await build(), NAME);
        await copyFile(`${other}.sig`, `${file}.sig`);
      },
      /not a signature of this file/,
    ],
    [
      'the signature of another version',
      (file) => signWithTauri(key, file, '2.0.0'),
      /it signs version 2\.0\.0, not 3\.0\.0/,
    ],
    [
      'a comment that was changed to another version',
      async (file) => {
        await signWithTauri(key, file, '2.0.0');
        const text = Buffer.from(await readFile(`${file}.sig`, 'utf8'), 'base64').toString();
        const renamed = text.replace('version:2.0.0', 'version:3.0.0');
        await writeFile(`${file}.sig`, Buffer.from(renamed).toString('base64'));
      },
      /its trusted comment was changed/,
    ],
  ])('%s', async (_what, spoil, message) => {
    const directory = await build();
    await spoil(path.join(directory, NAME));
    await expect(publishFrom(directory, '3.0.0')).rejects.toThrow(message);
    expect(await versionFor('linux x86_64 appimage', '2.0.0')).toBeUndefined();
  });

  it('nothing that the signer wrote for the release', async () => {
    const { signatures } = await publishBundles('2.1.0', ALL);
    expect(signatures).toMatchObject({ count: ALL.length, withoutVersion: [] });
    expect(await versionFor('linux x86_64 deb', '2.0.0')).toBe('2.1.0');
  });
});

describe('latest.json', () => {
  it('follows a rollout by the id of an installation', async () => {
    await publishBundles('3.0.0', ALL, { rollout: { text: '50%', freezeWindows: [] } });
    const versions = new Map<string, string | undefined>();
    for (let id = 0; id < 20; id++) {
      const query = `?installation_id=client-${id}`;
      versions.set(query, await versionFor('windows x86_64 nsis', '2.0.0', { query }));
    }
    expect(new Set(versions.values())).toEqual(new Set(['2.1.0', '3.0.0']));
    // The rollout is the same on every platform, and for every way to ask.
    for (const [query, version] of versions) {
      expect(await versionFor('linux x86_64 deb', '2.0.0', { query })).toBe(version);
      const base = `${await service.listen()}/feeds/desktop/stable/tauri`;
      const endpoints = [`${base}/{{target}}/{{arch}}/{{current_version}}${query}`];
      expect(await versionFor('darwin aarch64', '2.0.0', { endpoints })).toBe(version);
    }
    expect(await versionFor('windows x86_64 nsis', '2.0.0')).toBe('2.1.0');
  });

  it('withdraws a release that is yanked', async () => {
    const yank = { application: 'desktop', channel: undefined, reason: null, version: '3.0.0' };
    await changeStatus({ ...service, actor: 'test' }, 'yank', yank);
    await service.refresh();
    for (const id of [0, 1, 2, 3]) {
      const query = `?installation_id=client-${id}`;
      expect(await versionFor('windows x86_64 nsis', '2.0.0', { query })).toBe('2.1.0');
      // A client that has the yanked release is not an error either.
      expect(await versionFor('windows x86_64 nsis', '3.0.0', { query })).toBeUndefined();
    }
  });

  it('stays at the newest release that has a build for every machine', async () => {
    await publishBundles('4.0.0', WINDOWS);
    for (const words of ['windows x86_64 nsis', 'linux x86_64 deb', 'darwin aarch64 app']) {
      expect(await versionFor(words, '2.0.0')).toBe('2.1.0');
      expect(await versionFor(words, '4.0.0')).toBeUndefined();
    }
    await publishBundles('4.0.0', [...LINUX, ...MAC]);
    expect(await versionFor('windows x86_64 nsis', '2.0.0')).toBe('4.0.0');
    expect(await versionFor('darwin aarch64 app', '2.0.0')).toBe('4.0.0');
  });

  it('is an error to a client of a platform that was never published', async () => {
    const client = await clientOf('linux aarch64 deb', '1.0.0');
    await expect(checkTauri(client)).rejects.toThrow(
      'TargetsNotFound linux-aarch64-deb, linux-aarch64',
    );
  });

  it('is never "no update" while the catalog cannot be read', async () => {
    const blind = await createTestService({ start: false });
    try {
      const endpoint = `${await blind.listen()}/feeds/desktop/stable/tauri/latest.json`;
      const client = await clientOf('linux x86_64', '1.0.0', { endpoints: [endpoint] });
      await expect(checkTauri(client)).rejects.toThrow('ReleaseNotFound');
      // The client's next address answers instead.
      const [working = ''] = (await clientOf('linux x86_64', '1.0.0')).endpoints;
      const both = { endpoints: [endpoint, working] };
      expect(await versionFor('linux x86_64', '1.0.0', both)).toBe('4.0.0');
    } finally {
      await blind.close();
    }
  });
});
