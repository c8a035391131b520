import { describe, expect, it } from 'vitest';
import { PRIVATE_ROOTS } from '../../src/app/key-roots.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { type DiagnoseDeps, diagnose } from '../../src/operations/diagnose.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';

/** What `doctor` reports of private data. Tests of the command use real stores. */
function setUp(
  options: {
    readonly anonymous?: number;
    readonly keepsVersions?: boolean | undefined;
    readonly failsHead?: boolean;
  } = {},
) {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const withUrls: ObjectStore = {
    ...memory,
    presign: async ({ key, expiresAt }) => ({ url: `https://s3.test/${key}?sig=1`, expiresAt }),
    keepsVersions: async () =>
      'keepsVersions' in options ? options.keepsVersions : memory.keepsVersions(),
  };
  const asked: string[] = [];
  const deps: DiagnoseDeps = {
    store: withUrls,
    privateStore: withUrls,
    clock,
    randomness: createSeededRandomness(3),
    probe: async () => 'fine',
    isOpenToUsers: undefined,
    privateRoots: PRIVATE_ROOTS,
    fetchStatus: async (url) => {
      asked.push(url);
      return url.includes('sig=') ? 200 : (options.anonymous ?? 403);
    },
  };
  return { deps, asked, memory };
}

const named = async (deps: DiagnoseDeps, name: string) =>
  (await diagnose(deps)).find((check) => check.name === name);

describe('diagnose: private data', () => {
  it('is ok when unsigned requests are refused, and its probes are removed', async () => {
    const { deps, asked, memory } = setUp();
    expect(await named(deps, 'private data')).toMatchObject({ outcome: 'ok' });
    const bare = asked.filter((url) => !url.includes('?')).map((url) => new URL(url).pathname);
    expect(bare.map((path) => path.split('/')[1]).sort()).toEqual([
      'accounts',
      'contact',
      'developer-keys',
      'invitations',
      'lockouts',
      'sessions',
      'usage',
    ]);
    const left = [];
    for await (const { key } of memory.list('')) left.push(key);
    expect(left).toEqual([]);
  });

  it.each([200, 206, 302])('fails when an unsigned request is answered %i', async (anonymous) => {
    const { deps } = setUp({ anonymous });
    const check = await named(deps, 'private data');
    expect(check).toMatchObject({ outcome: 'failed' });
    expect(check?.detail).toMatch(
      /is public: requests without a signature can read accounts.*S3_PRIVATE_BUCKET/,
    );
  });

  it('fails when one prefix alone is open', async () => {
    const { deps } = setUp();
    const partly = {
      ...deps,
      fetchStatus: async (url: string) => (/sig=|contact/.test(url) ? 200 : 403),
    };
    const check = await named(partly, 'private data');
    expect(check).toMatchObject({ outcome: 'failed' });
    expect(check?.detail).toContain('contact/ (200)');
  });

  it.each([0, 404, 429, 500])('warns when the answer is %i', async (anonymous) => {
    const { deps } = setUp({ anonymous });
    expect(await named(deps, 'private data')).toMatchObject({ outcome: 'warning' });
  });

  it.each([
    [true, 'warning'],
    [false, 'ok'],
  ])('of a directory that other users can read (%s) is %s', async (isOpen, outcome) => {
    const { deps } = setUp();
    const directory = { ...deps, isOpenToUsers: async () => isOpen };
    expect(await named(directory, 'private data')).toMatchObject({ outcome });
  });

  it.each<[boolean | undefined, string]>([
    [true, 'warning'],
    [undefined, 'warning'],
    [false, 'ok'],
  ])('versions kept: %s is %s', async (keepsVersions, outcome) => {
    const { deps } = setUp({ keepsVersions });
    expect(await named(deps, 'erasure')).toMatchObject({ outcome });
  });
});
