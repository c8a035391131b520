import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, POLL_MS, useCatalogs } from './live-catalog.ts';

const NAMES = Array.from({ length: 60 }, (_, index) => `app-${index}`);
const LAST = 'app-59';
const catalogs = useCatalogs();
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

it('a cold service reads dozens of applications at once, and first those that clients ask for', async () => {
  const world = createWorld();
  for (const name of NAMES) await bulkPublish(world, 1, name);
  const waiting = new Set<string>();
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  world.store.setPlan(async ({ key }) => {
    const name = /^apps\/([^/]+)\//.exec(key)?.[1];
    if (name === undefined || name === LAST) return undefined;
    waiting.add(name);
    await opened;
    return undefined;
  });
  const catalog = catalogs.open(world);
  const started = catalog.start();
  await expect.poll(() => waiting.size, { interval: 1 }).toBeGreaterThanOrEqual(40);
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  expect(waiting.size).toBeLessThan(NAMES.length - 1);
  expect(() => catalog.application(LAST)).toThrow('could not be loaded');
  await expect.poll(() => isAnswered(LAST), { interval: 1 }).toBe(true);
  open();
  await started;
  expect(NAMES.every(isAnswered)).toBe(true);

  function isAnswered(name: string): boolean {
    return (
      Object.hasOwn(catalog.health().applications, name) &&
      catalog.health().applications[name]?.source === 'live'
    );
  }
});

it('a restarted service never says that a saved application does not exist', async () => {
  const world = createWorld();
  const names = Array.from({ length: 20 }, (_, index) => `app-${index}`);
  for (const name of names) await bulkPublish(world, 1, name);
  const own = await makeTemporaryDirectory();
  const stateDirectory = own.path;
  const before = await catalogs.start(world, { stateDirectory });
  await expect
    .poll(async () => {
      await world.clock.advance(POLL_MS);
      return (await readdir(stateDirectory, { recursive: true })).filter((file) =>
        file.endsWith('.catalog'),
      ).length;
    })
    .toBe(names.length);
  await before.stop();
  const restarted = catalogs.open(world, { stateDirectory });
  const started = restarted.start();
  const codes = new Set<unknown>();
  let isStarted = false;
  void started.then(() => {
    isStarted = true;
  });
  while (!isStarted) {
    for (const name of names) {
      try {
        restarted.application(name);
      } catch (error) {
        codes.add((error as { readonly code?: unknown }).code);
      }
    }
    await setImmediate();
  }
  expect([...codes]).toEqual(['catalog_unavailable']);
  await restarted.stop();
  await own.remove();
});

it('a restarted service reads the releases that it lacks before it verifies those that it restored', async () => {
  /** More than a service verifies before it uses a revision. */
  const count = 70;
  const world = createWorld();
  const stateDirectory = temporary.path;
  await bulkPublish(world, count, 'restored');
  const before = await catalogs.start(world, { stateDirectory });
  await expect
    .poll(async () => {
      await world.clock.advance(POLL_MS);
      return readdir(temporary.path, { recursive: true });
    })
    .toContainEqual(expect.stringMatching(/restored.1\.catalog$/));
  await before.stop();
  await bulkPublish(world, count, 'missing');
  const asked: string[] = [];
  world.store.setPlan(async ({ key }) => {
    asked.push(key);
    return undefined;
  });
  await catalogs.start(world, { stateDirectory });
  const verified = () =>
    asked.flatMap((key, at) => (/^apps.restored.artifacts/.test(key) ? [at] : []));
  await expect.poll(verified, { interval: 1 }).toHaveLength(count);
  const lastRead = asked.findLastIndex((key) => /^apps.missing.*manifest/.test(key));
  expect(asked.some((key) => /^apps.restored.*manifest/.test(key))).toBe(false);
  // The newest release comes first, because most clients get it.
  expect(verified()[1]).toBeGreaterThan(lastRead);
});
