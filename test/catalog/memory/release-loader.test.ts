import pLimit from 'p-limit';
import { expect, it } from 'vitest';
import { createReleaseLoader } from '../../../src/catalog/memory/release-loader.ts';
import {
  createSpillFile,
  type KeptValue,
  type SpillFile,
} from '../../../src/catalog/memory/spill-file.ts';
import { type Version, versionText } from '../../../src/domain/version.ts';
import { createRefusals } from '../../../src/store/sequence/read-checked.ts';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, POLL_MS } from './live-catalog.ts';

/** A loader keeps this many releases parsed. */
const PARSED_MAX = 256;

/** A running catalog with some releases. */
async function setUp(count: number) {
  const world = createWorld();
  await bulkPublish(world, count);
  const catalog = world.open();
  await catalog.start();
  await world.clock.advance(POLL_MS);
  const application = catalog.application('desktop');
  return { world, catalog, application, offers: application.snapshot().offers };
}

it('keeps at most 256 releases parsed, and parses the others from what it keeps', async () => {
  const { world, catalog, application, offers } = await setUp(PARSED_MAX + 1);
  const [first, ...others] = offers;
  if (first === undefined) throw new Error('No offer.');
  world.store.goDown();
  const release = await application.release(first);
  expect(application.release(first)).toBe(release);
  for (const offer of others) {
    expect(await application.release(offer)).toMatchObject({
      version: versionText(offer.version),
    });
  }
  const again = await application.release(first);
  expect(again).toEqual(release);
  expect(again).not.toBe(release);
  await catalog.stop();
});

/** A loader of its own, with a disk that answers reads as `read` says. */
async function openLoader(read: (spill: SpillFile) => SpillFile['read']) {
  const { world, catalog, offers } = await setUp(3);
  await catalog.stop();
  const spill = createSpillFile(undefined);
  const loader = createReleaseLoader({
    store: world.store,
    clock: world.clock,
    application: 'desktop',
    requests: pLimit(4),
    leads: () => true,
    refusals: createRefusals(),
    spill: { ...spill, read: read(spill) },
  });
  for (const offer of offers) expect((await loader.load(offer)).fault).toBeUndefined();
  loader.retain(offers);
  return { world, loader, offers };
}

it('reads a release from the store again when the disk loses it', async () => {
  let isLost = true;
  const { world, loader, offers } = await openLoader((spill) => async (kept) => {
    return isLost ? undefined : spill.read(kept);
  });
  const [offer, other] = offers;
  if (offer === undefined || other === undefined) throw new Error('No offer.');
  expect(loader.isAnyDue()).toBe(false);
  expect(await loader.recall(offer)).toBeUndefined();
  expect([loader.isDue(offer), loader.isAnyDue(), loader.hasAll()]).toEqual([true, true, false]);
  await expect(loader.manifests().next()).rejects.toThrow('does not return');
  world.store.goDown();
  await expect(loader.load(offer)).rejects.toMatchObject({ code: 'store_unavailable' });
  world.store.comeUp();
  isLost = false;
  expect((await loader.load(offer)).fault).toBeUndefined();
  expect(loader.get(offer)).toBeUndefined();
  const release = await loader.recall(offer);
  expect(release).toMatchObject({ version: versionText(offer.version) });
  expect(loader.get(offer)).toBe(release);
});

it('never returns another release when the disk returns other bytes', async () => {
  let first: KeptValue | undefined;
  const { loader, offers } = await openLoader((spill) => (kept) => {
    first ??= kept;
    return spill.read(first);
  });
  const releases = await Promise.all(offers.map((offer) => loader.recall(offer)));
  const versions = releases.map((release) => release?.version);
  expect(versions).toEqual([versionText(offers[0]?.version as Version), undefined, undefined]);
});

it('reads and parses a release once when many clients ask for it', async () => {
  let reads = 0;
  const { loader, offers } = await openLoader((spill) => async (kept) => {
    reads++;
    return spill.read(kept);
  });
  const [offer] = offers;
  if (offer === undefined) throw new Error('No offer.');
  const found = await Promise.all(Array.from({ length: 50 }, () => loader.recall(offer)));
  expect(new Set(found).size).toBe(1);
  expect(found[0]).toBeDefined();
  expect(reads).toBe(1);
});
