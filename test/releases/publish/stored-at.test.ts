import { afterAll, expect, it } from 'vitest';
import { manifestKey } from '../../../src/catalog/documents/keys.ts';
import { type Manifest, manifestSequence } from '../../../src/catalog/reading/sequences.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { createWorld, type World } from '../../catalog/live/live-catalog.ts';
import { killedAtCommit } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** A manifest dates each file, so that a service recognizes an object that replaced the file later. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const BLOCKMAP = { filename: 'App-Setup.exe', needsBlockmap: true };
const setup = await makeArtifact(temporary.path, BLOCKMAP);
const MAC = { filename: 'App.dmg', platform: 'macos', arch: 'arm64', format: 'dmg' } as const;
const mac = await makeArtifact(temporary.path, MAC);
const request = { version: '1.0.0', artifacts: [setup] };

async function readManifest({ memory }: World, number: number): Promise<Manifest['signed']> {
  const object = await memory.get(manifestKey('desktop', '1.0.0', number));
  const manifests = manifestSequence('desktop', '1.0.0');
  return (await manifests.parse(object?.body ?? new Uint8Array(), number)).signed;
}

function datesIn({ artifacts }: Manifest['signed']) {
  const files = artifacts.flatMap((artifact) => [artifact, ...artifact.companions]);
  return Object.fromEntries(files.map(({ filename, stored_at }) => [filename, stored_at]));
}

it('is the time of the manifest that first names the file, and later manifests copy it', async () => {
  const world = createWorld();
  await publish(world.parts, request);
  const first = await readManifest(world, 1);
  const dates = { 'App-Setup.exe': first.at, 'App-Setup.exe.blockmap': first.at };
  expect(datesIn(first)).toEqual(dates);
  await world.clock.advance(60_000);
  await publish(world.parts, { version: '1.0.0', artifacts: [setup, mac] });
  const second = await readManifest(world, 2);
  expect(second.at).not.toBe(first.at);
  expect(datesIn(second)).toEqual({ ...dates, 'App.dmg': second.at });
});

it.each([true, false])(
  'lets a publish that runs again change nothing; dated: %s',
  async (dated) => {
    const world = createWorld();
    const killed = publish({ ...world.parts, store: killedAtCommit(world.memory) }, request);
    await expect(killed).rejects.toThrow('killed');
    await world.tamper(manifestKey('desktop', '1.0.0', 1), (text) => {
      // An earlier version of Slipway made the manifest without dates.
      const undated = text.replaceAll(/,"stored_at":"[^"]*"|"stored_at":"[^"]*",/g, '');
      const { signed, signatures } = JSON.parse(undated);
      return dated ? text : JSON.stringify({ signed, digest: digestOf(signed), signatures });
    });
    expect(datesIn(await readManifest(world, 1))['App-Setup.exe'] === undefined).toBe(!dated);
    await world.clock.advance(60_000);
    expect(await publish(world.parts, request)).toMatchObject({ manifest: 1, changed: true });
    expect(await publish(world.parts, request)).toMatchObject({ manifest: 1, changed: false });
  },
);
