import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createWorld, offered, untilSaved, useCatalogs, type World } from './live-catalog.ts';

/** A service restarts after a release was yanked: it asks the store before it goes on from its saved state. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

const yank = (world: World, version: string) =>
  changeStatus({ ...world.parts, actor: 'test' }, 'yank', {
    application: 'desktop',
    version,
    channel: undefined,
    reason: null,
  });

/** A service has served 3.0.0, and has ended. */
async function runOnce(name: string) {
  const world = createWorld();
  const stateDirectory = path.join(temporary.path, name);
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    await publish(world.parts, { version, artifacts: [setup] });
  }
  const catalog = await catalogs.start(world, { stateDirectory });
  await untilSaved(world, stateDirectory);
  await catalog.stop();
  return { world, stateDirectory };
}

it('it does not read hundreds of hints and the list of applications first', async () => {
  const { world, stateDirectory } = await runOnce('slow-hints');
  await yank(world, '3.0.0');
  world.store.setPlan(({ key }) =>
    key.startsWith('apps/desktop/') ? undefined : { when: 'hang' },
  );
  const catalog = catalogs.open(world, { stateDirectory });
  void catalog.start();
  await expect
    .poll(() => catalog.health().applications.desktop?.source, { interval: 1 })
    .toBe('live');
  expect(await offered(catalog)).toBe('2.0.0');
});

it('it misses no change that is committed between its first read and the hints', async () => {
  const { world, stateDirectory } = await runOnce('between');
  await yank(world, '3.0.0');
  const catalog = catalogs.open(world, { stateDirectory });
  let isYanked = false;
  world.store.setPlan(async ({ key }) => {
    if (isYanked || !key.startsWith('changes/')) return undefined;
    isYanked = true;
    await expect
      .poll(() => catalog.health().applications.desktop?.source, { interval: 1 })
      .toBe('live');
    expect(await offered(catalog)).toBe('2.0.0');
    await yank(world, '2.0.0');
    return undefined;
  });
  await catalog.start();
  expect(isYanked).toBe(true);
  expect(await offered(catalog)).toBe('1.0.0');
});

it('it goes on from the saved state when the store does not answer, and asks again at once when it does', async () => {
  const { world, stateDirectory } = await runOnce('down');
  await yank(world, '3.0.0');
  world.store.goDown();
  const catalog = await catalogs.start(world, { stateDirectory });
  expect(await offered(catalog)).toBe('3.0.0');
  world.store.comeUp();
  await world.clock.advance(4_000);
  await expect.poll(() => offered(catalog)).toBe('2.0.0');
});
