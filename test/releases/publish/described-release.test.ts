import { afterEach, beforeEach, expect, it } from 'vitest';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** What the build tool states of a release, beside what its publishers and operators state. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let parts: ReturnType<typeof createParts>;

function createParts() {
  const clock = createFixedClock();
  const store = createMemoryStore({ clock });
  return { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
}

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
  parts = createParts();
});

afterEach(() => directory.remove());

async function release(filename: string, request: Partial<PublishRequest> = {}) {
  const linux = { platform: 'linux', format: 'appimage' } as const;
  const kind = filename.endsWith('.AppImage') ? linux : {};
  const artifacts = [await makeArtifact(directory.path, { filename, ...kind })];
  return (await publish(parts, { version: '1.0.0', artifacts, ...request })).release;
}

const described = (notes: string | null, name: string | null = null) => ({
  described: { name, notes },
});

const ask = { application: 'desktop', version: '1.0.0', reason: null };

it('is used when the publisher gives no notes', async () => {
  expect(await release('a.exe', described('From the build.', 'Autumn'))).toMatchObject({
    name: 'Autumn',
    notes: { und: 'From the build.' },
  });
});

it('gives way to the notes that a publisher gives, also for another platform', async () => {
  const notes = { de: 'Vom Team.' };
  expect((await release('a.exe', { notes, ...described('From the build.') })).notes).toEqual(notes);
  expect((await release('b.AppImage', described('Of Linux.'))).notes).toEqual(notes);
});

it('of the first platform stays, and another platform is published all the same', async () => {
  await release('a.exe', described('Of Windows.', 'Autumn'));
  const later = await release('b.AppImage', described('Of Linux.', 'Winter'));
  expect(later).toMatchObject({ name: 'Autumn', notes: { und: 'Of Windows.' } });
  expect(later.artifacts).toHaveLength(2);
});

it('does not undo what an operator corrected or removed', async () => {
  await release('a.exe', described('With an error.'));
  await correctNotes(parts, { ...ask, set: { und: 'Corrected.' }, remove: [] });
  expect((await release('a.exe', described('With an error.'))).notes).toEqual({
    und: 'Corrected.',
  });
  await correctNotes(parts, { ...ask, set: {}, remove: ['und'] });
  expect((await release('b.AppImage', described('With an error.'))).notes).toEqual({});
});

it('is kept in the stored manifest, for each file and companion', async () => {
  const facts = { blockMapSize: 5, needsAdminRights: true };
  const payload = await makeArtifact(directory.path, { filename: 'a.nsis.7z', facts });
  const companions = [{ ...payload, kind: 'package' as const, arch: 'x64' as const }];
  const web = await makeArtifact(directory.path, { format: 'nsis-web', companions });
  const image = { filename: 'a.AppImage', platform: 'linux', format: 'appimage' } as const;
  const artifacts = [web, await makeArtifact(directory.path, { ...image, facts })];
  await publish(parts, { version: '1.0.0', artifacts });
  const stored = (await showRelease(parts, 'desktop', '1.0.0')).release;
  expect(stored.artifacts).toMatchObject([{ ...facts }, { companions: [{ ...facts }] }]);
  expect(stored.artifacts[1]).not.toHaveProperty('blockMapSize');
});

it('of a file is added when it is published again with its feed', async () => {
  await release('a.exe');
  const facts = { needsAdminRights: true };
  const again = await makeArtifact(directory.path, { filename: 'a.exe', facts });
  const { release: merged } = await publish(parts, { version: '1.0.0', artifacts: [again] });
  expect(merged.artifacts).toMatchObject([facts]);
});
