import { rename } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { get, setStatus } from '../../server/support.ts';
import {
  buildPackages,
  hashOf,
  lineOf,
  type PackageBuild,
  publishPackages,
} from '../../support/nupkg-build.ts';
import { publishWithoutSha1 } from '../../support/publish-without-sha1.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Squirrel.Windows' dialect over HTTP. The real classes are in squirrel-windows.system.test.ts. */

const FEED = '/feeds/desktop/stable/squirrel-windows';
/** PROTOCOLS.md's grammar of a line. */
const LINE = /^([0-9a-fA-F]{40})\s+(\S+)\s+(\d+)[\r]*$/;

let service: TestService;

beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

async function publishAll(builds: readonly PackageBuild[]): Promise<void> {
  for (const build of builds) await publishPackages(service, build);
  await service.refresh();
}

async function releases(query = '', below = 'RELEASES'): Promise<readonly string[]> {
  const { status, body } = await get(service, `${FEED}/${below}${query}`);
  expect([status, body]).toEqual([200, expect.any(String)]);
  const lines = String(body).split('\n');
  for (const line of lines) expect(line).toMatch(LINE);
  return lines;
}

const from = (version: string, arch = 'amd64'): string =>
  `?id=App&localVersion=${version}&arch=${arch}`;

describe('RELEASES', () => {
  it('lists the deltas from the stated version to the offered one', async () => {
    const [one, two, three] = await buildAndPublish(['1.0.0', '1.1.0', '1.2.0']);
    expect(await releases(from('1.1.0'))).toEqual([lineOf(deltaOf(three)), lineOf(three.full)]);
    expect(await releases(from('1.0.0'))).toEqual([
      ...[two, three].map((build) => lineOf(deltaOf(build))),
      lineOf(three.full),
    ]);
    expect(await releases()).toEqual(
      [one.full, deltaOf(two), two.full, deltaOf(three), three.full].map(lineOf),
    );
    // The client's own version: no update.
    expect(await releases(from('1.2.0'))).toEqual([lineOf(three.full)]);
  });

  it('lists no delta when one of them is missing or cannot be served', async () => {
    const [, , three, four] = await buildAndPublish(['1.0.0', '1.1.0', '1.2.0', '1.3.0'], {
      withoutDelta: ['1.1.0'],
    });
    expect(await releases(from('1.0.0'))).toEqual([lineOf(four.full)]);
    const chain = [deltaOf(three), deltaOf(four), four.full].map(lineOf);
    expect(await releases(from('1.1.0'))).toEqual(chain);
    expect(await releases(from('0.9.0'))).toEqual([lineOf(four.full)]);
    await setStatus(service, 'yank', '1.2.0');
    expect(await releases(from('1.1.0'))).toEqual([lineOf(four.full)]);
    expect(await releases()).toEqual([lineOf(four.full)]);
  });

  it('finds every listed file below the feed, with the stated bytes', async () => {
    const builds = await buildAndPublish(['1.0.0-beta.9', '1.0.0', '1.1.0-beta.1']);
    const bytes = new Map(
      builds
        .flatMap(({ full, delta }) => [full, delta])
        .flatMap((file) => (file === undefined ? [] : [[file.name, file.bytes] as const])),
    );
    const lines = await releases();
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const [, sha1, name = '', size] = LINE.exec(line) ?? [];
      const redirect = await get(service, `${FEED}/${name}`);
      expect([name, redirect.status]).toEqual([name, 302]);
      const content = bytes.get(name) ?? Buffer.alloc(0);
      expect([hashOf('sha1', content), String(content.length)]).toEqual([sha1, size]);
    }
  });

  it('understands versions as Squirrel writes them', async () => {
    const [one, two] = await buildAndPublish(['1.0.0-beta.1', '1.0.0-beta.2']);
    expect(one.full.name).toBe('App-1.0.0-beta1-full.nupkg');
    expect(await releases(from('1.0.0-beta1'))).toEqual([deltaOf(two), two.full].map(lineOf));
    expect(await releases(from('1.0.0-beta2'))).toEqual([lineOf(two.full)]);
    expect(await releases(from('0.9'))).toEqual([lineOf(two.full)]);
  });

  it('understands a version as the channel has it, when Squirrel writes several alike', async () => {
    const [, two, three] = await buildAndPublish(['1.0.0-beta1', '1.0.0-beta2', '1.0.0-rc.1.2']);
    expect(await releases(from('1.0.0-beta2'))).toEqual([deltaOf(three), three.full].map(lineOf));
    expect(await releases(from('1.0.0-rc12'))).toEqual([lineOf(three.full)]);
    expect((await get(service, `${FEED}/${three.full.name}`)).status).toBe(302);
    await setStatus(service, 'pause', '1.0.0-rc.1.2');
    await setStatus(service, 'pause', '1.0.0-beta2');
    // Not the older one, which SemVer takes for newer than beta.2.
    expect(await releases(from('1.0.0-beta2'))).toEqual([lineOf(two.full)]);
    expect(await releases(from('1.0.0-rc12'))).toEqual([lineOf(three.full)]);
  });

  it('lists a delta for the version that Squirrel made it from, in its own order of pre-releases', async () => {
    // Squirrel takes beta10 for older than beta2, so it makes the delta of 1.0.0 from beta2, and none of beta10.
    const [two, ten, three] = await buildAndPublish(['1.0.0-beta.2', '1.0.0-beta.10', '1.0.0']);
    expect(await releases(from('1.0.0-beta2'))).toEqual([deltaOf(three), three.full].map(lineOf));
    expect(await releases(from('1.0.0-beta10'))).toEqual([lineOf(three.full)]);
    await setStatus(service, 'pause', '1.0.0');
    expect(await releases(from('1.0.0-alpha1'))).toEqual([lineOf(ten.full)]);
    // Squirrel would download beta10, start beta2 again, and download beta10 at the next check.
    expect(await releases(from('1.0.0-beta2'))).toEqual([lineOf(two.full)]);
    expect(await releases(from('1.0.0-beta3'))).toEqual([
      `${'0'.repeat(40)} App-1.0.0-beta3-full.nupkg 1`,
    ]);
  });

  it('lists a delta that was published after its package', async () => {
    const builds = await buildPackages('squirrel', service.directory, ['1.0.0', '1.1.0']);
    const [one, two] = builds as unknown as Builds;
    await publishAll([one]);
    const hidden = path.join(two.directory, deltaOf(two).name);
    await rename(hidden, `${hidden}.later`);
    await publishAll([two]);
    expect(await releases(from('1.0.0'))).toEqual([lineOf(two.full)]);
    await rename(`${hidden}.later`, hidden);
    await publishAll([two]);
    expect(await releases(from('1.0.0'))).toEqual([deltaOf(two), two.full].map(lineOf));
  });

  it('is asked for in lower case after a failure', async () => {
    const [, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    const query = '?id=app&localversion=1.0.0&arch=amd64';
    expect(await releases(query, 'releases')).toEqual([deltaOf(two), two.full].map(lineOf));
  });

  it('lists what a client has as "no update", when its release is paused, held back or yanked', async () => {
    const [one, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    await setStatus(service, 'pause', '1.1.0');
    expect(await releases(from('1.0.0'))).toEqual([lineOf(one.full)]);
    expect(await releases(from('1.1.0'))).toEqual([lineOf(two.full)]);
    expect(await releases()).toEqual([lineOf(one.full)]);
    await setStatus(service, 'yank', '1.1.0');
    expect(await releases(from('1.1.0'))).toEqual([lineOf(two.full)]);
    expect(await releases(from('1.0.0'))).toEqual([lineOf(one.full)]);
  });

  it('lists the stated version for a client that the service does not know, never an older one', async () => {
    await buildAndPublish(['1.0.0']);
    const zeros = '0'.repeat(40);
    for (const version of ['2.0.0', '1.0.1-dev', '1.0.0.4', '2.0.0-beta1']) {
      expect(await releases(from(version))).toEqual([`${zeros} desktop-${version}-full.nupkg 1`]);
      const { headers } = await get(service, `${FEED}/RELEASES${from(version)}`);
      if (version === '1.0.0.4') expect(headers['cache-control']).toMatch(/no-store/);
    }
    await setStatus(service, 'pause', '1.0.0');
    expect(await releases(from('0.9.0'))).toEqual([`${zeros} desktop-0.9.0-full.nupkg 1`]);
    // Without a version there is nothing to list, and an empty document is an error as well.
    expect((await get(service, `${FEED}/RELEASES`)).status).toBe(404);
  });

  it('is an error for an unknown application, channel or version', async () => {
    await buildAndPublish(['1.0.0']);
    for (const [address, status] of [
      ['/feeds/unknown/stable/squirrel-windows/RELEASES', 404],
      ['/feeds/desktop/unknown/squirrel-windows/RELEASES', 404],
      [`${FEED}/RELEASES?localVersion=latest`, 400],
      [`${FEED}/App-9.9.9-full.nupkg`, 404],
    ] as const) {
      expect([address, (await get(service, address)).status]).toEqual([address, status]);
    }
  });

  it('serves a 32-bit application on a 64-bit system, and deltas only where the package is certain', async () => {
    const x64 = await buildPackages('squirrel', path.join(service.directory, 'x64'), [
      '1.0.0',
      '1.1.0',
    ]);
    const options = { arch: 'ia32' } as const;
    const ia32 = await buildPackages(
      'squirrel',
      path.join(service.directory, 'ia32'),
      ['1.0.0', '1.1.0'],
      options,
    );
    await publishAll(ia32);
    const name32 = 'App-ia32-1.1.0-full.nupkg';
    expect((await releases(from('1.0.0'))).at(-1)).toContain(` ${name32} `);
    expect(await releases(from('1.0.0'))).toHaveLength(2);
    await publishAll(x64);
    const latest = x64[1] as PackageBuild;
    expect(await releases(from('1.0.0'))).toEqual([lineOf(latest.full)]);
    expect((await releases(from('1.0.0', 'x86'))).map((line) => line.split(' ')[1])).toEqual([
      'App-ia32-1.1.0-delta.nupkg',
      name32,
    ]);
    const absolute = await releases(from('1.0.0'), 'x64/RELEASES');
    expect(absolute).toHaveLength(2);
    for (const line of absolute) {
      const address = new URL(line.split(' ')[1] ?? '');
      expect(address.pathname).toMatch(/\/1\.1\.0\/App-1\.1\.0-(full|delta)\.nupkg$/);
      expect((await get(service, address.pathname)).status).toBe(302);
    }
  });

  it('lists a release without a stored hash after the same files are published again', async () => {
    const [build] = (await buildPackages('squirrel', service.directory, ['1.0.0'])) as Builds;
    const { artifacts } = await readBuildOutput({ paths: [build.directory], version: '1.0.0' });
    await publishWithoutSha1(service, '1.0.0', artifacts);
    await service.refresh();
    const { status, body } = await get(service, `${FEED}/RELEASES`);
    expect([status, body.detail]).toEqual([
      404,
      expect.stringMatching(/no SHA-1.*Publish the same files of 1\.0\.0 again/),
    ]);
    expect(await releases(from('1.0.0'))).toEqual([`${'0'.repeat(40)} desktop-1.0.0-full.nupkg 1`]);
    await publishAll([build]);
    expect(await releases()).toEqual([lineOf(build.full)]);
    expect(await releases(from('1.0.0'))).toEqual([lineOf(build.full)]);
  });

  async function buildAndPublish(
    versions: readonly string[],
    options: Parameters<typeof buildPackages>[3] = {},
  ): Promise<Builds> {
    const builds = await buildPackages('squirrel', service.directory, versions, options);
    await publishAll(builds);
    return builds as unknown as Builds;
  }
});

type Builds = readonly [PackageBuild, PackageBuild, PackageBuild, PackageBuild];

function deltaOf({ version, delta }: PackageBuild) {
  if (delta === undefined) throw new Error(`${version} has no delta`);
  return delta;
}
