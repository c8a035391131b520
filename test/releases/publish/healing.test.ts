import { afterAll, expect, it } from 'vitest';
import { artifactsPrefix, manifestKey } from '../../../src/catalog/documents/keys.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { createWorld, offered, POLL_MS, type World } from '../../catalog/live/live-catalog.ts';
import { killedAtCommit } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** Publishing the same files again repairs what was corrupt in the store. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const request = { version: '1.0.0', artifacts: [setup] };
const MAC = { filename: 'App.dmg', platform: 'macos', arch: 'arm64', format: 'dmg' } as const;
const mac = await makeArtifact(temporary.path, MAC);

const problemsIn = async ({ memory }: World) => {
  const options = { application: undefined, deep: true };
  const { applications } = await verifyCatalog({ store: memory, onProgress: () => {} }, options);
  return applications.flatMap(({ problems }) => problems);
};

it('replaces a file that was altered at the same size', async () => {
  const world = createWorld();
  await publish(world.parts, request);
  for await (const { key } of world.memory.list(artifactsPrefix('desktop'))) {
    await world.tamper(key, (text) => text.replace('program', 'malware'));
  }
  expect(await problemsIn(world)).toEqual([expect.stringContaining('has other bytes')]);
  const { changed, artifacts } = await publish(world.parts, request);
  expect(changed).toBe(true);
  expect(artifacts).toMatchObject([{ uploaded: true }]);
  expect(await problemsIn(world)).toEqual([]);
  expect((await publish(world.parts, request)).changed).toBe(false);
});

it('makes a corrupt manifest again when the operator allows it; the error names the option', async () => {
  const world = createWorld();
  await publish(world.parts, request);
  await world.tamper(manifestKey('desktop', '1.0.0', 1), (text) => text.slice(0, 40));
  await expect(publish(world.parts, request)).rejects.toThrow('--skip-corrupt 1');
  const { manifest } = await publish({ ...world.parts, skipCorrupt: [1] }, request);
  expect(manifest).toBe(2);
  expect(await problemsIn(world)).toEqual([]);
  const catalog = world.open();
  await catalog.start();
  await world.clock.advance(POLL_MS);
  expect(await offered(catalog)).toBe('1.0.0');
  await catalog.stop();
});

it('needs no option for a corrupt manifest that a sound one followed', async () => {
  const world = createWorld();
  await publish(world.parts, request);
  // Another channel offers the first manifest.
  await publish(world.parts, { ...request, channel: 'beta' });
  await publish(world.parts, { version: '1.0.0', artifacts: [mac] });
  await world.tamper(manifestKey('desktop', '1.0.0', 1), (text) => text.slice(0, 40));
  expect(await problemsIn(world)).not.toEqual([]);
  await publish(world.parts, { ...request, channel: 'beta' });
  expect(await problemsIn(world)).toEqual([]);
});

it('opens no draft with a corrupt manifest, with any option: the command has no files to make it from', async () => {
  const world = createWorld();
  await publish(world.parts, { ...request, mode: 'draft' });
  await world.tamper(manifestKey('desktop', '1.0.0', 1), (text) => text.slice(0, 40));
  const opening = openDraft(
    { ...world.parts, actor: 'test', skipCorrupt: [1] },
    { application: 'desktop', channel: 'stable', version: '1.0.0', allowPrerelease: false },
  );
  await expect(opening).rejects.toMatchObject({
    code: 'document_corrupt',
    message: expect.not.stringContaining('--skip-corrupt'),
  });
});

it('refuses other bytes for a file whose manifest is corrupt, when a newer manifest states the file', async () => {
  const world = createWorld();
  await publish(world.parts, request);
  const store = killedAtCommit(world.parts.store);
  const killed = publish({ ...world.parts, store }, { version: '1.0.0', artifacts: [mac] });
  await expect(killed).rejects.toThrow('killed');
  await world.tamper(manifestKey('desktop', '1.0.0', 1), (text) => text.slice(0, 40));
  const otherBytes = await makeArtifact(`${temporary.path}/other`, {
    filename: 'App-Setup.exe',
    content: 'built again',
  });
  await expect(
    publish(world.parts, { version: '1.0.0', artifacts: [otherBytes] }),
  ).rejects.toMatchObject({ code: 'release_differs' });
  // The killed publisher may build its own file again.
  const macAgain = await makeArtifact(`${temporary.path}/other`, {
    ...MAC,
    content: 'built again',
  });
  const { release } = await publish(world.parts, { version: '1.0.0', artifacts: [macAgain] });
  expect(release.artifacts.map(({ filename }) => filename).sort()).toEqual([
    'App-Setup.exe',
    'App.dmg',
  ]);
});
