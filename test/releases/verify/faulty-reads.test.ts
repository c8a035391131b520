import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeSettings } from '../../../src/releases/applications/change-settings.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { READ_FAULT_NAMES, withFaultyReads } from '../../support/faulty-reads.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { makeSparkleKey } from '../../support/sparkle-key.ts';

/** One wrong answer to a read of a stored file: `verify --deep` must not call a sound file altered. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let store: ObjectStore;

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  const clock = createFixedClock();
  store = createMemoryStore({ clock });
  const parts = { store, clock, randomness: createSeededRandomness(1) };
  const plain = await makeArtifact(directory.path, { content: 'the program for Windows' });
  await publish(parts, { version: '1.0.0', artifacts: [plain] });
  const key = makeSparkleKey();
  const stated = { sparklePubkey: key.publicKey };
  const settings = { application: 'desktop', stated, reason: null };
  await changeSettings({ ...parts, actor: 'test' }, settings);
  const content = 'the disk image';
  const value = key.sign(Buffer.from(content));
  const signed = await makeArtifact(directory.path, {
    platform: 'macos',
    arch: 'universal',
    filename: 'App.dmg',
    format: 'dmg',
    content,
    signatures: [{ scheme: 'sparkle-ed25519', keyId: '', value }],
  });
  await publish(parts, { version: '1.1.0', artifacts: [signed] });
});
afterAll(() => directory.remove());

const verify = (from: ObjectStore) =>
  verifyCatalog(
    { store: from, onProgress: () => undefined },
    { application: 'desktop', deep: true },
  );

describe.each(READ_FAULT_NAMES)('%s in one answer for each file', (fault) => {
  it('is no problem of the files, also of signed ones', async () => {
    const { store: faulty, freshReads } = withFaultyReads(store, fault);
    const { applications } = await verify(faulty);
    expect(applications[0]?.problems).toEqual([]);
    expect(freshReads).toHaveLength(2);
  });
});

it('a file that was altered in the store is named all the same', async () => {
  const { store: altered } = withFaultyReads(store, 'a flipped bit', {
    timesMax: 9,
    isFaulty: (key) => key.endsWith('.dmg'),
  });
  const { applications } = await verify(altered);
  expect(applications[0]?.problems).toEqual([expect.stringMatching(/App\.dmg has other bytes/)]);
});
