import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { AppError } from '../../../src/core/errors.ts';
import { hashArtifacts, type PublishProgress } from '../../../src/releases/files/hash-artifacts.ts';
import { uploadArtifacts } from '../../../src/releases/publish/upload-artifacts.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

const FORMATS = ['nsis', 'msi', 'msix', 'zip', '7z'] as const;

describe('the files of a publish', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
  });

  afterEach(() => directory.remove());

  const partsWith = (wrap: (store: ObjectStore) => Partial<ObjectStore> = () => ({})) => {
    const clock = createFixedClock();
    const memory = createMemoryStore({ clock });
    const store: ObjectStore = { ...memory, ...wrap(memory) };
    return {
      memory,
      parts: { store, clock, randomness: createSeededRandomness(1), actor: 'test' },
    };
  };

  const artifacts = () =>
    Promise.all(
      FORMATS.map((format, index) =>
        makeArtifact(directory.path, {
          filename: `App-${index}.${format}`,
          content: `file ${index}`.padEnd(1_000 * (index + 1)),
          format,
        }),
      ),
    );

  it('are uploaded at the same time, and the progress adds them up', async () => {
    let underWay = 0;
    let most = 0;
    const { parts } = partsWith((memory) => ({
      upload: async (...call) => {
        most = Math.max(most, ++underWay);
        await setTimeout(2);
        underWay--;
        return memory.upload(...call);
      },
    }));
    const steps: PublishProgress[] = [];
    const deps = { ...parts, onProgress: (step: PublishProgress) => steps.push(step) };
    const hashed = await hashArtifacts(deps, await artifacts(), false, []);
    const uploaded = await uploadArtifacts(deps, 'desktop', hashed, []);
    expect(most).toBe(FORMATS.length);
    expect(uploaded.map(({ artifact }) => artifact.object)).toEqual(
      hashed.map(({ main }) => `artifacts/${main.sha256}/${main.filename}`),
    );
    const shown = steps.filter(({ phase }) => phase === 'upload');
    const total = FORMATS.reduce((sum, _, index) => sum + 1_000 * (index + 1), 0);
    expect(shown.at(-1)).toEqual({
      phase: 'upload',
      filename: '5 files',
      bytesDone: total,
      bytesTotal: total,
    });
    const done = shown.map(({ bytesDone }) => bytesDone);
    expect(done).toEqual([...done].sort((a, b) => a - b));
  });

  it('are not offered when one cannot be uploaded: the failure names it, and no upload goes on', async () => {
    let underWay = 0;
    const { memory, parts } = partsWith((inner) => ({
      upload: async (key, source, options) => {
        underWay++;
        try {
          await setTimeout(key.endsWith('.msix') ? 2 : 20, undefined, { signal: options?.signal });
          if (key.endsWith('.msix')) throw new AppError('store_full', `No space for ${key}.`);
          return await inner.upload(key, source, options);
        } finally {
          underWay--;
        }
      },
    }));
    const failed = publish(parts, { version: '1.0.0', artifacts: await artifacts() });
    await expect(failed).rejects.toMatchObject({
      code: 'store_full',
      message: expect.stringContaining('App-2.msix'),
    });
    expect(underWay).toBe(0);
    expect(await readRevision({ store: memory }, 'desktop')).toBeUndefined();
    for await (const { key } of memory.list('apps/')) expect.unreachable(`${key} was stored`);
    // The same command completes when the store has space again.
    await publish({ ...parts, store: memory }, { version: '1.0.0', artifacts: await artifacts() });
    expect((await readRevision({ store: memory }, 'desktop'))?.signed.revision).toBe(1);
  });

  it('that are stored already are used again only when their bytes are the same', async () => {
    const { memory, parts } = partsWith();
    const [first, ...others] = await artifacts();
    if (first === undefined) throw new Error('There is no artifact.');
    const one = await publish(parts, { version: '1.0.0', artifacts: [first] });
    const again = await publish(parts, { version: '1.1.0', artifacts: [first, ...others] });
    expect(again.artifacts.map(({ uploaded }) => uploaded)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    const object = String(one.artifacts[0]?.artifact.object);
    // An attacker alters a file, and keeps its size.
    await memory.delete(`apps/desktop/${object}`);
    await memory.create(`apps/desktop/${object}`, Buffer.alloc(first.size));
    const healed = await publish(parts, { version: '1.2.0', artifacts: [first] });
    expect(healed.artifacts[0]).toMatchObject({ uploaded: true });
    expect(healed.artifacts[0]?.artifact.object).not.toBe(object);
  });
});
