import { afterEach, beforeEach, expect, it } from 'vitest';
import { manifestSequence } from '../../../src/catalog/reading/sequences.ts';
import { AppError } from '../../../src/core/errors.ts';
import { readEarlier } from '../../../src/releases/files/read-earlier.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** The releases that a new release is compared with. */

const down = new AppError('store_unavailable', 'The store does not answer.');

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let parts: ReturnType<typeof createParts>;

function createParts() {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  return { store, clock, randomness: createSeededRandomness(1) };
}

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
  parts = createParts();
});

afterEach(() => directory.remove());

async function release(version: string) {
  const filename = `App-${version}.exe`;
  const artifact = await makeArtifact(directory.path, { filename, content: version });
  return publish(parts, { version, artifacts: [artifact] });
}

it('are the newest older one, also when newer ones are offered', async () => {
  for (const version of ['1.9.0', '1.10.0', '3.0.0']) await release(version);
  const published = await release('2.0.0');
  const { previous, signed, problems } = await readEarlier(parts, published);
  expect([previous?.version, signed, problems]).toEqual(['1.10.0', undefined, []]);
});

it('are none for the first release', async () => {
  const published = await release('1.0.0');
  expect((await readEarlier(parts, published)).previous).toBeUndefined();
});

it('are reported when their manifest is missing, because the release is published already', async () => {
  await release('1.0.0');
  const published = await release('2.0.0');
  await parts.store.delete(manifestSequence('desktop', '1.0.0').key(1));
  const { previous, problems } = await readEarlier(parts, published);
  expect(previous).toBeUndefined();
  expect(problems).toEqual([
    expect.stringMatching(/^2\.0\.0 was not compared with 1\.0\.0: .*missing/),
  ]);
});

it('are reported when the store does not answer, because the release is published already', async () => {
  await release('1.0.0');
  const published = await release('2.0.0');
  const failing = { ...parts.store, get: () => Promise.reject(down) };
  const { previous, problems } = await readEarlier({ ...parts, store: failing }, published);
  expect(previous).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining('does not answer')]);
});
