import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setStatus } from '../../server/support.ts';
import {
  type BuiltPackage,
  buildPackages,
  lineOf,
  type PackageBuild,
  type PackageOptions,
  publishPackages,
} from '../../support/nupkg-build.ts';
import { hasProgram } from '../../support/programs.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import {
  createSquirrelClient,
  type SquirrelClient,
  type SquirrelUpdate,
} from '../../support/squirrel-client.ts';

/** The real classes of Squirrel.Windows 2.0.1, under mono, against a running service. */

const hasMono = (await hasProgram('mono')) && (await hasProgram('mcs'));

let service: TestService;
let squirrel: SquirrelClient;
let feed: string;

beforeEach(async () => {
  if (!hasMono) return;
  service = await createTestService({ store: 'directory' });
  squirrel = await createSquirrelClient(path.join(service.directory, 'squirrel'));
  feed = `${await service.listen()}/feeds/desktop/stable/squirrel-windows`;
});
afterEach(async () => {
  if (hasMono) await service.close();
});

async function buildAndPublish(
  versions: readonly string[],
  options: PackageOptions = {},
): Promise<readonly [PackageBuild, PackageBuild, PackageBuild, PackageBuild]> {
  const builds = await buildPackages('squirrel', service.directory, versions, options);
  for (const build of builds) await publishPackages(service, build);
  await service.refresh();
  return builds as unknown as readonly [PackageBuild, PackageBuild, PackageBuild, PackageBuild];
}

function deltaOf({ version, delta }: PackageBuild): BuiltPackage {
  if (delta === undefined) throw new Error(`${version} has no delta`);
  return delta;
}

/** The client takes these files, and their bytes are those that were published. */
function expectFiles(update: SquirrelUpdate, files: readonly BuiltPackage[]): void {
  expect(update.error).toBeUndefined();
  expect(update.apply.map(({ line }) => line)).toEqual(files.map(lineOf));
  expect([...update.files.keys()].sort()).toEqual(files.map(({ name }) => name).sort());
  for (const { name, bytes } of files) expect(update.files.get(name)?.equals(bytes)).toBe(true);
}

function expectNoUpdate(update: SquirrelUpdate): void {
  expect(update.error).toBeUndefined();
  expect(update.current).toBeDefined();
  expect(update.future).toEqual(update.current);
  expect(update.apply).toEqual([]);
}

describe.runIf(hasMono)('Squirrel.Windows', () => {
  it('downloads full packages and deltas through several versions', async () => {
    const [one, two, three, four] = await buildAndPublish(
      ['1.0.0', '1.1.0-beta.1', '1.1.0-beta.2', '1.1.0'],
      { id: 'My-App2' },
    );
    expect(three.full.name).toBe('My-App2-1.1.0-beta2-full.nupkg');
    const deltas = [two, three, four].map(deltaOf);
    expectFiles(await squirrel.ask('update', feed, one.full), deltas);
    expectFiles(await squirrel.ask('update', feed, two.full), deltas.slice(1));
    expectFiles(await squirrel.ask('update', `${feed}/`, three.full), deltas.slice(2));
    expectFiles(await squirrel.ask('update-full', feed, one.full), [four.full]);
    expectNoUpdate(await squirrel.ask('update', feed, four.full));
    // An installation that the service has never heard of.
    const older = { ...one.full, name: 'My-App2-0.9.0-full.nupkg' };
    expectFiles(await squirrel.ask('update', feed, older), [four.full]);
  });

  it('gives a build with remoteReleases the newest full package, from which it makes a delta', async () => {
    const [, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    expect(await squirrel.sync(feed)).toEqual([two.full.name, 'RELEASES']);
  });

  it('downloads the full package when one delta is missing', async () => {
    const [one, , three] = await buildAndPublish(['1.0.0', '1.1.0', '1.2.0'], {
      withoutDelta: ['1.1.0'],
    });
    expectFiles(await squirrel.ask('update', feed, one.full), [three.full]);
  });

  it('has no update, and no error, when a release is paused, yanked or unknown', async () => {
    const [one, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    await setStatus(service, 'pause', '1.1.0');
    expectNoUpdate(await squirrel.ask('update', feed, one.full));
    expectNoUpdate(await squirrel.ask('update', feed, two.full));
    await setStatus(service, 'yank', '1.1.0');
    expectNoUpdate(await squirrel.ask('update', feed, one.full));
    expectNoUpdate(await squirrel.ask('update', feed, two.full));
    for (const version of ['2.0.0', '2.0.0-dev', '1.0.0.7', '0.9']) {
      const unknown = { ...one.full, name: `App-${version}-full.nupkg` };
      const update = await squirrel.ask('check', feed, unknown);
      if (version === '0.9') expect(update.future?.version).toBe('1.0.0');
      else expectNoUpdate(update);
    }
  });

  it('has no update when the offered version is older in the order of Squirrel', async () => {
    const [alpha, two, ten] = await buildAndPublish([
      '1.0.0-alpha',
      '1.0.0-beta.2',
      '1.0.0-beta.10',
    ]);
    expectFiles(await squirrel.ask('update', feed, alpha.full), [deltaOf(ten)]);
    expectNoUpdate(await squirrel.ask('update', feed, two.full));
    expectNoUpdate(await squirrel.ask('update', feed, ten.full));
  });

  it('reads absolute addresses, for an application of one architecture', async () => {
    await buildAndPublish(['1.0.0', '1.1.0']);
    const directory = path.join(service.directory, 'arm64');
    const builds = await buildPackages('squirrel', directory, ['1.0.0', '1.1.0'], {
      arch: 'arm64',
    });
    for (const build of builds) await publishPackages(service, build);
    await service.refresh();
    const [one, two] = builds as readonly [PackageBuild, PackageBuild];
    const update = await squirrel.ask('update', `${feed}/arm64`, one.full);
    expect(update.error).toBeUndefined();
    expect([...update.files.keys()]).toEqual(['App-arm64-1.1.0-delta.nupkg']);
    expect([...update.files.values()][0]?.equals(deltaOf(two).bytes)).toBe(true);
  });

  it('moves an application to Velopack, by its RELEASES', async () => {
    const [one] = await buildAndPublish(['1.0.0']);
    const directory = path.join(service.directory, 'velopack');
    const builds = await buildPackages('velopack', directory, ['1.0.0', '1.1.0']);
    await publishPackages(service, builds[1] as PackageBuild);
    await service.refresh();
    const { full } = builds[1] as PackageBuild;
    const url = feed.replace('squirrel-windows', 'velopack');
    expectFiles(await squirrel.ask('update', url, one.full), [full]);
    expectNoUpdate(await squirrel.ask('update', url, full));
    expectNoUpdate(await squirrel.ask('update', feed, one.full));
  });

  it('reports an error for an unknown application or channel, and no "no update"', async () => {
    const [one] = await buildAndPublish(['1.0.0']);
    for (const wrong of ['/feeds/unknown/stable', '/feeds/desktop/unknown']) {
      const url = feed.replace('/feeds/desktop/stable', wrong);
      const update = await squirrel.ask('update', url, one.full);
      expect(update.error).toMatch(/WebException.*404/);
    }
  });

  it('parses every line, with the version that was published', async () => {
    const versions = ['1.0.0-alpha', '1.0.0-beta.1', '1.0.0-beta.2', '1.0.0', '1.10.0'];
    await buildAndPublish(versions);
    const body = await (await fetch(`${feed}/RELEASES`)).text();
    const entries = await squirrel.parse(body);
    expect(entries.map(({ line }) => line)).toEqual(body.split('\n'));
    expect([...new Set(entries.map(({ version }) => version))]).toEqual([
      '1.0.0-alpha',
      '1.0.0-beta1',
      '1.0.0-beta2',
      '1.0.0',
      '1.10.0',
    ]);
  });
});
