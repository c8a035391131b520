import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { buildPackages, hashOf, type PackageBuild } from '../support/nupkg-build.ts';
import { temporaryDirectory, zip } from './materialize.ts';

/** Deltas of Squirrel and Velopack, with the version that each is applied to. */

type Tool = 'squirrel' | 'velopack';

async function build(tool: Tool, versions: readonly string[], options = {}): Promise<PackageBuild> {
  const builds = await buildPackages(tool, await temporaryDirectory(), versions, options);
  return builds.at(-1) as PackageBuild;
}

async function read({ directory, version }: PackageBuild, paths: readonly string[] = [directory]) {
  const { artifacts, skipped } = await readBuildOutput({ paths, version });
  const deltas = artifacts.flatMap(({ format, companions }) =>
    companions.map(({ kind, base, filename, stated }) => ({
      format,
      kind,
      base,
      filename,
      stated: stated.map(({ algorithm }) => algorithm),
    })),
  );
  const skippedDeltas = skipped.filter(({ path: skippedPath }) => skippedPath.includes('-delta'));
  return { artifacts, deltas, reasons: skippedDeltas.map(({ reason }) => reason) };
}

describe('a delta', () => {
  it.each([
    ['squirrel', ['1.0.0', '1.1.0'], '1.0.0', ['sha1']],
    ['squirrel', ['1.0.0', '1.10.0', '1.9.0', '1.11.0'], '1.10.0', ['sha1']],
    ['squirrel', ['1.0.0-beta.1', '1.0.0-beta.2'], '1.0.0-beta.1', ['sha1']],
    ['squirrel', ['1.0.0-beta.1', '1.0.0'], '1.0.0-beta.1', ['sha1']],
    // Squirrel compares pre-releases as texts, also when it makes a delta.
    ['squirrel', ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0-rc.3'], '1.0.0-rc.2', ['sha1']],
    ['velopack', ['1.0.0', '1.1.0'], '1.0.0', ['sha1', 'sha256']],
    ['velopack', ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0'], '1.0.0-rc.10', ['sha1', 'sha256']],
  ] as const)('of %s %j is applied to %s', async (tool, versions, base, stated) => {
    const last = await build(tool, versions);
    const { deltas } = await read(last);
    const filename = last.delta?.name;
    expect(deltas).toEqual([{ format: tool, kind: 'delta', base, filename, stated }]);
  });

  it('belongs to a package that is published by its own path, and gets its architecture', async () => {
    const last = await build('squirrel', ['1.0.0', '1.1.0'], { arch: 'arm64' });
    const { deltas } = await read(last, [path.join(last.directory, last.full.name)]);
    expect(deltas).toMatchObject([{ base: '1.0.0', filename: 'App-arm64-1.1.0-delta.nupkg' }]);
  });

  it('is of the channel of Velopack that lists it', async () => {
    const directory = await temporaryDirectory();
    await buildPackages('velopack', directory, ['1.0.0', '1.1.0'], { channel: 'win-x64' });
    const options = { channel: 'linux', rid: 'linux-x64' };
    const builds = await buildPackages('velopack', directory, ['0.9.0', '1.1.0'], options);
    const { deltas } = await read(builds[1] as PackageBuild);
    expect(deltas).toMatchObject([
      { base: '0.9.0', filename: 'App-1.1.0-linux-delta.nupkg' },
      { base: '1.0.0', filename: 'App-1.1.0-win-x64-delta.nupkg' },
    ]);
  });

  it.each([
    ['squirrel', 'RELEASES'],
    ['velopack', 'releases.{channel}.json'],
  ] as const)(
    'of %s is skipped without its feed, and when that lists no older package',
    async (tool, feed) => {
      const last = await build(tool, ['1.0.0', '1.1.0']);
      const name = feed.replace('{channel}', 'win');
      await rm(path.join(last.directory, name));
      const format = tool;
      const named = `${path.join(last.directory, last.full.name)},arch=x64,format=${format},os=windows`;
      const without = await read(last, [named]);
      expect(without.deltas).toEqual([]);
      expect(without.reasons).toEqual([
        `a delta, and no ${feed} beside it lists it, so that the version that it is applied to is unknown. Publish the whole directory as the build wrote it`,
      ]);
      const { name: listed, bytes } = last.delta as NonNullable<typeof last.delta>;
      const only =
        tool === 'squirrel'
          ? `${hashOf('sha1', bytes)} ${listed} ${bytes.length}`
          : JSON.stringify({
              Assets: [
                { PackageId: 'App', Version: '1.1.0', Type: 'Delta', FileName: listed },
                null,
              ],
            });
      await writeFile(path.join(last.directory, name), only);
      const alone = await read(last);
      expect(alone.artifacts).toHaveLength(1);
      expect(alone.reasons).toEqual([
        expect.stringMatching(/^a delta, and .* lists no older full package.*publish again$/),
      ]);
    },
  );

  it('is skipped when it is of another version, of no package, or no package itself', async () => {
    const last = await build('squirrel', ['1.0.0', '1.1.0-beta.1', '1.1.0']);
    const full = last.full.name;
    const delta = 'App-1.1.0-beta1-delta.nupkg';
    const nuspec = '<package><metadata><version>1.1.0-beta1</version></metadata></package>';
    await writeFile(path.join(last.directory, delta), zip([['App.nuspec', Buffer.from(nuspec)]]));
    const { reasons, deltas } = await read(last);
    expect(deltas).toMatchObject([{ base: '1.1.0-beta.1', filename: 'App-1.1.0-delta.nupkg' }]);
    expect(reasons).toEqual([
      'the full package that it belongs to is not published: App-1.1.0-beta1-full.nupkg',
    ]);
    const own = path.join(last.directory, 'App-1.1.0-delta.nupkg');
    await writeFile(own, 'text');
    const refusal = { code: 'invalid_artifact' };
    await expect(read(last, [last.directory, own])).rejects.toMatchObject(refusal);
    await writeFile(path.join(last.directory, 'RELEASES'), '');
    expect((await read(last)).reasons).toContain('it is not a NuGet package. Build again');
    await rm(path.join(last.directory, full));
    await expect(read(last)).rejects.toMatchObject(refusal);
  });

  it('of other bytes than the feed states is refused', async () => {
    const last = await build('squirrel', ['1.0.0', '1.1.0']);
    const other = zip([['App.nuspec', Buffer.from('<version>1.1.0</version>')]]);
    await writeFile(path.join(last.directory, 'App-1.1.0-delta.nupkg'), other);
    await expect(read(last)).rejects.toThrow(/RELEASES: it states \d+ bytes for .*-delta\.nupkg/);
  });
});

describe('a package of Squirrel', () => {
  it('of an older pre-release beside it is left out', async () => {
    const directory = await temporaryDirectory();
    const builds = await buildPackages('squirrel', directory, ['1.0.0-beta.1', '1.0.0']);
    const [older, last] = builds as readonly [PackageBuild, PackageBuild];
    await writeFile(path.join(last.directory, older.full.name), older.full.bytes);
    const { artifacts } = await read(last);
    expect(artifacts.map(({ filename }) => filename)).toEqual(['App-1.0.0-full.nupkg']);
    const before = await readBuildOutput({ paths: [last.directory], version: '1.0.0-beta.1' });
    expect(before.artifacts).toMatchObject([{ filename: 'App-1.0.0-beta1-full.nupkg' }]);
  });
});
