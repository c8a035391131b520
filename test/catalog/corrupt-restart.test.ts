import { expect, it } from 'vitest';
import { revisionKey } from '../../src/catalog/documents/keys.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  STALE_MAX_MS,
  untilSaved,
  useCatalogs,
} from './live/live-catalog.ts';

const catalogs = useCatalogs();

it('a corrupt newest revision does not outlive the next commit, even for a process that restarts', async () => {
  const temporary = await makeTemporaryDirectory();
  const world = createWorld();
  const stateDirectory = `${temporary.path}/state`;
  const artifact = (name: string) =>
    makeArtifact(temporary.path, { filename: name, content: name });
  const open = async () => {
    const catalog = await catalogs.start(world, { stateDirectory });
    await world.clock.advance(2 * POLL_MS);
    return catalog;
  };
  await publish(world.parts, { version: '1.0.0', artifacts: [await artifact('1.exe')] });
  await publish(world.parts, { version: '2.0.0', artifacts: [await artifact('2.exe')] });
  const first = await open();
  await expect.poll(() => offered(first)).toBe('2.0.0');
  await untilSaved(world, stateDirectory);
  await first.stop();

  await world.tamper(revisionKey('desktop', 2), (text) => text.slice(0, 100));
  const second = await open();
  expect(await offered(second)).toBe('2.0.0');
  const skipping = { ...world.parts, skipCorrupt: [2] };
  await publish(skipping, { version: '3.0.0', artifacts: [await artifact('3.exe')] });
  await world.clock.advance(STALE_MAX_MS + POLL_MS);
  await expect.poll(() => offered(second)).toBe('3.0.0');
  expect(second.health().applications.desktop).toMatchObject({ source: 'live', problems: [] });
  await second.stop();
  await temporary.remove();
});
