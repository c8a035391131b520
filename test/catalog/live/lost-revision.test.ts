import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { revisionKey } from '../../../src/catalog/documents/keys.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { ci, k1, OPERATORS_DECIDE, useTrustedWorld } from '../trust/trusted-world.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  untilSaved,
  useCatalogs,
  type World,
} from './live-catalog.ts';

/** Restarts of a service whose saved revision was deleted from the middle of the store. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();
let directories = 0;

const yank = (world: World, version: string, deps: object = {}) =>
  changeStatus({ ...world.parts, actor: 'test', ...deps }, 'yank', {
    application: 'desktop',
    version,
    channel: undefined,
    reason: null,
  });

/** A service has seen revisions 1 to 3, saved them and ended. Its clients get 3.0.0. */
async function runOnce() {
  const world = createWorld();
  const stateDirectory = path.join(temporary.path, `state-${directories++}`);
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    await publish(world.parts, { version, artifacts: [setup] });
  }
  const catalog = await catalogs.start(world, { stateDirectory });
  await untilSaved(world, stateDirectory);
  await catalog.stop();
  return { world, stateDirectory };
}

const lose = (world: World, ...numbers: readonly number[]) =>
  Promise.all(numbers.map((number) => world.memory.delete(revisionKey('desktop', number))));

/** Without the hints, only the revisions themselves say what was changed. */
async function loseHints(world: World): Promise<void> {
  for await (const { key } of world.memory.list('changes/')) await world.memory.delete(key);
}

describe.each([[true], [false]])('a restart with hints of changes: %s', (hasHints) => {
  const restart = async (world: World, stateDirectory: string) => {
    if (!hasHints) await loseHints(world);
    return catalogs.start(world, { stateDirectory });
  };

  it('serves the newest state that continues the saved one, and nothing yanked since', async () => {
    const { world, stateDirectory } = await runOnce();
    await yank(world, '3.0.0');
    await yank(world, '2.0.0');
    await lose(world, 3);
    const catalog = await restart(world, stateDirectory);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ source: 'live', revision: 5 });
    expect(problemsOf(catalog)).toBe(`${revisionKey('desktop', 3)} is missing.`);
    await publish(world.parts, { version: '4.0.0', artifacts: [setup] });
    await world.clock.advance(30 * POLL_MS);
    expect(await offered(catalog)).toBe('4.0.0');
  });

  it('does so behind a further hole, once a revision has named the saved one', async () => {
    const { world, stateDirectory } = await runOnce();
    await yank(world, '3.0.0');
    await publish(world.parts, { version: '4.0.0', artifacts: [setup] });
    await yank(world, '4.0.0');
    await lose(world, 3, 5);
    const catalog = await restart(world, stateDirectory);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ revision: 6 });
  });

  it('does so when an operator stepped over the revision after the saved one', async () => {
    const { world, stateDirectory } = await runOnce();
    await yank(world, '3.0.0');
    await world.tamper(revisionKey('desktop', 4), (text) => text.slice(0, 100));
    await yank(world, '3.0.0', { skipCorrupt: [4] });
    await lose(world, 3, 4);
    const catalog = await restart(world, stateDirectory);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(catalog.health().applications.desktop).toMatchObject({ revision: 5 });
  });

  it('stays at the saved state when the revision that continues it is gone, too', async () => {
    const { world, stateDirectory } = await runOnce();
    await yank(world, '3.0.0');
    await yank(world, '2.0.0');
    await lose(world, 3, 4);
    const catalog = await restart(world, stateDirectory);
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('3.0.0');
    expect(problemsOf(catalog)).toContain('went backwards: revision 3, seen before, is gone');
  });
});

it('one wrong 404 for the saved revision changes nothing', async () => {
  const { world, stateDirectory } = await runOnce();
  await yank(world, '3.0.0');
  let isTold = false;
  const get: ObjectStore['get'] = async (key, options) => {
    if (isTold || key !== revisionKey('desktop', 3)) return world.memory.get(key, options);
    isTold = true;
    return undefined;
  };
  const store = { ...world.memory, get };
  const catalog = await catalogs.start(world, { stateDirectory, store });
  await world.clock.advance(20 * POLL_MS);
  expect(isTold).toBe(true);
  expect(await offered(catalog)).toBe('2.0.0');
  expect(problemsOf(catalog)).toBe('');
});

describe('a signed catalog', async () => {
  const trusted = await useTrustedWorld();

  it('is served on from a revision that an operator signed after the lost one', async () => {
    const world = trusted.begin();
    await trusted.init(OPERATORS_DECIDE, k1, ci);
    for (const version of ['1.0.0', '1.1.0']) await trusted.publishTo('stable', version, ci);
    const stateDirectory = path.join(temporary.path, 'trusted');
    const saved = await trusted.newestNumber();
    const first = await trusted.start(stateDirectory);
    await untilSaved(world, stateDirectory);
    await first.stop();
    await trusted.yank();
    await lose(world, saved);
    const catalog = await trusted.start(stateDirectory);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toContain(`${revisionKey('desktop', saved)} is missing.`);
  });

  it('is not: a revision that nobody signed continues nothing', async () => {
    const world = trusted.begin();
    await trusted.init(OPERATORS_DECIDE, k1, ci);
    await trusted.publishTo('stable', '1.0.0', ci);
    const stateDirectory = path.join(temporary.path, 'forged');
    const saved = await trusted.newestNumber();
    const first = await trusted.start(stateDirectory);
    await untilSaved(world, stateDirectory);
    await first.stop();
    await trusted.forge((signed) => {
      signed.channels.stable?.offers.splice(0);
    });
    await lose(world, saved);
    const catalog = await trusted.start(stateDirectory);
    await world.clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toContain('went backwards');
  });
});
