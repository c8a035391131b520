import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/core/errors.ts';
import { COMMAND_FACTS as FACTS } from '../../../../src/features/command-facts.ts';
import type { AskedRequest, Reply } from '../../../../src/features/doctor/diagnose/ask.ts';
import {
  type DiagnoseDeps,
  diagnose,
  type Space,
} from '../../../../src/features/doctor/diagnose/diagnose.ts';
import { createMemoryStore } from '../../../../src/store/memory.ts';
import type { ObjectStore } from '../../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../../support/release.ts';

/** What `doctor` reports of private data. Tests of the command use real stores. */
function setUp(
  options: {
    readonly anonymous?: number;
    readonly keepsVersions?: boolean | undefined;
    readonly space?: Space;
    readonly publicAddress?: (key: string) => string;
    readonly statusOf?: (url: string, question: AskedRequest | undefined) => number | undefined;
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
    storeClock: clock,
    randomness: createSeededRandomness(3),
    probe: async () => 'fine',
    versions: 'Slipway 0',
    misspelled: [],
    findSaveProblem: async () => undefined,
    isBucket: true,
    isOpenToUsers: undefined,
    readSpace: options.space === undefined ? undefined : async () => options.space as Space,
    publicAddress: options.publicAddress,
    privateRoots: FACTS.keys.flatMap((area) => area.privateRoots),
    ask: async (url, question) => {
      asked.push(url);
      const status = options.statusOf?.(url, question);
      return replyOf(status ?? (url.includes('sig=') ? 200 : (options.anonymous ?? 403)));
    },
  };
  return { deps, asked, memory };
}

function replyOf(status: number): Reply {
  const failure = status === 0 ? 'refused' : undefined;
  return { status, failure, headers: { get: () => null }, text: '' };
}

const named = async (deps: DiagnoseDeps, name: string) =>
  (await diagnose(deps)).find((check) => check.name === name);

describe('diagnose: private data', () => {
  it('is ok when unsigned requests are refused, and its probes are removed', async () => {
    const { deps, asked, memory } = setUp();
    expect(await named(deps, 'private data')).toMatchObject({ outcome: 'ok' });
    const bare = asked.filter((url) => !url.includes('?')).map((url) => new URL(url).pathname);
    expect([...new Set(bare.map((path) => path.split('/')[1]))].sort()).toEqual([
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

  it.each([1, 2])(
    'fails when a proxy answers request %i with 403, and the store is public',
    async (wrong) => {
      const counts = new Map<string, number>();
      const statusOf = (url: string): number => {
        counts.set(url, (counts.get(url) ?? 0) + 1);
        return counts.get(url) === wrong ? 403 : 200;
      };
      const { deps } = setUp({ statusOf });
      expect(await named(deps, 'private data')).toMatchObject({ outcome: 'failed' });
      expect(await named(deps, 'presigned download')).toMatchObject({ outcome: 'ok' });
    },
  );

  it.each([200, 206, 302])('fails when an unsigned request is answered %i', async (anonymous) => {
    const { deps } = setUp({ anonymous });
    const check = await named(deps, 'private data');
    expect(check).toMatchObject({ outcome: 'failed' });
    expect(check?.detail).toMatch(/is public: requests without a signature can read accounts/);
    expect(check?.remedy).toContain('S3_PRIVATE_BUCKET');
  });

  it('fails when one prefix alone is open', async () => {
    const { deps } = setUp();
    const partly = {
      ...deps,
      ask: async (url: string) => replyOf(/sig=|contact/.test(url) ? 200 : 403),
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

describe('diagnose: rights, tried with a release in the store', () => {
  const published = async (options: Parameters<typeof setUp>[0] = {}) => {
    const scene = setUp(options);
    const directory = await makeTemporaryDirectory();
    const artifacts = [await makeArtifact(directory.path)];
    await publish({ ...scene.deps, store: scene.memory }, { version: '1.0.0', artifacts });
    await directory.remove();
    return scene;
  };
  const keysOf = async (store: ObjectStore) => {
    const keys = [];
    for await (const { key, etag } of store.list('')) keys.push(`${key} ${etag}`);
    return keys;
  };
  /** The store refuses to write below these prefixes. */
  const refusing = (store: ObjectStore, verb: 'create' | 'delete', ...prefixes: string[]) => ({
    ...store,
    [verb]: async (key: string, ...rest: [Uint8Array]) => {
      if (!prefixes.some((prefix) => key.startsWith(prefix))) return store[verb](key, ...rest);
      throw new AppError('store_denied', `The store refused ${key}.`);
    },
  });

  it('all are there: says so, and leaves every object as it was', async () => {
    const { deps, memory } = await published();
    const before = await keysOf(memory);
    for (const name of ['right to publish', 'right to serve', 'right to clean up']) {
      expect(await named(deps, name), name).toMatchObject({ outcome: 'ok', remedy: null });
    }
    expect(await keysOf(memory)).toEqual(before);
  });

  it.each(['applications/', 'changes/', 'apps/desktop/catalog/', 'apps/desktop/releases/'])(
    'no right to write %s: cannot publish, and the rest is checked',
    async (prefix) => {
      const { deps } = await published();
      const store = refusing(deps.store, 'create', prefix);
      const checks = await diagnose({ ...deps, store });
      const find = (wanted: string) => checks.find(({ name }) => name === wanted);
      expect(find('right to publish')).toMatchObject({
        outcome: 'warning',
        detail: expect.stringContaining(`The store refused ${prefix}`),
        remedy: expect.stringContaining('docs/operations/s3-policies.md'),
      });
      expect(find('right to serve')).toMatchObject({ outcome: 'ok' });
    },
  );

  it('no right to write accounts: cannot serve, and privacy is not judged', async () => {
    const { deps } = await published();
    const privateStore = refusing(deps.store, 'create', 'accounts/');
    expect(await named({ ...deps, privateStore }, 'right to serve')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('The store refused accounts/probe-'),
    });
    expect(await named({ ...deps, privateStore }, 'private data')).toMatchObject({
      outcome: 'skipped',
    });
  });

  it('no right to delete files: cannot clean up, which most do not need', async () => {
    const { deps } = await published();
    const store = refusing(deps.store, 'delete', 'apps/');
    expect(await named({ ...deps, store }, 'right to clean up')).toMatchObject({
      outcome: 'skipped',
      detail: expect.stringContaining('slipway gc'),
    });
  });

  it.each(['catalog', 'releases'])('the CDN gives the documents below %s: failed', async (kind) => {
    const publicAddress = (key: string) => `https://cdn.test/${key}`;
    const statusOf = (url: string) => {
      if (!url.startsWith('https://cdn.test/')) return undefined;
      return url.includes(`/${kind}/`) ? 200 : url.includes('/artifacts/') ? 206 : 403;
    };
    const { deps } = await published({ publicAddress, statusOf });
    expect(await named(deps, 'public files')).toMatchObject({ outcome: 'failed' });
  });

  it('a store that ignores conditions: nothing is written again to find out', async () => {
    const { deps } = await published();
    const written: string[] = [];
    const create: ObjectStore['create'] = async (key, ...rest) => {
      written.push(key);
      return deps.store.create(key, ...rest);
    };
    const probe = () => Promise.reject(new AppError('store_nonconforming', 'It ignores them.'));
    const checks = await diagnose({ ...deps, store: { ...deps.store, create }, probe });
    const outcomes = Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
    expect(outcomes).toMatchObject({
      'conditional writes': 'failed',
      'right to publish': 'skipped',
      'right to clean up': 'skipped',
    });
    expect(written.filter((key) => !key.startsWith('probe/'))).toEqual([]);
  });

  it('credentials that cannot write to the releases: the rest is checked', async () => {
    const { deps } = await published();
    const probe = () => Promise.reject(new AppError('store_denied', 'Refused.'));
    const checks = await diagnose({ ...deps, probe });
    expect(checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  it('a store that keeps versions: nothing is deleted to find out', async () => {
    const { deps } = await published({ keepsVersions: true });
    expect(await named(deps, 'right to clean up')).toMatchObject({ outcome: 'skipped' });
  });

  it('a right to create without the right to delete leaves nothing behind', async () => {
    const { deps, memory } = await published();
    const before = await keysOf(memory);
    const privateStore = refusing(deps.store, 'delete', 'accounts/', 'usage/');
    expect(await named({ ...deps, privateStore }, 'right to serve')).toMatchObject({
      outcome: 'warning',
    });
    const left = (await keysOf(memory)).filter((line) => !before.includes(line));
    expect(left.filter((line) => /^(accounts|usage)/.test(line))).toEqual([]);
  });

  it('the right to write files is tried with a small file', async () => {
    const { deps } = await published();
    const store = refusing(deps.store, 'create', 'apps/desktop/artifacts/');
    expect(await named({ ...deps, store }, 'right to publish')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('/artifacts/'),
    });
  });

  it('without a release, nothing is written to find out', async () => {
    expect(await named(setUp().deps, 'right to publish')).toMatchObject({ outcome: 'skipped' });
  });

  describe('the CDN', () => {
    const publicAddress = (key: string) => `https://cdn.test/${key}`;
    it.each<[string, number, number, string]>([
      ['gives parts of files, and nothing else', 206, 403, 'ok'],
      ['gives whole files only', 200, 404, 'warning'],
      ['refuses files', 403, 403, 'failed'],
      ['does not answer', 0, 0, 'failed'],
      ['gives catalogs as well', 206, 200, 'failed'],
    ])('%s', async (_what, ofFile, ofCatalog, outcome) => {
      const statusOf = (url: string) => {
        if (!url.startsWith('https://cdn.test/')) return undefined;
        return url.includes('/artifacts/') ? ofFile : ofCatalog;
      };
      const { deps } = await published({ publicAddress, statusOf });
      const check = await named(deps, 'public files');
      expect(check).toMatchObject({ outcome });
      expect(check?.remedy === null).toBe(outcome === 'ok');
    });
  });
});

describe('diagnose: new visitors', () => {
  it('warns of a channel that had a release and gives none to them, but not of drafts', async () => {
    const { deps } = setUp();
    const directory = await makeTemporaryDirectory();
    try {
      const artifacts = [await makeArtifact(directory.path)];
      await publish(deps, { version: '1.0.0', artifacts, channel: 'internal', mode: 'draft' });
      expect(await named(deps, 'new visitors')).toMatchObject({ outcome: 'ok' });
      const rollout = { text: '5%', freezeWindows: [] };
      await publish(deps, { version: '1.1.0', artifacts, rollout });
      expect(await named(deps, 'new visitors')).toMatchObject({
        outcome: 'warning',
        detail: expect.stringMatching(/^desktop: No release is offered to everybody on stable: /),
        remedy: expect.stringContaining('slipway rollout VERSION --complete'),
      });
    } finally {
      await directory.remove();
    }
  });
});

describe('diagnose: saved catalogs', () => {
  it('warns when a service could not save them', async () => {
    const { deps } = setUp();
    const findSaveProblem = async () => '/data is on a read-only volume';
    expect(await named({ ...deps, findSaveProblem }, 'saved catalogs')).toMatchObject({
      outcome: 'warning',
      detail: expect.stringContaining('/data is on a read-only volume'),
      remedy: expect.stringContaining('DATA_DIR'),
    });
  });
});

describe('diagnose: settings', () => {
  it('names variables that look like misspelled settings', async () => {
    const { deps } = setUp();
    const misspelled = ['S3_BUKET is not a setting. Did you mean S3_BUCKET?'];
    expect(await named({ ...deps, misspelled }, 'settings')).toMatchObject({
      outcome: 'warning',
      detail: misspelled[0],
    });
  });
});

describe('diagnose: space', () => {
  it.each([
    [50e6, 'failed'],
    [1.5e9, 'warning'],
    [80e9, 'ok'],
  ])('%d free bytes are %s', async (free, outcome) => {
    const { deps } = setUp({ space: { free, total: 100e9 } });
    expect(await named(deps, 'space')).toMatchObject({ outcome });
  });
});
