import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { setStatus } from '../../server/support.ts';
import {
  type BuiltPackage,
  buildPackages,
  hashOf,
  type PackageBuild,
  type PackageOptions,
  publishPackages,
} from '../../support/nupkg-build.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { updateWithVelopack, type VelopackAsset } from '../../support/velopack-client.ts';

/**
 * Velopack's real client (npm velopack 0.0.1053) against a running service. This version downloads full packages only and
 * compares no hash, so the test does. For deltas, the test reads the offered list and every byte.
 */

let service: TestService;
let feed: string;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
  feed = `${await service.listen()}/feeds/desktop/stable/velopack`;
});
afterEach(() => service.close());

async function buildAndPublish(
  versions: readonly string[],
  options: PackageOptions,
  request: Parameters<typeof publishPackages>[2] = {},
): Promise<readonly PackageBuild[]> {
  const directory = path.join(service.directory, options.channel ?? 'win');
  const builds = await buildPackages('velopack', directory, versions, options);
  for (const build of builds) await publishPackages(service, build, request);
  await service.refresh();
  return builds;
}

const ask = (version: string, channel = 'linux', options = {}) =>
  updateWithVelopack(service.directory, feed, { version, channel }, options);

async function expectUpdate(
  version: string,
  { name, version: wanted, bytes }: BuiltPackage,
  channel?: string,
): Promise<void> {
  const update = await ask(version, channel);
  expect(update?.asset).toMatchObject({
    PackageId: 'App',
    Version: wanted,
    FileName: name,
    SHA1: hashOf('sha1', bytes),
    SHA256: hashOf('sha256', bytes),
  });
  expect(update?.file.name).toBe(name);
  expect(hashOf('sha256', update?.file.bytes ?? Buffer.alloc(0))).toBe(hashOf('sha256', bytes));
}

describe('Velopack', () => {
  it('checks and downloads the full package, by its own channel', async () => {
    const notes = { und: 'Notes with <b>markup</b>' };
    const linux = await buildAndPublish(
      ['1.0.0', '1.1.0-beta.2', '1.1.0-beta.10'],
      { channel: 'linux', rid: 'linux-x64' },
      { notes },
    );
    const windows = await buildAndPublish(['1.0.0', '1.1.0-beta.2'], { channel: 'win' });
    const arm = await buildAndPublish(['1.0.0', '1.1.0-beta.2'], { channel: 'win-arm64' });
    const full = (builds: readonly PackageBuild[], index: number) =>
      builds[index]?.full as BuiltPackage;
    await expectUpdate('1.0.0', full(linux, 2));
    await expectUpdate('1.1.0-beta.2', full(linux, 2));
    await expectUpdate('0.1.0', full(windows, 1), 'win');
    await expectUpdate('1.0.0', full(arm, 1), 'win-arm64');
    expect((await ask('1.0.0'))?.asset.NotesMarkdown).toBe(notes.und);
    expect(await ask('1.1.0-beta.10')).toBeNull();
    expect(await ask('2.0.0')).toBeNull();
  });

  it('understands versions with build metadata', async () => {
    const builds = await buildAndPublish(['1.0.0+1', '1.1.0+2'], {
      channel: 'linux',
      rid: 'linux-x64',
    });
    await expectUpdate('1.0.0+1', (builds[1] as PackageBuild).full);
    expect(await ask('1.1.0+2')).toBeNull();
    expect(await ask('1.1.0+3')).toBeNull();
  });

  it('has no update, and no error, when a release is paused, yanked or unknown', async () => {
    const [one] = await buildAndPublish(['1.0.0', '1.1.0'], { channel: 'linux', rid: 'linux-x64' });
    await setStatus(service, 'pause', '1.1.0');
    expect(await ask('1.0.0')).toBeNull();
    expect(await ask('1.1.0')).toBeNull();
    await setStatus(service, 'yank', '1.1.0');
    expect(await ask('1.0.0')).toBeNull();
    expect(await ask('1.1.0')).toBeNull();
    // The list for a yanked release is empty, so that the client does not go back by itself.
    expect(await ask('1.1.0', 'linux', { AllowVersionDowngrade: true })).toBeNull();
    await expectUpdate('0.9.0', (one as PackageBuild).full);
    expect(await ask('1.0.0', 'osx')).toBeNull();
  });

  it('gets a release when its rollout is complete, because this version sends no id', async () => {
    const options = { channel: 'linux', rid: 'linux-x64' };
    await buildAndPublish(['1.0.0'], options);
    const staged = { rollout: { text: '99.99%', freezeWindows: [] } };
    const [next] = await buildAndPublish(['1.1.0'], options, staged);
    expect(await ask('1.0.0')).toBeNull();
    const about = { application: 'desktop', channel: undefined, version: '1.1.0', reason: null };
    await changeRollout({ ...service, actor: 'test' }, { ...about, action: { kind: 'complete' } });
    await service.refresh();
    await expectUpdate('1.0.0', (next as PackageBuild).full);
  });

  it('reports an error for an unknown application, channel or platform', async () => {
    await buildAndPublish(['1.0.0'], { channel: 'linux', rid: 'linux-x64' });
    for (const wrong of ['/feeds/unknown/stable', '/feeds/desktop/unknown']) {
      const url = feed.replace('/feeds/desktop/stable', wrong);
      const installed = { version: '0.9.0', channel: 'linux' };
      await expect(updateWithVelopack(service.directory, url, installed)).rejects.toThrow(/404/);
    }
    const windows = await buildPackages('velopack', service.directory, ['1.0.0']);
    for (const build of windows) await publishPackages(service, build);
    await service.refresh();
    await expect(ask('0.9.0', 'nightly')).rejects.toThrow(/400/);
  });

  it('lists deltas that lead from one version to the other, and serves every byte', async () => {
    const builds = await buildAndPublish(['1.0.0', '1.1.0', '1.2.0'], {
      channel: 'linux-x64-stable',
      rid: 'linux-x64',
    });
    const url = `${feed}/releases.linux-x64-stable.json?localVersion=1.0.0&id=App&stagingId=a`;
    const { Assets } = (await (await fetch(url)).json()) as { Assets: readonly VelopackAsset[] };
    const [, two, three] = builds;
    const wanted = [three?.full, three?.delta, two?.delta] as readonly BuiltPackage[];
    expect(Assets.map(({ FileName }) => FileName)).toEqual(wanted.map(({ name }) => name));
    for (const [index, { FileName, SHA1, SHA256 }] of Assets.entries()) {
      const served = Buffer.from(await (await fetch(`${feed}/${FileName}`)).arrayBuffer());
      expect(served.equals((wanted[index] as BuiltPackage).bytes)).toBe(true);
      expect([hashOf('sha1', served), hashOf('sha256', served)]).toEqual([SHA1, SHA256]);
    }
    await expectUpdate('1.0.0', (three as PackageBuild).full, 'linux-x64-stable');
  });
});
