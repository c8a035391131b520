import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { get, setStatus } from '../../server/support.ts';
import {
  type BuiltPackage,
  buildPackages,
  hashOf,
  lineOf,
  type PackageBuild,
  type PackageOptions,
  publishPackages,
} from '../../support/nupkg-build.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Velopack's dialect over HTTP. The real client is in velopack.system.test.ts. */

const FEED = '/feeds/desktop/stable/velopack';

let service: TestService;

beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

type Builds = readonly [PackageBuild, PackageBuild, PackageBuild];

async function buildAndPublish(
  versions: readonly string[],
  options: PackageOptions = {},
  request: Parameters<typeof publishPackages>[2] = {},
): Promise<Builds> {
  const directory = path.join(service.directory, options.channel ?? 'win');
  const builds = await buildPackages('velopack', directory, versions, options);
  for (const build of builds) await publishPackages(service, build, request);
  await service.refresh();
  return builds as unknown as Builds;
}

async function assets(query = '', document = 'releases.win.json') {
  const { status, body } = await get(service, `${FEED}/${document}${query}`);
  expect([status, body]).toEqual([200, { Assets: expect.any(Array) }]);
  return body.Assets as Record<string, unknown>[];
}

const from = (version: string): string => `?localVersion=${version}&id=App&stagingId=a`;

function assetOf({ name, version, isDelta, bytes }: BuiltPackage, notes = '', html = '') {
  return {
    PackageId: 'App',
    Version: version,
    Type: isDelta ? 'Delta' : 'Full',
    FileName: name,
    SHA1: hashOf('sha1', bytes),
    SHA256: hashOf('sha256', bytes),
    Size: bytes.length,
    NotesMarkdown: notes,
    NotesHTML: html,
  };
}

function deltaOf({ version, delta }: PackageBuild): BuiltPackage {
  if (delta === undefined) throw new Error(`${version} has no delta`);
  return delta;
}

describe('releases.{channel}.json', () => {
  it('lists the full package and the deltas from the stated version', async () => {
    const [one, two, three] = await buildAndPublish(['1.0.0', '1.1.0-beta.1', '1.1.0']);
    const chain = [three.full, deltaOf(three), deltaOf(two)].map((file) => assetOf(file));
    expect(await assets(from('1.0.0'))).toEqual(chain);
    expect(await assets(from('1.1.0-beta.1'))).toEqual(chain.slice(0, 2));
    expect(await assets(from('0.9.0'))).toEqual(chain.slice(0, 1));
    const all = [three.full, deltaOf(three), two.full, deltaOf(two), one.full];
    expect(await assets()).toEqual(all.map((file) => assetOf(file)));
    for (const { FileName } of await assets()) {
      expect((await get(service, `${FEED}/${FileName}`)).status).toBe(302);
    }
  });

  it('gives vpk download the newest full package, and nothing before the first release', async () => {
    const asked = '?arch=x64&os=win&rid=win-x64';
    const deps = { ...service, actor: 'test', ensureConforming: async () => {} };
    const action = { kind: 'create', settings: {}, create: true } as const;
    const request = { application: 'desktop', channel: 'stable', action, reason: null };
    await changeChannel(deps, request);
    await service.refresh();
    expect(await assets(asked)).toEqual([]);
    const [, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    const [newest] = (await assets(asked)).filter(({ Type }) => Type === 'Full');
    expect(newest).toEqual(assetOf(two.full));
  });

  it('lists and serves releases with build metadata, which vpk leaves out of the names', async () => {
    const [one, two] = await buildAndPublish(['1.0.0+4', '1.1.0+5']);
    expect(two.full.name).toBe('App-1.1.0-full.nupkg');
    const chain = [two.full, deltaOf(two)].map((file) => assetOf(file));
    expect(await assets(from('1.0.0%2B4'))).toEqual(chain);
    // The Rust library does not escape the plus sign.
    expect(await assets(from('1.0.0+4'))).toEqual(chain);
    expect(await assets()).toEqual([...chain, assetOf(one.full)]);
    for (const { FileName } of await assets()) {
      expect((await get(service, `${FEED}/${FileName}`)).status).toBe(302);
    }
    await setStatus(service, 'yank', '1.1.0+5');
    expect((await get(service, `${FEED}/${two.full.name}`)).status).toBe(404);
  });

  it('lists the own release or nothing as "no update"', async () => {
    const [one, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    expect(await assets(from('1.1.0'))).toEqual([assetOf(two.full)]);
    expect(await assets(from('2.0.0'))).toEqual([]);
    await setStatus(service, 'pause', '1.1.0');
    expect(await assets(from('1.0.0'))).toEqual([assetOf(one.full)]);
    expect(await assets(from('1.1.0'))).toEqual([]);
    expect(await assets()).toEqual([assetOf(one.full)]);
    await setStatus(service, 'yank', '1.0.0');
    expect(await assets(from('1.0.0'))).toEqual([]);
    expect(await assets()).toEqual([]);
  });

  it('reads the machine from the channel, else from the query', async () => {
    await buildAndPublish(['1.0.0']);
    const arm = await buildAndPublish(['1.0.0'], { channel: 'win-arm64' });
    const linux = await buildAndPublish(['1.0.0'], { channel: 'linux', rid: 'linux-x64' });
    const named = async (document: string, query = '') =>
      (await assets(query, document)).map(({ FileName }) => FileName);
    expect(await named('releases.win.json')).toEqual(['App-1.0.0-full.nupkg']);
    expect(await named('releases.win-x64-stable.json')).toEqual(['App-1.0.0-full.nupkg']);
    expect(await named('RELEASES.WIN-ARM64.JSON')).toEqual([arm[0].full.name]);
    expect(await named('releases.linux.json')).toEqual([linux[0].full.name]);
    expect(await named('releases.osx.json')).toEqual([]);
    const csharp = '?arch=x64&os=linux&rid=linux-x64';
    expect(await named('releases.anything.json', csharp)).toEqual([linux[0].full.name]);
    expect(await named('releases.beta.json', '?rid=win10-arm64')).toEqual([arm[0].full.name]);
    // Not for other clients: a client chose the name.
    const odd = await get(service, `${FEED}/releases.win-odd.json`);
    expect(odd.headers['cache-control']).toMatch(/no-store/);
    await setStatus(service, 'pause', '1.0.0');
    expect(await named('releases.beta.json')).toEqual([]);
    await setStatus(service, 'resume', '1.0.0');
    expect(await get(service, `${FEED}/releases.beta.json`)).toMatchObject({
      status: 400,
      body: { code: 'unknown_platform', detail: expect.stringMatching(/win-beta/) },
    });
  });

  it('serves a channel that names no platform from the releases for one platform', async () => {
    const windows = await buildAndPublish(['1.0.0', '1.1.0'], {
      channel: 'nightly',
      rid: 'win-x64',
    });
    const named = async (query = '') =>
      (await assets(query, 'releases.nightly.json')).map(({ FileName }) => FileName);
    expect(await named(from('1.0.0'))).toEqual([windows[1].full.name]);
    expect(await named(from('1.1.0'))).toEqual([]);
    expect((await get(service, `${FEED}/releases.weekly.json`)).body.Assets).toHaveLength(1);
    // The channel in its name tells the package apart.
    await buildAndPublish(['1.1.0'], { channel: 'linux', rid: 'linux-x64' });
    expect(await named()).toEqual([windows[1].full.name]);
    expect((await get(service, `${FEED}/releases.weekly.json`)).status).toBe(400);
  });

  it('prefers the package of its own channel, and a package for Intel on any Mac', async () => {
    const intel = await buildAndPublish(['1.0.0'], { channel: 'osx-x64' });
    const arm = await buildAndPublish(['1.0.0'], { channel: 'osx-arm64' });
    const named = async (document: string, query = '') =>
      (await assets(query, document)).map(({ FileName }) => FileName);
    expect(await named('releases.osx.json')).toEqual([intel[0].full.name]);
    expect(await named('releases.osx-x64.json')).toEqual([intel[0].full.name]);
    expect(await named('releases.osx-arm64.json')).toEqual([arm[0].full.name]);
    expect(await named('releases.osx.json', '?arch=arm64&os=osx')).toEqual([arm[0].full.name]);
  });

  it('escapes markup and control characters in notes', async () => {
    const notes = { und: 'First <b>& "bold"\u0007\nline\n\nSecond ]]>' };
    const [one] = await buildAndPublish(['1.0.0'], {}, { notes });
    const html = '<p>First &lt;b&gt;&amp; &quot;bold&quot;<br>line</p>\n<p>Second ]]&gt;</p>';
    expect(await assets()).toEqual([assetOf(one.full, notes.und, html)]);
  });

  it('is an error for an unknown application, channel or file', async () => {
    await buildAndPublish(['1.0.0']);
    for (const [address, status] of [
      ['/feeds/unknown/stable/velopack/releases.win.json', 404],
      ['/feeds/desktop/unknown/velopack/releases.win.json', 404],
      [`${FEED}/releases.win.json?localVersion=latest`, 400],
      [`${FEED}/App-9.9.9-full.nupkg`, 404],
    ] as const) {
      expect([address, (await get(service, address)).status]).toEqual([address, status]);
    }
  });

  it('offers a rollout by the id that the client sends, in an answer for it alone', async () => {
    await buildAndPublish(['1.0.0']);
    const [, two] = await buildPackages('velopack', path.join(service.directory, 'two'), [
      '1.0.0',
      '1.1.0',
    ]);
    if (two === undefined) throw new Error('two versions were built');
    await publishPackages(service, two, { rollout: { text: '50%', freezeWindows: [] } });
    await service.refresh();
    const offered = new Set<string>();
    for (let id = 0; id < 40; id++) {
      const address = `${FEED}/releases.win.json?localVersion=1.0.0&id=App&stagingId=${id}`;
      const { body, headers } = await get(service, address);
      offered.add(body.Assets[0].Version);
      expect(headers['cache-control']).toMatch(/private.*no-store/);
    }
    expect([...offered].sort()).toEqual(['1.0.0', '1.1.0']);
  });
});

describe('RELEASES, for applications of Squirrel', () => {
  const lines = async (address: string) => String((await get(service, `${FEED}/${address}`)).body);

  it('lists full packages that Squirrel can read', async () => {
    const [, two] = await buildAndPublish(['1.0.0', '1.1.0']);
    expect(await lines(`RELEASES?id=App&localVersion=1.0.0&arch=amd64`)).toBe(lineOf(two.full));
    expect(await lines('RELEASES-win')).toBe(lineOf(two.full));
    expect(await lines('releases?id=app&localversion=1.1.0')).toBe(lineOf(two.full));
    const zeros = '0'.repeat(40);
    const newer = await lines('RELEASES?localVersion=3.0.0');
    expect(newer).toBe(`${zeros} desktop-3.0.0-full.nupkg 1`);
  });

  it('is an error for a version that Squirrel would misread', async () => {
    await buildAndPublish(['1.1.0-beta.1']);
    expect((await get(service, `${FEED}/RELEASES`)).status).toBe(404);
  });
});
