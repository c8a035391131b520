import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { afterAll, expect, it } from 'vitest';
import type { FileContents } from '../../../src/catalog/live/file-contents.ts';
import { createReleaseLoader } from '../../../src/catalog/live/release-loader.ts';
import { SaveInterrupted } from '../../../src/catalog/live/saved-state.ts';
import {
  createSpillFile,
  type KeptValue,
  type SpillFile,
} from '../../../src/catalog/live/spill-file.ts';
import { parseVersion, versionText } from '../../../src/domain/version.ts';
import { createRefusals } from '../../../src/store/sequence/read-checked.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { bulkPublish } from '../bulk-publish.ts';
import { createWorld, POLL_MS, untilSaved } from './live-catalog.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

/** A loader keeps this many releases parsed. */
const PARSED_MAX = 256;

/** A running catalog with some releases, all of them verified. */
async function setUp(count: number, stateDirectory?: string) {
  const world = createWorld();
  const keys = await bulkPublish(world, count);
  const verified = new Set<string>();
  world.store.setPlan(async ({ key }) => {
    verified.add(key);
    return undefined;
  });
  const catalog = world.open(stateDirectory === undefined ? {} : { stateDirectory });
  await catalog.start();
  await expect
    .poll(() => keys.filter((key) => !verified.has(key)), { interval: 1 })
    .toHaveLength(0);
  await world.clock.advance(POLL_MS);
  const application = catalog.application('desktop');
  return { world, catalog, application, offers: application.snapshot().offers };
}

it.each([
  ['in memory', undefined],
  ['on the disk', path.join(temporary.path, 'state')],
])('serves every release while the store is down, %s; at most 256 are parsed', async (_, state) => {
  const { world, catalog, application, offers } = await setUp(PARSED_MAX + 1, state);
  const [first, ...others] = offers;
  if (first === undefined) throw new Error('No offer.');
  // The saved state is written once, and not again while the directory is removed.
  if (state !== undefined) await untilSaved(world, state);
  world.store.goDown();
  // The process still has its own file, which has no name.
  if (state !== undefined) await rm(state, { recursive: true, maxRetries: 10 });
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

/** These tests replace no file. */
const NO_CONTENTS: FileContents = {
  open: async () => undefined,
  isChanged: () => false,
  note: () => undefined,
  tend: async () => undefined,
};

/** A loader of its own, with a disk that answers reads as `read` says. */
async function openLoader(
  read: (spill: SpillFile) => SpillFile['read'],
  drop: SpillFile['drop'] = () => undefined,
) {
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
    contents: NO_CONTENTS,
    spill: { ...spill, read: read(spill), drop },
  });
  for (const offer of offers) expect((await loader.load(offer)).fault).toBeUndefined();
  loader.retain(offers);
  return { world, loader, offers };
}

it('reads a release from the store when the disk does not return it, and keeps it in memory', async () => {
  let isLost = true;
  const { world, loader, offers } = await openLoader((spill) => async (kept) => {
    return isLost ? undefined : spill.read(kept);
  });
  const [offer, other] = offers;
  if (offer === undefined || other === undefined) throw new Error('No offer.');
  world.store.goDown();
  await expect(loader.find(offer)).rejects.toMatchObject({ code: 'store_unavailable' });
  // An error of the disk may pass, so the loader does not give the release up.
  isLost = false;
  expect(await loader.find(other)).toMatchObject({
    release: { version: versionText(other.version) },
  });
  isLost = true;
  world.store.comeUp();
  const { release } = await loader.find(offer);
  expect(release).toMatchObject({ version: versionText(offer.version) });
  expect(loader.get(offer)).toBe(release);
  expect(loader.isAnyDue()).toBe(false);
});

it('never returns another release when the disk returns other bytes', async () => {
  let first: KeptValue | undefined;
  const { world, loader, offers } = await openLoader((spill) => (kept) => {
    first ??= kept;
    return spill.read(first);
  });
  world.store.goDown();
  const found = await Promise.allSettled(offers.map((offer) => loader.find(offer)));
  const versions = found.map((one) =>
    one.status === 'fulfilled' ? one.value.release?.version : one.reason.code,
  );
  const [one] = offers;
  expect(versions).toEqual([
    one && versionText(one.version),
    'store_unavailable',
    'store_unavailable',
  ]);
});

it('gives no release to a forged offer of another version that names its manifest', async () => {
  const { loader, offers } = await openLoader((spill) => spill.read);
  const [offer] = offers;
  if (offer === undefined) throw new Error('No offer.');
  await loader.find(offer);
  const forged = { ...offer, version: parseVersion('9.9.9') };
  expect(loader.get(forged)).toBeUndefined();
  expect(loader.isDue(forged)).toBe(true);
  expect(await loader.find(forged)).toMatchObject({
    fault: { version: '9.9.9', detail: expect.stringContaining('missing') },
  });
});

it('reads and parses a release once when many clients ask for it', async () => {
  let reads = 0;
  const { loader, offers } = await openLoader((spill) => async (kept) => {
    reads++;
    return spill.read(kept);
  });
  const [offer] = offers;
  if (offer === undefined) throw new Error('No offer.');
  const found = await Promise.all(Array.from({ length: 50 }, () => loader.find(offer)));
  expect(new Set(found.map(({ release }) => release)).size).toBe(1);
  expect(found[0]?.release).toBeDefined();
  expect(reads).toBe(1);
});

it('stops a save when a manifest was dropped meanwhile, because another may have its place', async () => {
  const { loader, offers } = await openLoader((spill) => spill.read);
  const { count, chunks } = loader.manifests();
  expect(count).toBe(offers.length);
  loader.retain(offers.slice(1));
  expect(loader.manifests().count).toBe(offers.length - 1);
  await expect(buffer(Readable.from(chunks))).rejects.toThrow(SaveInterrupted);
});

it('restores no manifest after it knows newer offers', async () => {
  const dropped: KeptValue[] = [];
  const { loader, offers } = await openLoader(
    (spill) => spill.read,
    (kept) => dropped.push(kept),
  );
  loader.restore([{ digest: offers[0]?.manifest.digest ?? '', kept: 'older' }], offers);
  expect(dropped).toEqual(['older']);
  expect(loader.isAnyDue()).toBe(false);
});
