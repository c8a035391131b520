import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, useCatalogs } from './live-catalog.ts';

const NAMES = Array.from({ length: 60 }, (_, index) => `app-${index}`);
const LAST = 'app-59';
const catalogs = useCatalogs();

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
