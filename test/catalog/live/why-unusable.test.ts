import { afterAll, describe, expect, it } from 'vitest';
import { applicationsKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createWorld, offered, STALE_MAX_MS, useCatalogs, type World } from './live-catalog.ts';

/** What a client reads in the 503 of a catalog: the store is blamed only when it does not answer. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const catalogs = useCatalogs();

async function createPublished(): Promise<World> {
  const world = createWorld();
  for (const version of ['1.0.0', '2.0.0']) {
    await publish(world.parts, { version, artifacts: [setup] });
  }
  return world;
}

describe('the sentence for clients when a cold service', () => {
  it.each([
    [
      'finds the newest revision corrupt',
      revisionKey('desktop', 2),
      (): string | undefined => 'not a revision',
    ],
    [
      'finds the newest revision deleted',
      revisionKey('desktop', 2),
      (): string | undefined => undefined,
    ],
    [
      'finds the list of applications corrupt',
      applicationsKey(1),
      (): string | undefined => 'not a list',
    ],
    [
      'finds the list of applications deleted',
      applicationsKey(1),
      (): string | undefined => undefined,
    ],
  ] as const)('%s names the documents, and not the store', async (_name, key, change) => {
    const world = await createPublished();
    await world.tamper(key, change);
    const catalog = catalogs.open(world);
    await catalog.start();
    await expect(offered(catalog)).rejects.toMatchObject({
      code: 'catalog_unavailable',
      retryAfterSeconds: 5,
      message:
        'The catalog could not be loaded: a document of it is corrupt or missing in the object store, or its signatures do not count. The operator finds it with "slipway verify".',
    });
  });

  it('cannot reach the store: names the store', async () => {
    const world = await createPublished();
    world.store.goDown();
    const catalog = catalogs.open(world);
    await catalog.start();
    await expect(offered(catalog)).rejects.toThrow(
      'The catalog could not be loaded: the object store does not answer. Try again shortly.',
    );
  });

  it('still waits for the store: says that it is reading', async () => {
    const world = await createPublished();
    world.store.setPlan(() => ({ when: 'hang' }));
    const catalog = catalogs.open(world);
    void catalog.start();
    await world.clock.advance(1_000);
    await expect(offered(catalog)).rejects.toThrow(
      'The catalog could not be loaded: the service is still reading it. Try again shortly.',
    );
  });
});

it('a running service says which state is too old, and that the store does not answer', async () => {
  const world = await createPublished();
  const catalog = catalogs.open(world);
  await catalog.start();
  expect(await offered(catalog)).toBe('2.0.0');
  world.store.goDown();
  await world.clock.advance(STALE_MAX_MS + 60_000);
  await expect(offered(catalog)).rejects.toThrow(
    'The catalog was last confirmed too long ago: the object store does not answer. Try again shortly.',
  );
});
