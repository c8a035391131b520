import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../cli/support.ts';
import { filesIn } from '../features/export/scene.ts';
import { setStatus } from '../server/support.ts';
import { publishBuild, seededBytes } from '../support/electron-build.ts';
import {
  type BuiltPackage,
  buildPackages,
  type PackageBuild,
  publishPackages,
} from '../support/nupkg-build.ts';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { createSquirrelClient, type SquirrelClient } from '../support/squirrel-client.ts';
import { type StaticServer, startStaticServer } from '../support/static-server.ts';
import { updateWithVelopack } from '../support/velopack-client.ts';

/**
 * An export on a plain static server, without the service: Velopack's real client, Squirrel.Windows' own classes and
 * zsync update from it, at the addresses of this service and of older servers.
 */

const has = {
  mono: (await hasProgram('mono')) && (await hasProgram('mcs')),
  zsync: await hasProgram('zsync', '-V'),
};
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
const PROGRAM = 400_000;

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let service: TestService;
let server: StaticServer;
let squirrel: SquirrelClient;
let env: Record<string, string>;
let built: Record<'squirrel' | 'velopack', readonly PackageBuild[]>;
const appImages = new Map<string, Buffer>();

const target = () => path.join(directory.path, 'public');
const exported = (...words: readonly string[]) =>
  slipway(['export', target(), ...words], { cwd: directory.path, env });

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  server = await startStaticServer(target(), { several: true });
  env = {
    LEGACY_ADDRESSES: 'hazel,nuts,electronjs',
    LEGACY_APPS: 'acme/desktop=desktop',
    PUBLIC_URL: server.url,
  };
  service = await createTestService({ store: 'directory', env });
  env.DATA_DIR = service.config.dataDirectory;
  const linux = { channel: 'linux', rid: 'linux-x64' };
  built = {
    squirrel: await buildPackages('squirrel', service.directory, VERSIONS),
    velopack: await buildPackages('velopack', service.directory, VERSIONS, linux),
  };
  for (const [index, version] of VERSIONS.entries()) {
    for (const kind of ['squirrel', 'velopack'] as const) {
      await publishPackages(service, at(kind, index));
    }
    // While a newer AppImage is paused, there is no zsync file.
    const others = version === '1.3.0' ? [] : (['appimage'] as const);
    for (const kind of ['nsis', 'mac', ...others] as const) {
      const bytes = seededBytes(PROGRAM, kind).fill(index, 1000, 3000);
      const own = { ...service, directory: path.join(service.directory, kind) };
      const { file } = await publishBuild(own, { kind, version, bytes });
      if (kind === 'appimage') appImages.set(version, file);
    }
  }
  // No client of a static server may get these.
  await setStatus(service, 'pause', '1.3.0');
  const { code, stderr } = await exported();
  expect([code, stderr]).toEqual([0, '']);
  if (has.mono) squirrel = await createSquirrelClient(path.join(directory.path, 'squirrel'));
});

afterAll(async () => {
  await server.close();
  await service.close();
  await directory.remove();
});

function at(kind: 'squirrel' | 'velopack', index: number): PackageBuild {
  const build = built[kind][index];
  if (build === undefined) throw new Error(`There is no build ${index} of ${kind}.`);
  return build;
}

/** Every file that a document of the export names is in it, and no link that ends. */
async function expectComplete(): Promise<void> {
  const files = await filesIn(target());
  let named = 0;
  for (const [name, content] of files) {
    if (/\.(exe|zip|nupkg|AppImage|blockmap|zsync)$/.test(name)) continue;
    const text = content.toString();
    expect(text, name).not.toMatch(/[?&](X-Amz-|sig=|signature=|expires)/i);
    const below = name.split('/').slice(0, 4).join('/');
    const absolute = [...text.replace(/xmlns:\w+="[^"]*"/g, '').matchAll(/http:[^"'\s<]+/g)].map(
      ([address]) => {
        expect(address.startsWith(`${server.url}/`), `${name} ${address}`).toBe(true);
        return decodeURIComponent(address.slice(server.url.length + 1));
      },
    );
    const relative = [
      ...text.matchAll(/(?:url|path): '([^':]+)'|"FileName":"([^":]+)"|^\w{40} ([^\s:]+) \d+$/gm),
    ].map(([, yaml, velopack, line]) => `${below}/${yaml ?? velopack ?? line}`);
    for (const path of [...absolute, ...relative]) {
      // The address of the appcast itself, and the website of the application.
      if (path.endsWith('.xml') || path === '') continue;
      expect(files.has(path), `${name} names ${path}`).toBe(true);
      named += 1;
    }
  }
  expect(named).toBeGreaterThan(100);
}

/** No file of the release but block maps, and no document that names it. */
async function expectNothingOf(version: string): Promise<void> {
  const isOf = (text: string) => new RegExp(`-${version.replaceAll('.', '\\.')}[-.]\\D`).test(text);
  const found = [...(await filesIn(target()))]
    .filter(([name]) => !name.endsWith('.blockmap'))
    .filter(([name, bytes]) => isOf(name) || (bytes.length < 10_000 && isOf(bytes.toString())));
  expect(found.map(([name]) => name)).toEqual([]);
}

describe('the export', () => {
  it('has every file that a document names, and nothing of a paused release', async () => {
    await expectComplete();
    await expectNothingOf('1.3.0');
  });

  it.each([
    'update/darwin/1.0.0/index.html',
    'update/linux_x64/1.0.0/index.html',
    'update/win32/1.0.0/index.html',
    'update/win32_x64/1.0.0/stable/RELEASES',
    'update/flavor/default/osx_64/1.0.0/stable',
    'update/windows_64/stable/latest.yml',
    'update/linux_64/latest-linux.yml',
    'acme/desktop/win32-x64/squirrel/1.0.0/RELEASES',
    'acme/desktop/darwin/1.0.0',
  ])('has the address of an older server: %s', async (name) => {
    expect(await readFile(path.join(target(), name), 'utf8')).toMatch('1.2.0');
  });
});

describe("Velopack's client", () => {
  const ask = (version: string) => {
    const feed = `${server.url}/feeds/desktop/stable/velopack`;
    return updateWithVelopack(directory.path, feed, { version, channel: 'linux' });
  };

  it('updates, and has nothing to do at the newest version', async () => {
    const { full } = at('velopack', 2);
    for (const version of ['0.9.0', '1.0.0', '1.1.0']) {
      const update = await ask(version);
      expect(update?.asset.Version).toBe('1.2.0');
      expect(update?.file.name).toBe(full.name);
      expect(update?.file.bytes.equals(full.bytes)).toBe(true);
    }
    expect(await ask('1.2.0')).toBeNull();
    expect(await ask('1.3.0')).toBeNull();
  });
});

describe.runIf(has.mono)("Squirrel.Windows' classes", () => {
  const deltaOf = (index: number): BuiltPackage =>
    at('squirrel', index).delta ?? at('squirrel', index).full;

  it.each([
    (_version: string) => 'feeds/desktop/stable/squirrel-windows',
    (version: string) => `update/win32/${version}`,
    (version: string) => `update/windows_64/${version}/stable`,
    (version: string) => `acme/desktop/win32-x64/${version}`,
  ])('update from %s', async (addressOf) => {
    const ask = (index: number) => {
      const { full, version } = at('squirrel', index);
      return squirrel.ask('update', `${server.url}/${addressOf(version)}`, full);
    };
    const update = await ask(0);
    expect(update.error).toBeUndefined();
    expect(update.future?.version).toBe('1.2.0');
    const wanted = [deltaOf(1), deltaOf(2)];
    expect([...update.files.keys()].sort()).toEqual(wanted.map(({ name }) => name).sort());
    for (const { name, bytes } of wanted) {
      expect(update.files.get(name)?.equals(bytes), name).toBe(true);
    }
    for (const index of [2, 3]) {
      const none = await ask(index);
      expect([none.error, none.apply]).toEqual([undefined, []]);
    }
  });
});

describe.runIf(has.zsync)('zsync', () => {
  it('downloads the changed blocks of an AppImage', async () => {
    const cwd = path.join(directory.path, 'zsync');
    await mkdir(cwd, { recursive: true });
    await writeFile(path.join(cwd, 'old'), appImages.get('1.0.0') ?? '');
    const url = `${server.url}/feeds/desktop/stable/zsync/App-x86_64.AppImage.zsync`;
    const args = ['-i', 'old', '-o', 'new', url];
    const limits = { cwd, timeout: 30_000, killSignal: 'SIGKILL' } as const;
    const { stdout, stderr } = await promisify(execFile)('zsync', args, limits);
    const bytes = await readFile(path.join(cwd, 'new'));
    expect(bytes.equals(appImages.get('1.2.0') ?? Buffer.alloc(0))).toBe(true);
    expect(Number(/fetched (\d+)/.exec(stdout + stderr)?.[1])).toBeLessThan(PROGRAM / 4);
  });
});

describe('an export after a yank', () => {
  it('of one application also takes back the addresses of older servers', async () => {
    await setStatus(service, 'yank', '1.2.0');
    const finished = await exported('--app', 'desktop', '--json');
    expect([finished.code, finished.stderr]).toEqual([0, '']);
    expect(json(finished).removed).toContain('update/darwin/1.1.0/index.html');
    // A zsync client would install an older release over this one.
    const zsync = 'feeds/desktop/stable/zsync/App-x86_64.AppImage.zsync';
    expect(json(finished).removed).toContain(zsync);
    await expectComplete();
    const feed = `${server.url}/feeds/desktop/stable/velopack`;
    const installed = { version: '1.0.0', channel: 'linux' };
    const update = await updateWithVelopack(directory.path, feed, installed);
    expect(update?.asset.Version).toBe('1.1.0');
    await expectNothingOf('1.2.0');
    if (!has.mono) return;
    const { full } = at('squirrel', 2);
    const none = await squirrel.ask('update', `${server.url}/update/win32/1.2.0`, full);
    expect([none.error, none.apply]).toEqual([undefined, []]);
  });
});
