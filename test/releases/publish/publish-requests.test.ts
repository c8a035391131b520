import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { readEarlier } from '../../../src/releases/files/read-earlier.ts';
import { publishRelease } from '../../../src/releases/publish/publish-release.ts';
import { ensureConforming } from '../../../src/store/conformance-probe.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createNewestKnown } from '../../../src/store/sequence/newest-known.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createRecordingStore, longestChain } from '../../support/recording-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

const REVISIONS = 1_000;
const CHAIN_MAX = 12;

describe('the requests of a publish', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
  });

  afterEach(() => directory.remove());

  const filesOf = (version: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        makeArtifact(directory.path, {
          filename: `App-${version}-${index}.exe`,
          content: `${version} ${index}`,
          arch: index % 2 === 0 ? 'x64' : 'arm64',
          format: (['nsis', 'msi', 'msix', 'zip', '7z'] as const)[index >> 1] ?? 'nsis',
        }),
      ),
    );

  it('of ten files wait for at most twelve round trips, after a thousand revisions', async () => {
    const clock = createFixedClock();
    const parts = {
      store: createMemoryStore({ clock }),
      clock,
      randomness: createSeededRandomness(1),
      actor: 'test',
    };
    await ensureConforming(parts);
    await publish(parts, { version: '1.0.0', artifacts: await filesOf('1.0.0', 1) });
    const writer = { ...parts, newestKnown: createNewestKnown() };
    for (let revision = 2; revision <= REVISIONS; revision++) {
      await changeCatalog(writer, 'desktop', (channels) => {
        const change = { kind: 'channel' as const, version: null, channels: ['stable'] };
        return { plan: revision, edit: { change: { ...change, reason: null }, channels } };
      });
    }
    const { store, requests } = createRecordingStore(parts.store);
    const deps = { ...parts, store };
    const published = await publishRelease(
      { ...deps, ensureConforming: () => ensureConforming(deps), onProgress: () => {} },
      {
        application: 'desktop',
        channel: 'stable',
        version: '1.1.0',
        artifacts: await filesOf('1.1.0', 10),
        create: false,
        allowPrerelease: false,
        provenance: { commit: null, buildUrl: null },
      },
    );
    expect(published).toMatchObject({ changed: true, revision: REVISIONS + 1 });
    // The command compares the release with the one before it, to warn the publisher.
    expect(await readEarlier(deps, published)).toMatchObject({ previous: { version: '1.0.0' } });
    const chain = longestChain(requests).map(({ operation, key }) => `${operation} ${key}`);
    expect(chain.length, chain.join('\n')).toBeLessThanOrEqual(CHAIN_MAX);
    // As docs/operations/cost.md states them.
    const count = (operation: string) =>
      requests.filter((request) => request.operation === operation).length;
    expect({ upload: count('upload'), create: count('create'), list: count('list') }).toEqual({
      upload: 10,
      create: 3,
      list: 5,
    });
    expect(count('get')).toBeLessThanOrEqual(35);
  });
});
