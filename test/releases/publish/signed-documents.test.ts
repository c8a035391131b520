import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BuiltArtifact, BuiltDocument } from '../../../src/builds/build-output.ts';
import { carriedObject } from '../../../src/catalog/documents/keys.ts';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { collectGarbage } from '../../../src/releases/verify/collect-garbage.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** Documents that publishers signed, in the store. */

const WEEK_MS = 7 * 24 * 3_600_000;
const BUILDS = {
  'latest.yml': { platform: 'windows', format: 'nsis', filename: 'App-1.0.0.exe' },
  'latest-mac.yml': { platform: 'macos', format: 'zip', filename: 'App-1.0.0.zip' },
} as const;

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

function document(name: string, content: string): BuiltDocument {
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    path: `/build/${name}`,
    name,
    bytes,
    size: bytes.length,
    sha256,
    stagingPercentage: null,
    lists: [],
    elsewhere: [],
  };
}

type Name = keyof typeof BUILDS;

async function release(
  name: Name,
  content = name as string,
  request: Partial<PublishRequest> = {},
) {
  const { filename } = BUILDS[name];
  const built: Partial<BuiltArtifact> & { content?: string } = { ...BUILDS[name], filename };
  const artifacts = [
    await makeArtifact(`${directory.path}/${content}`, { ...built, ...fileOf(request) }),
  ];
  return publish(parts, {
    version: '1.0.0',
    signed: [document(name, content)],
    ...request,
    artifacts,
  });
}

/** A build that runs again has other bytes. */
function fileOf({ provenance }: Partial<PublishRequest>) {
  return provenance?.commit == null ? {} : { content: provenance.commit };
}

const rebuilt = (commit: string): Partial<PublishRequest> => ({
  provenance: { commit, buildUrl: null },
});
const shown = async () => (await showRelease(parts, 'desktop', '1.0.0')).release.carried;
const keyOf = (n: number, name: Name = 'latest.yml') =>
  `apps/desktop/${carriedObject('1.0.0', n, name)}`;
const textAt = async (key: string) =>
  Buffer.from((await parts.store.get(key))?.body ?? []).toString();

it('are stored byte for byte, and named by the manifest', async () => {
  await release('latest.yml', 'signed: "ü"\r\n');
  expect(await textAt(keyOf(1))).toBe('signed: "ü"\r\n');
  expect(await shown()).toMatchObject([
    { name: 'latest.yml', size: 14, object: 'releases/1.0.0/carried/1/latest.yml' },
  ]);
});

it('of two platforms are both kept, in either order of commits', async () => {
  await Promise.all([release('latest.yml'), release('latest-mac.yml')]);
  expect((await shown()).map(({ name }) => name)).toEqual(['latest-mac.yml', 'latest.yml']);
  const { changed } = await release('latest.yml');
  expect(changed).toBe(false);
});

it('are added to a release that was offered without them', async () => {
  await release('latest.yml', 'latest.yml', { signed: [] });
  expect(await shown()).toEqual([]);
  expect((await release('latest.yml')).changed).toBe(true);
  expect(await shown()).toHaveLength(1);
});

describe('with other bytes', () => {
  it('are refused once clients may have them, before anything is written', async () => {
    await release('latest.yml');
    const before = await keys();
    await expect(release('latest.yml', 'other')).rejects.toThrow(
      /published with another signed latest.yml/,
    );
    expect(await keys()).toEqual(before);
  });

  it('are refused also when another channel had offered them, and retired the version', async () => {
    await release('latest.yml', 'latest.yml', { signed: [] });
    await release('latest.yml', 'latest.yml', { channel: 'beta' });
    const retired = { application: 'desktop', version: '1.0.0', channel: 'beta', reason: null };
    await changeStatus(parts, 'retire', retired);
    const other = { signed: [document('latest.yml', 'other')] };
    await expect(release('latest.yml', 'latest.yml', other)).rejects.toThrow(
      /published with another signed latest.yml/,
    );
    expect((await release('latest.yml')).changed).toBe(true);
  });

  it('replace those of a draft, and one of two racing builds wins whole', async () => {
    const draft = { mode: 'draft' as const };
    await release('latest.yml', 'first', { ...draft, ...rebuilt('one') });
    await release('latest.yml', 'second', { ...draft, ...rebuilt('two') });
    expect(await shown()).toMatchObject([{ object: 'releases/1.0.0/carried/2/latest.yml' }]);
    await Promise.all([
      release('latest.yml', 'third', { ...draft, ...rebuilt('three') }),
      release('latest.yml', 'fourth', { ...draft, ...rebuilt('four') }),
    ]);
    const { carried, artifacts } = (await showRelease(parts, 'desktop', '1.0.0')).release;
    const signed = await textAt(`apps/desktop/${carried[0]?.object}`);
    const program = await textAt(`apps/desktop/${artifacts[0]?.object}`);
    expect(['third of three', 'fourth of four']).toContain(`${signed} of ${program}`);
  });
});

describe('of two jobs for one platform', () => {
  const job = async (arch: 'x64' | 'arm64', content: string, format: 'zip' | 'dmg' = 'zip') => {
    const file = {
      platform: 'macos',
      arch,
      format,
      filename: `App-1.0.0-${arch}.${format}`,
    } as const;
    const artifact = await makeArtifact(`${directory.path}/${content}`, { ...file, content });
    const signed = format === 'dmg' ? [] : [document('latest-mac.yml', content)];
    return publish(parts, { version: '1.0.0', mode: 'draft', artifacts: [artifact], signed });
  };

  it('are refused: the second document does not list the files of the first', async () => {
    await job('x64', 'first');
    await expect(job('arm64', 'second')).rejects.toThrow(
      /has another signed latest-mac.yml.* does not list App-1.0.0-x64.zip/,
    );
    const { artifacts, carried } = (await showRelease(parts, 'desktop', '1.0.0')).release;
    expect(artifacts.map(({ arch }) => arch)).toEqual(['x64']);
    expect(await textAt(`apps/desktop/${carried[0]?.object}`)).toBe('first');
  });

  it('may run again, also beside a file that no document lists', async () => {
    await job('x64', 'first');
    await job('arm64', 'image', 'dmg');
    await job('x64', 'again');
    expect(await shown()).toMatchObject([{ object: 'releases/1.0.0/carried/2/latest-mac.yml' }]);
  });

  it('are refused also when two jobs race', async () => {
    const jobs = await Promise.allSettled([job('x64', 'one'), job('arm64', 'two')]);
    expect(jobs.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await showRelease(parts, 'desktop', '1.0.0')).release.artifacts).toHaveLength(1);
  });
});

it('of a draft are dropped when their files are built again without a signature', async () => {
  const draft = { mode: 'draft' as const };
  await release('latest.yml', 'latest.yml', { ...draft, ...rebuilt('one') });
  await release('latest-mac.yml', 'latest-mac.yml', draft);
  await release('latest.yml', 'latest.yml', { ...draft, ...rebuilt('two'), signed: [] });
  expect((await shown()).map(({ name }) => name)).toEqual(['latest-mac.yml']);
});

describe('that were lost or altered', () => {
  it.each([
    ['missing', async () => parts.store.delete(keyOf(1)), 'is missing'],
    [
      'altered',
      async () => {
        await parts.store.delete(keyOf(1));
        await parts.store.create(keyOf(1), Buffer.from('lAtest.yml'));
      },
      'has other bytes',
    ],
  ])(
    '%s: verify reports them, and publishing again repairs them',
    async (_what, damage, problem) => {
      await release('latest.yml');
      await damage();
      const verify = async () => {
        const deps = { ...parts, onProgress: () => {} };
        const { applications } = await verifyCatalog(deps, { application: 'desktop', deep: false });
        return applications[0]?.problems;
      };
      expect(await verify()).toEqual([expect.stringContaining(problem)]);
      await release('latest.yml');
      expect(await verify()).toEqual([]);
      const [kept] = await shown();
      expect(await textAt(`apps/desktop/${kept?.object}`)).toBe('latest.yml');
    },
  );
});

it('stay in gc while a manifest names them, and go when no manifest does', async () => {
  await release('latest.yml');
  const unnamed = keyOf(1, 'latest-mac.yml');
  await parts.store.create(unnamed, Buffer.from('of an interrupted publish'));
  const gc = async () => {
    const { results } = await collectGarbage(parts, { application: 'desktop' });
    return results.flatMap(({ objects }) => objects.map(({ key }) => key));
  };
  expect(await gc()).toEqual([]);
  parts.clock.advance(WEEK_MS + 1);
  expect(await gc()).toEqual([unnamed]);
  expect(await textAt(keyOf(1))).toBe('latest.yml');
});

it('are never taken from an upload that gc may be deleting', async () => {
  await parts.store.create(keyOf(1), Buffer.from('latest.yml'));
  parts.clock.advance(WEEK_MS);
  await release('latest.yml');
  expect(await shown()).toMatchObject([{ object: 'releases/1.0.0/carried/2/latest.yml' }]);
});

async function keys(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key } of parts.store.list('apps/')) found.push(key);
  return found;
}
