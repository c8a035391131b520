import { expect, it } from 'vitest';
import { refuseUsedStore } from '../../src/releases/refuse-used-store.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';

const ADVICE = 'Take another one.';

it('accepts a store without applications', async () => {
  const store = createMemoryStore({ clock: createFixedClock() });
  await store.create('usage/totals/00000001.json', new Uint8Array([1]));
  await expect(refuseUsedStore({ store }, ADVICE)).resolves.toBeUndefined();
});

it('refuses a store with applications, and names them', async () => {
  const directory = await makeTemporaryDirectory();
  const clock = createFixedClock();
  const store = createMemoryStore({ clock });
  const parts = { store, clock, randomness: createSeededRandomness(1) };
  const artifacts = [await makeArtifact(directory.path)];
  await publish(parts, { version: '1.0.0', artifacts, create: true });
  await directory.remove();
  await expect(refuseUsedStore({ store }, ADVICE)).rejects.toMatchObject({
    code: 'status_forbids',
    message: 'The store already has applications: desktop. Take another one.',
  });
});

it('refuses a store whose list of applications is lost', async () => {
  const store = createMemoryStore({ clock: createFixedClock() });
  await store.create('apps/desktop/catalog/1.json', new Uint8Array([1]));
  await expect(refuseUsedStore({ store }, ADVICE)).rejects.toMatchObject({
    code: 'status_forbids',
    message: expect.stringContaining('such as apps/desktop/catalog/1.json. Take another one.'),
  });
});
