import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readNewestManifest, readRevision } from '../../../src/catalog/reading/read.ts';
import { AppError } from '../../../src/core/errors.ts';
import {
  type ImportDeps,
  type ImportRequest,
  type ImportResult,
  importReleases,
} from '../../../src/features/import/import-releases.ts';
import { readImportSource } from '../../../src/features/import/sources/read-source.ts';
import { readSourceRelease } from '../../../src/features/import/sources/read-source-release.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createNewestKnown } from '../../../src/store/sequence/newest-known.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { publish } from '../../support/release.ts';
import {
  electronFolder,
  type GithubRelease,
  githubFolder,
  serverFolder,
  writeSource,
} from './sources/fixtures.ts';

describe('importing releases', () => {
  let store: ObjectStore;
  let uploads: string[];
  let parts: Pick<ImportDeps, 'store' | 'clock' | 'randomness' | 'actor'>;
  let reads: string[];

  beforeEach(() => {
    const clock = createFixedClock();
    const memory = createMemoryStore({ clock });
    uploads = [];
    reads = [];
    store = {
      ...memory,
      upload: async (key, source, options) => {
        const outcome = await memory.upload(key, source, options);
        if (outcome === 'created') uploads.push(key);
        return outcome;
      },
    };
    parts = { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
  });

  async function run(
    root: string,
    request: Partial<ImportRequest> = {},
    deps: Partial<ImportDeps> = {},
  ): Promise<ImportResult> {
    const { releases } = await readImportSource({ path: root });
    return importReleases(
      {
        ...parts,
        newestKnown: createNewestKnown(),
        ensureConforming: async () => {},
        onProgress: ({ phase, filename }) => {
          if (phase === 'hash') reads.push(filename);
        },
        readRelease: (release) => readSourceRelease(release, undefined),
        rolloutOf: () => undefined,
        beforeImport: async () => {},
        onImported: () => {},
        ...deps,
      },
      {
        application: 'desktop',
        channel: 'stable',
        prereleaseChannel: undefined,
        create: true,
        allowPrerelease: false,
        provenance: { commit: null, buildUrl: null },
        releases,
        ...request,
      },
    );
  }

  const outcomes = ({ releases }: ImportResult) =>
    releases.map(({ version, channel, outcome }) => `${version} ${channel} ${outcome}`);
  const channels = async () => (await readRevision(parts, 'desktop'))?.signed.channels ?? {};
  const offers = async (name: string) =>
    ((await channels())[name]?.offers ?? []).map((each) => `${each.version} ${each.released_at}`);
  const release = async (version: string) =>
    (await readNewestManifest(parts, 'desktop', version))?.release;
  const github = (...releases: readonly GithubRelease[]) => writeSource(githubFolder(releases));
  const image = (version: string) => `App-${version}-x64.AppImage`;
  const of = (version: string, date: string, more = {}): GithubRelease => ({
    tag: `v${version}`,
    date: `${date}T00:00:00Z`,
    files: [image(version)],
    more,
  });
  /** 1.0.1 was released after 1.1.0. */
  const HISTORY = [
    of('1.0.1', '2019-03-01'),
    of('1.1.0', '2019-02-01'),
    of('1.0.0', '2019-01-01'),
    of('2.0.0-rc.1', '2019-04-01', { prerelease: true }),
    of('2.0.0-1', '2019-04-02'),
  ];

  it('keeps order, dates, names and notes, and gives pre-releases their own channels', async () => {
    const result = await run(await github(...HISTORY));
    expect(outcomes(result)).toEqual([
      '1.0.0 stable imported',
      '1.1.0 stable imported',
      '1.0.1 stable imported',
      '2.0.0-rc.1 rc imported',
      '2.0.0-1 beta imported',
    ]);
    expect(result.created).toEqual(['stable', 'rc', 'beta']);
    expect(await offers('stable')).toEqual([
      '1.0.0 2019-01-01T00:00:00.000Z',
      '1.1.0 2019-02-01T00:00:00.000Z',
      '1.0.1 2019-03-01T00:00:00.000Z',
    ]);
    expect((await channels()).rc?.inherits).toBe('stable');
    expect(await release('1.0.0')).toMatchObject({
      releasedAt: '2019-01-01T00:00:00.000Z',
      name: 'Release v1.0.0',
      notes: { und: 'Notes of v1.0.0 <b>&amp;</b> ]]>' },
    });
  });

  it('changes and hashes nothing when it is run again', async () => {
    const root = await github(...HISTORY);
    await run(root);
    const before = await readRevision(parts, 'desktop');
    [uploads, reads] = [[], []];
    const again = await run(root, { create: false });
    expect(again.releases.map(({ outcome }) => outcome)).toEqual(Array(5).fill('present'));
    expect([uploads, reads]).toEqual([[], []]);
    expect(await readRevision(parts, 'desktop')).toEqual(before);
    expect(again.announced).toBe(null);
  });

  it('goes on after a failure of the store, and uploads nothing twice', async () => {
    const root = await github(...HISTORY);
    let left = 12;
    const failing: ObjectStore = {
      ...store,
      create: async (key, body, options) => {
        if (left-- <= 0) throw new AppError('store_denied', 'No more.');
        return store.create(key, body, options);
      },
    };
    await expect(run(root, {}, { store: failing })).rejects.toThrow('No more.');
    expect((await offers('stable')).length).toBeGreaterThan(0);
    const finished = await run(root);
    expect(finished.releases.map(({ outcome }) => outcome)).toContain('present');
    expect(finished.releases.map(({ outcome }) => outcome)).toContain('imported');
    // publish makes a zsync file for each AppImage.
    expect(uploads.filter((key) => !key.endsWith('.zsync'))).toHaveLength(5);
    expect(new Set(uploads).size).toBe(uploads.length);
    expect(await offers('stable')).toHaveLength(3);
  });

  it('adds what was refused before, in a later run', async () => {
    const root = await github(of('1.0.0', '2019-01-01'), of('1.1.0', '2019-02-01'));
    const file = path.join(root, 'v1.0.0', image('1.0.0'));
    // The same size, and other bytes.
    await writeFile(file, `BYTES of ${image('1.0.0')}`);
    const first = await run(root);
    expect(outcomes(first)).toEqual(['1.0.0 stable refused', '1.1.0 stable imported']);
    expect(first.releases[0]?.reason).toMatch(/is not the file that .*releases\.json describes/);
    expect(await release('1.0.0')).toBeUndefined();
    await writeFile(file, `bytes of ${image('1.0.0')}`);
    expect(outcomes(await run(root))).toEqual(['1.0.0 stable imported', '1.1.0 stable present']);
    expect((await release('1.0.0'))?.releasedAt).toBe('2019-01-01T00:00:00.000Z');
  });

  it('never replaces a file that was published here', async () => {
    const root = await github(of('1.0.0', '2019-01-01'));
    await run(root);
    const other = await writeSource({
      ...githubFolder([of('1.0.0', '2019-01-01', { assets: [{ name: image('1.0.0') }] })]),
      [`v1.0.0/${image('1.0.0')}`]: 'other bytes',
    });
    const [result] = (await run(other)).releases;
    expect(result).toMatchObject({ outcome: 'refused', uploaded: 0 });
    expect(result?.reason).toMatch(/A published file is never replaced/);
  });

  it('leaves out what was withdrawn here, and what is dated in the future', async () => {
    const root = await github(of('1.0.0', '2019-01-01'), of('1.1.0', '2019-02-01'));
    await run(root);
    const change = { application: 'desktop', reason: null, channel: undefined };
    await changeStatus(parts, 'yank', { ...change, version: '1.1.0' });
    await changeStatus(parts, 'retire', { ...change, version: '1.0.0' });
    const more = await github(...[of('1.0.0', '2019-01-01'), of('1.1.0', '2019-02-01')], {
      ...of('1.2.0', '2999-01-01'),
    });
    const result = await run(more);
    expect(outcomes(result)).toEqual([
      '1.0.0 stable left_out',
      '1.1.0 stable left_out',
      '1.2.0 stable left_out',
    ]);
    expect(result.releases.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/retired/),
      expect.stringMatching(/yanked/),
      expect.stringMatching(/future/),
    ]);
  });

  it('creates nothing without being allowed to, before the first write', async () => {
    const root = await github(...HISTORY);
    await expect(run(root, { create: false })).rejects.toMatchObject({ code: 'needs_create' });
    await publish(parts, { version: '0.1.0', artifacts: [] }).catch(() => undefined);
    await run(await github(of('1.0.0', '2019-01-01')));
    await expect(run(root, { create: false })).rejects.toThrow(/no channel "rc" and "beta"/);
    expect(await offers('stable')).toHaveLength(1);
    const all = await run(root, { create: false, prereleaseChannel: 'stable' });
    expect(all.releases.map(({ outcome }) => outcome)).toEqual([
      ...['present', 'imported', 'imported', 'refused', 'refused'],
    ]);
    expect(all.releases[3]?.reason).toMatch(/add --allow-prerelease/);
  });

  it('asks once, with the releases that are new, before the first write', async () => {
    const asked: string[][] = [];
    const beforeImport: ImportDeps['beforeImport'] = async (_before, added) => {
      asked.push(added.map(({ release: { version } }) => version));
    };
    await run(await github(of('1.0.0', '2019-01-01')), {}, { beforeImport });
    const refuse: ImportDeps['beforeImport'] = async (before, added) => {
      await beforeImport(before, added);
      throw new AppError('status_forbids', 'No.');
    };
    const root = await github(of('1.0.0', '2019-01-01'), of('1.1.0', '2019-02-01'));
    await expect(run(root, {}, { beforeImport: refuse })).rejects.toThrow('No.');
    expect(asked).toEqual([['1.0.0'], ['1.1.0']]);
    expect(await offers('stable')).toHaveLength(1);
  });

  it('keeps the channels of the source, and refuses only the release whose channel is no name', async () => {
    const version = (name: string, channel: string) => ({
      name,
      channel,
      availability: `2020-01-0${name[0]}T00:00:00Z`,
      files: [['osx_64', `App-${name}.zip`]] as const,
    });
    const root = await writeSource(
      serverFolder([
        version('1.0.0', 'stable'),
        version('2.0.0', 'early'),
        version('3.0.0', 'A/B'),
      ]),
    );
    const result = await run(root, { channel: 'other' });
    expect(outcomes(result)).toEqual([
      '1.0.0 stable imported',
      '2.0.0 early imported',
      '3.0.0 A/B refused',
    ]);
  });

  it('passes on the rollout of a feed, and imports the block maps', async () => {
    const contents = electronFolder();
    const root = await writeSource({
      ...contents,
      'latest.yml': `${contents['latest.yml']}stagingPercentage: 20\n`,
    });
    const rolloutOf: ImportDeps['rolloutOf'] = ({ staged }) =>
      staged === null ? undefined : { text: `${staged.percentage}%`, freezeWindows: [] };
    const result = await run(root, {}, { rolloutOf });
    expect(outcomes(result)).toEqual([
      '1.0.0 stable imported',
      '1.1.0 stable imported',
      '1.2.0-beta.1 beta imported',
    ]);
    const { stable } = await channels();
    expect(stable?.offers.map(({ rollout }) => rollout?.plan)).toEqual([undefined, '20%']);
    const windows = (await release('1.1.0'))?.artifacts.find(({ format }) => format === 'nsis');
    expect(windows?.companions.map(({ kind }) => kind)).toEqual(['blockmap']);
    expect((await run(root, {}, { rolloutOf })).releases.map(({ outcome }) => outcome)).toEqual(
      Array(3).fill('present'),
    );
  });
});
