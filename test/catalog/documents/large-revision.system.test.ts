import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { packDocument } from '../../../src/catalog/documents/packed-document.ts';
import { checkRevision, revisionSchema } from '../../../src/catalog/documents/revision-document.ts';
import {
  type LiveRevision,
  liveRevisionSequence,
} from '../../../src/catalog/live/live-revision.ts';
import { createSavedState } from '../../../src/catalog/live/saved-state.ts';
import { createSnapshotInSteps } from '../../../src/catalog/live/snapshot.ts';
import { createSpillFile } from '../../../src/catalog/live/spill-file.ts';
import { renderManifest } from '../../../src/catalog/live/stored-manifest.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { type Revision, revisionSequence } from '../../../src/catalog/reading/sequences.ts';
import { runAtOnce } from '../../../src/core/steps.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { setUpLarge } from './large-revision.ts';

const OFFERS = 1_000;

async function makeRevision(): Promise<Revision> {
  const { deps, offer } = setUpLarge();
  await offer(OFFERS);
  return (await readRevision(deps, 'desktop')) as Revision;
}

async function parseLive(revision: Revision): Promise<LiveRevision> {
  return liveRevisionSequence('desktop').parse(revisionSequence('desktop').render(revision), 1);
}

describe('a revision with a thousand offers', () => {
  it('is parsed in steps, to the same value', async () => {
    const revision = await makeRevision();
    const sequence = revisionSequence('desktop');
    const parsed = sequence.parse(sequence.render(revision), 1);
    expect(parsed).toBeInstanceOf(Promise);
    expect(await parsed).toEqual(revision);
    const live = await parseLive(revision);
    expect(runAtOnce(createSnapshotInSteps(live, new Set())).offers).toHaveLength(OFFERS);
  });

  it('is refused when the schema refuses it, with the same message', async () => {
    const { signed } = await makeRevision();
    const { stable } = signed.channels;
    const offers = [...(stable?.offers ?? [])];
    const broken = [
      { ...signed, channels: { stable: { ...stable, offers: [...offers, { version: 'x' }] } } },
      { ...signed, channels: { stable: { ...stable, offers: {} } } },
      { ...signed, channels: { stable, beta: null } },
      { ...signed, change_id: 'x' },
      null,
    ];
    for (const value of broken) {
      const expected = revisionSchema.safeParse(value);
      expect(expected.success).toBe(false);
      const checked = runAtOnce(checkRevision(value));
      const [issue] = checked.success ? [] : checked.error.issues;
      const [whole] = expected.error?.issues ?? [];
      expect(issue?.path).toEqual(whole?.path);
      expect(whole?.message).toContain(issue?.message);
    }
    expect(runAtOnce(checkRevision(signed))).toEqual(revisionSchema.safeParse(signed));
  });

  it('is restored from the saved state unchanged', async () => {
    const directory = await makeTemporaryDirectory();
    try {
      const log = { info: () => {}, warn: () => {}, error: () => {} };
      const spill = createSpillFile(undefined);
      const saved = createSavedState({
        directory: directory.path,
        location: 'memory:',
        log,
        spill,
      });
      const revision = await parseLive(await makeRevision());
      const manifests = Array.from({ length: OFFERS }, (_, index) => {
        const digest = `digest-${index}`;
        const manifest = packDocument(Buffer.from(`{"of":"${digest} – ä"}\n`));
        const documents = new Map([['latest.yml', packDocument(Buffer.from(`of ${digest}`))]]);
        return { digest, bytes: renderManifest(digest, { manifest, documents }) };
      });
      const chunks = Readable.from(manifests.map((one) => one.bytes));
      const manifestsToSave = { count: OFFERS, chunks };
      const catalog = { revision, manifests: manifestsToSave };
      expect(await saved.save('desktop', catalog)).toBe(true);
      const loaded = await saved.load('desktop');
      expect(loaded?.revision).toEqual(revision);
      const restored = await Promise.all(
        (loaded?.manifests ?? []).map(async ({ digest, kept }) => ({
          digest,
          bytes: await spill.read(kept),
        })),
      );
      expect(restored).toEqual(manifests);
      const [place = ''] = await readdir(directory.path);
      expect(await readdir(path.join(directory.path, place, 'desktop'))).toEqual(['1.catalog']);
    } finally {
      await directory.remove();
    }
  });
});
