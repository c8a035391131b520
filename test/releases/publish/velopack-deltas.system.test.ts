import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { artifactKey } from '../../../src/catalog/documents/keys.ts';
import { publishRelease } from '../../../src/releases/publish/publish-release.ts';
import { unpackPackage } from '../../../src/releases/publish/velopack/unpack-package.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { pe, zip } from '../../builds/materialize.ts';
import { editedBytes, seededBytes } from '../../support/electron-build.ts';
import { READ_FAULT_NAMES, withFaultyReads } from '../../support/faulty-reads.ts';
import { hasProgram } from '../../support/programs.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/**
 * Deltas of Velopack packages that publish makes. The real updater is not on npm, so `applyDelta` follows the
 * `patch.rs` of Velopack, and Debian's zstd decodes each patch.
 */

const hasZstd = await hasProgram('zstd');
const run = promisify(execFile);

let service: TestService;
beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
});
afterEach(() => service.close());

type Files = Readonly<Record<string, Buffer>>;

const LIBRARY = seededBytes(3_000_000, 'library');
const filesOf = (version: string, own: Files): Files => ({
  'App.nuspec': Buffer.from(
    `<?xml version="1.0"?><package><metadata><id>App</id><version>${version}</version><channel>win</channel><mainExe>App.exe</mainExe></metadata></package>`,
  ),
  '[Content_Types].xml': Buffer.from(`<Types>${version}</Types>`),
  'lib/app/App.exe': Buffer.concat([pe('x64'), Buffer.from(version)]),
  'lib/app/same.dll': seededBytes(200_000, 'same'),
  ...own,
});

async function writePackage(version: string, own: Files): Promise<string> {
  const root = await mkdtemp(path.join(service.directory, 'build-'));
  const file = path.join(root, `App-${version}-full.nupkg`);
  await writeFile(file, zip(Object.entries(filesOf(version, own))));
  return file;
}

async function publish(
  version: string,
  own: Files,
  request: Partial<Parameters<typeof publishRelease>[1]> = {},
  store: ObjectStore = service.store,
) {
  const file = await writePackage(version, own);
  const { artifacts } = await readBuildOutput({
    paths: [`${file},os=windows,arch=x64,format=velopack`],
    version,
  });
  const deps = {
    ...service,
    store,
    actor: 'test',
    ensureConforming: async () => {},
    onProgress: () => {},
  };
  const result = await publishRelease(deps, {
    application: 'desktop',
    channel: 'stable',
    version,
    artifacts,
    create: true,
    allowPrerelease: false,
    provenance: { commit: null, buildUrl: null },
    deltas: { countMax: 3, areOnlyNamed: false },
    ...request,
  });
  await service.refresh();
  return { file, result };
}

const deltasOf = ({ result }: Awaited<ReturnType<typeof publish>>) =>
  result.artifacts.flatMap(({ artifact }) =>
    artifact.companions.map(({ base, filename, size }) => ({ base, filename, size })),
  );

/** Applies a delta to the unpacked base, as `patch.rs` does, and returns the files by name. */
async function applyDelta(base: string, delta: string): Promise<Files> {
  const directory = await mkdtemp(path.join(service.directory, 'apply-'));
  const before = await unpackPackage(base, path.join(directory, 'base'));
  const patches = await unpackPackage(delta, path.join(directory, 'delta'));
  const result: Record<string, Buffer> = {};
  for (const { name, path: file, size } of patches.values()) {
    const found = /^(lib\/.*)\.(zsdiff|diff|shasum)$/.exec(name);
    if (found === null) result[name] = await readFile(file);
    if (found === null || found[2] === 'shasum') continue;
    const [, own = ''] = found;
    const old = before.get(own)?.path ?? '';
    if (found[2] === 'diff') {
      expect(size).toBe(0);
      result[own] = await readFile(old);
      continue;
    }
    const out = path.join(directory, 'patched');
    await rename(file, `${file}.zst`);
    await run('zstd', ['-q', '-d', '-f', `--patch-from=${old}`, `${file}.zst`, '-o', out]);
    result[own] = await readFile(out);
  }
  return result;
}

const feed = async (name: string): Promise<string> =>
  `${await service.listen()}/feeds/desktop/stable/velopack/${name}`;

const listed = async (localVersion: string) => {
  const answer = await fetch(await feed(`releases.win.json?localVersion=${localVersion}`));
  const { Assets } = (await answer.json()) as { Assets: { Type: string; FileName: string }[] };
  return Assets.map(({ Type, FileName }) => `${Type} ${FileName}`);
};

describe.skipIf(!hasZstd)('publish makes a delta of a Velopack package', () => {
  it('from each earlier version, which gives exactly the files of the package', async () => {
    const bases: string[] = [];
    for (const [version, edits] of [
      ['1.0.0', 9],
      ['1.10.0', 5],
      ['1.11.0', 1],
    ] as const) {
      const { file } = await publish(version, {
        'lib/app/App.dll': editedBytes(LIBRARY, edits, version),
        'lib/app/removed.txt': Buffer.from('old'),
        'lib/app/empty.txt': Buffer.alloc(0),
      });
      bases.push(file);
    }
    const own = {
      'lib/app/App.dll': LIBRARY,
      'lib/app/added.dll': seededBytes(1_000, 'new'),
      'lib/app/empty.txt': Buffer.from('no longer empty'),
    };
    const next = await publish('2.0.0', own);
    expect(next.result.deltaRemarks).toEqual([]);
    const deltas = deltasOf(next);
    expect(deltas.map(({ base, filename }) => [base, filename])).toEqual([
      ['1.11.0', 'App-2.0.0-from_1_11_0-delta.nupkg'],
      ['1.10.0', 'App-2.0.0-from_1_10_0-delta.nupkg'],
      ['1.0.0', 'App-2.0.0-from_1_0_0-delta.nupkg'],
    ]);
    for (const [index, { filename, size }] of deltas.entries()) {
      expect(size).toBeLessThan(30_000);
      const delta = path.join(service.directory, filename);
      await writeFile(delta, Buffer.from(await (await fetch(await feed(filename))).arrayBuffer()));
      expect(await applyDelta(bases.at(-1 - index) ?? '', delta)).toEqual(filesOf('2.0.0', own));
    }
    expect(await listed('1.10.0')).toEqual([
      'Full App-2.0.0-full.nupkg',
      'Delta App-2.0.0-from_1_10_0-delta.nupkg',
    ]);
    expect(await listed('1.0.0')).toEqual([
      'Full App-2.0.0-full.nupkg',
      'Delta App-2.0.0-from_1_0_0-delta.nupkg',
    ]);
    expect(await listed('0.9.0')).toEqual(['Full App-2.0.0-full.nupkg']);
    const again = await publish('2.0.0', own);
    expect(again.result.changed).toBe(false);
  });

  it('from the versions that most clients run', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await publish(version, { 'lib/app/App.dll': editedBytes(LIBRARY, 3, version) });
    }
    const row = { channel: 'stable', platform: 'windows' };
    const seen = [
      { ...row, version: '1.0.0', checks: 900 },
      { ...row, version: '1.1.0', checks: 5 },
      { ...row, platform: 'macos', version: '1.2.0', checks: 5_000 },
    ];
    const file = await writePackage('2.0.0', { 'lib/app/App.dll': LIBRARY });
    const { artifacts } = await readBuildOutput({
      paths: [`${file},os=windows,arch=x64,format=velopack`],
      version: '2.0.0',
    });
    const result = await publishRelease(
      {
        ...service,
        actor: 'test',
        ensureConforming: async () => {},
        onProgress: () => {},
        readSeenChecks: async () => seen,
      },
      {
        application: 'desktop',
        channel: 'stable',
        version: '2.0.0',
        artifacts,
        create: false,
        allowPrerelease: false,
        provenance: { commit: null, buildUrl: null },
        deltas: { countMax: 2, areOnlyNamed: false },
      },
    );
    expect(result.artifacts[0]?.artifact.companions.map(({ base }) => base)).toEqual([
      '1.0.0',
      '1.1.0',
    ]);
  });

  it('only when it is small, and says why it made none', async () => {
    await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    const other = await publish('2.0.0', { 'lib/app/App.dll': randomBytes(LIBRARY.length) });
    expect(deltasOf(other)).toEqual([]);
    expect(other.result.deltaRemarks).toEqual([
      expect.stringMatching(
        /^Clients of 1\.0\.0 download the full package, because no delta of App-2\.0\.0-full\.nupkg was made: it would have 3\.0 MB, more than 30% of the package\.$/,
      ),
    ]);
    const named = await publish('3.0.0', { 'lib/app/a.diff': Buffer.from('x') });
    expect(named.result.deltaRemarks[0]).toMatch(
      /its file lib\/app\/a\.diff has a name of a delta/,
    );
  });

  it('only from versions that may update to it, and names it in a dry run', async () => {
    await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    await publish('1.1.0', { 'lib/app/App.dll': editedBytes(LIBRARY, 3, 'a') });
    const files = { 'lib/app/App.dll': editedBytes(LIBRARY, 3, 'b') };
    const deltas = { countMax: 3, areOnlyNamed: true };
    const named = await publish('1.2.0', files, { requires: '>=1.1.0', deltas });
    expect(named.result.deltaRemarks).toEqual([
      'Would make a delta of App-1.2.0-full.nupkg from 1.1.0.',
    ]);
    expect(deltasOf(named)).toEqual([]);
    const made = await publish('1.3.0', files, { requires: '>=1.1.0' });
    expect(deltasOf(made).map(({ base }) => base)).toEqual(['1.2.0', '1.1.0']);
  });

  it('not without a temporary directory: the release is published all the same', async () => {
    await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    vi.stubEnv('TMPDIR', path.join(service.directory, 'missing'));
    const files = { 'lib/app/App.dll': editedBytes(LIBRARY, 3, 'a') };
    const next = await publish('1.1.0', files).finally(() => vi.unstubAllEnvs());
    expect(next.result.changed).toBe(true);
    expect(next.result.deltaRemarks[0]).toMatch(/no delta was made: ENOENT/);
  });

  it.each(READ_FAULT_NAMES)('after %s in one answer of the store', async (fault) => {
    await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    const faulty = withFaultyReads(service.store, fault);
    const own = { 'lib/app/App.dll': editedBytes(LIBRARY, 1, 'next') };
    const next = await publish('1.1.0', own, {}, faulty.store);
    expect(deltasOf(next)).toMatchObject([{ base: '1.0.0' }]);
    expect(faulty.freshReads).toHaveLength(1);
  });

  it('and leaves it out when the store does not return the base', async () => {
    await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    const broken = withFaultyReads(service.store, 'a connection that breaks', { timesMax: 9 });
    const next = await publish('1.1.0', { 'lib/app/App.dll': LIBRARY }, {}, broken.store);
    expect(next.result.changed).toBe(true);
    expect(deltasOf(next)).toEqual([]);
    expect(next.result.deltaRemarks).toEqual([
      'Clients of 1.0.0 download the full package, because no delta of App-1.1.0-full.nupkg was made: The connection was reset.',
    ]);
  });

  it('not from a corrupt package, and leaves no file on the disk', async () => {
    const { result } = await publish('1.0.0', { 'lib/app/App.dll': LIBRARY });
    const { object = '', size = 0 } = result.artifacts[0]?.artifact ?? {};
    const key = artifactKey('desktop', object);
    const { store } = service;
    const read: ObjectStore['read'] = async (name, ...options) => {
      const found = await store.read(name, ...options);
      return name === key && found
        ? { ...found, stream: Readable.from([Buffer.alloc(size)]) }
        : found;
    };
    const left = async () =>
      (await readdir(tmpdir())).filter((name) => /^slipway-deltas-/.test(name));
    const before = await left();
    const next = await publish('1.1.0', { 'lib/app/App.dll': LIBRARY }, {}, { ...store, read });
    expect(deltasOf(next)).toEqual([]);
    expect(next.result.deltaRemarks).toEqual([
      'Clients of 1.0.0 download the full package, because no delta of App-1.1.0-full.nupkg was made: the stored package of 1.0.0 is corrupt: run "slipway verify".',
    ]);
    const unknown = { requires: 'nonsense' };
    await expect(publish('1.2.0', { 'lib/app/App.dll': LIBRARY }, unknown)).rejects.toThrow();
    expect(await left()).toEqual(before);
  });
});
