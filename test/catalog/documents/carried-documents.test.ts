import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createWorld, untilSaved, useCatalogs } from '../live/live-catalog.ts';

/** The documents that publishers signed, in a running catalog and in its saved state. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const catalogs = useCatalogs();

const TEXT = 'signed: "ü"\r\n';

/** A process that has seen a signed release, saved its state and ended. */
async function runOnce(name: string) {
  const world = createWorld();
  const stateDirectory = path.join(temporary.path, name);
  const bytes = Buffer.from(TEXT);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const document = { path: '', name: 'latest.yml', bytes, size: bytes.length, sha256 };
  const signed = [{ ...document, stagingPercentage: null, lists: [], elsewhere: [] }];
  const artifacts = [await makeArtifact(temporary.path)];
  await publish(world.parts, { version: '1.0.0', artifacts, signed });
  const catalog = await catalogs.start(world, { stateDirectory });
  await untilSaved(world, stateDirectory);
  await catalog.stop();
  return { world, stateDirectory };
}

async function textOf(catalog: Catalog): Promise<string | undefined> {
  const application = catalog.application('desktop');
  const [offer] = application.snapshot().offers;
  const release = offer && (await application.release(offer));
  const bytes = release?.documents.get('latest.yml');
  return bytes && Buffer.from(bytes).toString();
}

it('are saved, so that a process that starts during an outage has them', async () => {
  const { world, stateDirectory } = await runOnce('whole');
  world.store.goDown();
  expect(await textOf(await catalogs.start(world, { stateDirectory }))).toBe(TEXT);
});

it.each([
  ['altered', (saved: string) => saved.replace(/(carried latest\.yml \d+\n)(.)/, '$1~')],
  [
    'lost',
    (saved: string) => saved.replace(/carried latest\.yml (\d+)\n/, 'carried other.yml $1\n'),
  ],
])(
  'that were %s in the saved state are unknown during an outage, and read again later',
  async (name, edit) => {
    const { world, stateDirectory } = await runOnce(name);
    const files = await readdir(stateDirectory, { recursive: true });
    const file = path.join(stateDirectory, files.find((each) => each.endsWith('.catalog')) ?? '');
    const saved = await readFile(file, 'latin1');
    expect(edit(saved)).not.toBe(saved);
    await writeFile(file, edit(saved), 'latin1');
    world.store.goDown();
    const catalog = await catalogs.start(world, { stateDirectory });
    // Never the release without its documents: a generated document would be served in their place.
    await expect(textOf(catalog)).rejects.toMatchObject({ code: 'store_unavailable' });
    world.store.comeUp();
    expect(await textOf(catalog)).toBe(TEXT);
  },
);
