import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createCatalogDescriber } from '../../../src/server/monitoring/describe-catalog.ts';
import { createWorld, STALE_MAX_MS, type World } from '../../catalog/live/live-catalog.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

describe('describing the catalog', () => {
  let world: World;
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let catalog: Catalog;

  beforeEach(async () => {
    world = createWorld();
    directory = await makeTemporaryDirectory();
    catalog = world.open();
  });
  afterEach(async () => {
    await catalog.stop();
    await directory.remove();
  });

  const put = async (version: string, request: { application?: string; channel?: string } = {}) => {
    const folder = `${directory.path}/${request.application}-${request.channel}-${version}`;
    const artifacts = await Promise.all([
      makeArtifact(folder, { platform: 'windows', arch: 'x64', format: 'nsis' }),
      makeArtifact(folder, {
        platform: 'windows',
        arch: 'x64',
        format: 'zip',
        filename: 'App.zip',
      }),
      makeArtifact(folder, {
        platform: 'macos',
        arch: 'universal',
        format: 'dmg',
        filename: 'A.dmg',
      }),
    ]);
    await publish(world.parts, { version, artifacts, ...request });
  };
  const setStatus = (verb: 'pause' | 'yank', version: string) =>
    changeStatus({ ...world.parts, actor: 'test' }, verb, {
      application: 'desktop',
      version,
      channel: undefined,
      reason: null,
    });
  const describeAll = (isPublic: (application: string, channel: string) => boolean = () => true) =>
    createCatalogDescriber({ catalog, isPublic, clock: world.clock }).describe();

  it('lists the offered releases and their targets', async () => {
    await put('1.0.0');
    await put('1.1.0');
    await put('1.2.0');
    await put('1.3.0');
    await put('2.0.0-beta.1', { channel: 'beta' });
    await put('0.1.0', { application: 'a-tool' });
    await setStatus('pause', '1.2.0');
    await setStatus('yank', '1.3.0');
    await catalog.start();
    const [tool, desktop, ...others] = await describeAll();
    expect(others).toEqual([]);
    expect(tool).toMatchObject({ application: 'a-tool', isAvailable: true, revision: 1 });
    expect(desktop).toEqual({
      application: 'desktop',
      isAvailable: true,
      revision: 7,
      channels: [
        {
          name: 'stable',
          releasesCount: 3,
          newest: { version: '1.1.0', releasedAt: expect.stringMatching(/^2026-11-21T/) },
        },
        {
          name: 'beta',
          releasesCount: 4,
          newest: { version: '2.0.0-beta.1', releasedAt: expect.stringMatching(/^2026-11-21T/) },
        },
      ],
      releasesCount: 4,
      machines: [
        { platform: 'windows', arch: 'x64', formats: ['nsis', 'zip'] },
        { platform: 'macos', arch: 'universal', formats: ['dmg'] },
      ],
    });
  });

  it('a channel without offers has no newest release, and yanked releases have no targets', async () => {
    await put('1.0.0');
    await setStatus('yank', '1.0.0');
    await catalog.start();
    expect(await describeAll()).toMatchObject([
      { channels: [{ name: 'stable', releasesCount: 0, newest: null }], machines: [] },
    ]);
  });

  it('hides a restricted channel, also where another channel shows its offers', async () => {
    await put('1.0.0');
    await put('1.1.0-beta.1', { channel: 'beta' });
    await put('9.0.0', { channel: 'insider' });
    await catalog.start();
    const open = (...closed: string[]) => describeAll((_app, channel) => !closed.includes(channel));
    expect(JSON.stringify(await open('insider'))).not.toMatch(/insider|9\.0\.0/);
    expect(await open('insider')).toMatchObject([{ releasesCount: 2 }]);
    const withoutStable = await open('insider', 'stable');
    expect(JSON.stringify(withoutStable)).not.toMatch(/stable|"1\.0\.0"|9\.0\.0/);
    expect(withoutStable).toMatchObject([
      { releasesCount: 1, channels: [{ name: 'beta', releasesCount: 1 }] },
    ]);
  });

  it('lists a broken application as not available, and nothing before the store answers', async () => {
    await put('1.0.0');
    expect(await describeAll()).toEqual([]);
    await catalog.start();
    world.store.goDown();
    await world.clock.advance(STALE_MAX_MS + 1_000);
    expect(await describeAll()).toEqual([{ application: 'desktop', isAvailable: false }]);
  });

  it('makes no store request', async () => {
    await put('1.0.0');
    await catalog.start();
    await catalog.stop();
    world.store.forgetCalls();
    for (let turn = 0; turn < 100; turn++) await describeAll();
    expect(world.store.total()).toBe(0);
  });
});
