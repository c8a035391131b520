import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountIdOf, createAccount } from '../../../src/features/accounts/accounts/account.ts';
import { eraseAccount } from '../../../src/features/accounts/erase-account.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createConformingStore } from '../../../src/store/conforming-store.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { contentOf, copyStores, problemsIn } from '../../support/copy-stores.ts';
import { createFaultyStore, type FaultPlan } from '../../support/faulty-store.ts';
import { listKeys } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

const clock = createFixedClock();
const randomness = createSeededRandomness(7);
const parts = (store: ObjectStore) => ({ store, clock, randomness, actor: 'test' });
const memory = () => createMemoryStore({ clock });
const APP = 'apps/desktop/';

async function release(store: ObjectStore, version: string, application = 'desktop') {
  const artifact = await makeArtifact(directory.path, { content: `program ${version}` });
  await publish(parts(store), { version, application, artifacts: [artifact] });
}

async function yank(store: ObjectStore, version: string) {
  const request = { application: 'desktop', version, channel: undefined, reason: 'bad' };
  await changeStatus(parts(store), 'yank', request);
}

const account = (store: ObjectStore, email: string, password = 'x') =>
  createAccount(parts(store), {
    provider: 'embedded',
    subject: email,
    email,
    emailVerified: true,
    name: null,
    providerTier: null,
    password,
  });

/** A release with an update document that its publisher signed. */
async function releaseSigned(store: ObjectStore, version: string) {
  const bytes = Buffer.from(`version: ${version}`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const name = 'latest.yml';
  const document = { path: `/build/${name}`, name, bytes, size: bytes.length, sha256 };
  const signed = [{ ...document, stagingPercentage: null, lists: [], elsewhere: [] }];
  const artifacts = [await makeArtifact(directory.path, { content: `program ${version}` })];
  await publish(parts(store), { version, artifacts, signed });
}

/**
 * A store with two applications, three releases, a signed document, accounts and an end marker.
 *
 * @returns its content after the first release
 */
async function fill(store: ObjectStore): Promise<Readonly<Record<string, string>>> {
  await release(store, '1.0.0');
  const early = await contentOf(store);
  await releaseSigned(store, '1.1.0');
  await release(store, '2.0.0', 'editor');
  await account(store, 'ada@example.com');
  await account(store, 'bob@example.com');
  await eraseAccount(parts(store), accountIdOf('embedded', 'bob@example.com'));
  return early;
}

let source: ObjectStore;
let early: Readonly<Record<string, string>>;
beforeEach(async () => {
  source = memory();
  early = await fill(source);
});

describe('a copy', () => {
  it('holds what the source holds, and what came since then after the next run', async () => {
    const to = memory();
    const first = await copyStores({ from: source, to, clock });
    expect(first).toMatchObject({ problems: [], extra: [], gone: [], unnamed: [], unchanged: 0 });
    expect(await contentOf(to)).toEqual(await contentOf(source));
    expect(await problemsIn(to)).toEqual([]);

    await release(source, '1.2.0');
    await yank(source, '1.0.0');
    const second = await copyStores({ from: source, to, clock });
    expect(second.unchanged).toBe(first.written.length);
    expect(second.written.map(({ kind }) => kind)).toEqual([
      ...['artifact', 'manifest', 'revision', 'revision', 'hint', 'hint'],
    ]);
    expect(await contentOf(to)).toEqual(await contentOf(source));
  });

  it('reads nothing of what is there, except the newest revisions and what they offer', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    const from = createFaultyStore(source);
    const target = createFaultyStore(to);
    const { written } = await copyStores({ from, to: target, clock });
    expect(written).toEqual([]);
    // Two revisions and three manifests. Equal ETags of the memory store prove the rest.
    expect([from.counts.get, from.counts.read, target.counts.get]).toEqual([5, 0, 0]);
    expect(target.counts.list).toBe(1);
  });

  it('of a private bucket has no releases, and goes on as well', async () => {
    const own = memory();
    const to = memory();
    await account(own, 'ada@example.com');
    await copyStores({ from: own, to, clock });
    await account(own, 'eve@example.com');
    const second = await copyStores({ from: own, to, clock });
    expect([second.hasReleases, second.unchanged, second.written.length]).toEqual([false, 1, 1]);
    expect(await contentOf(to)).toEqual(await contentOf(own));
  });

  it('does not write in a dry run', async () => {
    const to = createFaultyStore(memory());
    const { missing, written } = await copyStores({ from: source, to, clock }, { isDryRun: true });
    expect(written).toEqual([]);
    expect(missing.length).toBe(Object.keys(await contentOf(source)).length);
    expect([to.counts.create, to.counts.upload]).toEqual([0, 0]);
  });

  it('is consistent while a publisher goes on', async () => {
    const to = memory();
    const from = createFaultyStore(source);
    let minor = 2;
    // Between any two requests of the copy, a publisher completes a release.
    from.setPlan(async ({ number, method }) => {
      if (method === 'list' || number % 7 === 0) await release(source, `1.${minor++}.0`);
      return undefined;
    });
    await copyStores({ from, to, clock });
    from.setPlan(undefined);
    expect(minor).toBeGreaterThan(6);
    expect(await problemsIn(to)).toEqual([]);
    const revisions = await listKeys(to, `${APP}catalog/`);
    expect(revisions.length).toBeLessThan((await listKeys(source, `${APP}catalog/`)).length);
    await copyStores({ from: source, to, clock });
    expect(await contentOf(to)).toEqual(await contentOf(source));
  });
});

describe('a copy that is killed', () => {
  /** Every write from the n-th on fails, as if the process was killed: before it, or just after it. */
  const killAt = (n: number, when: 'before' | 'after'): FaultPlan => {
    let writes = 0;
    return ({ method }) => {
      if (method !== 'create' && method !== 'upload') return undefined;
      writes += 1;
      if (writes < n) return undefined;
      return { when: writes === n ? when : 'before', code: 'store_denied', reason: 'killed' };
    };
  };

  it.each(['before', 'after'] as const)(
    '%s any write leaves nothing that names what is missing, and the next run completes it',
    async (when) => {
      for (const begun of [{}, early]) {
        for (let n = 1; ; n++) {
          const inner = memory();
          for (const [key, text] of Object.entries(begun)) {
            await inner.create(key, Buffer.from(text, 'latin1'));
          }
          const to = createFaultyStore(inner, killAt(n, when));
          const outcome = await copyStores({ from: source, to, clock }).then(
            () => 'completed',
            (error: Error) => error.message,
          );
          expect(await problemsIn(inner), `killed ${when} write ${n}`).toEqual([]);
          expect(await gapsIn(inner), `killed ${when} write ${n}`).toEqual([]);
          if (outcome === 'completed') {
            expect(n).toBeGreaterThan(8);
            break;
          }
          expect(outcome).toMatch(/killed.* They stay: run the same command again/);
          await copyStores({ from: source, to: inner, clock });
          expect(await contentOf(inner)).toEqual(await contentOf(source));
        }
      }
    },
  );
});

/** Numbers that are missing below a higher one. */
async function gapsIn(store: ObjectStore): Promise<readonly string[]> {
  const gaps: string[] = [];
  const last = new Map<string, number>();
  for (const key of await listKeys(store)) {
    const [, name, digits] = /^(apps\/.*\/|applications\/|changes\/)(\d+)\.json$/.exec(key) ?? [];
    if (name === undefined) continue;
    if (Number(digits) !== (last.get(name) ?? 0) + 1) gaps.push(key);
    last.set(name, Number(digits));
  }
  return gaps;
}

describe('what is corrupt in the source', () => {
  const replace = async (store: ObjectStore, key: string, bytes: Uint8Array) => {
    await store.delete(key);
    await store.create(key, bytes);
  };

  it.each([
    ['a file', `${APP}artifacts/`, 1],
    ['a manifest', `${APP}releases/1.0.0/manifest/`, 1],
    ['a signed document', `${APP}releases/1.1.0/carried/`, 1],
    ['the newest revision', `${APP}catalog/0000000002`, 1],
    ['an account', 'accounts/', 1],
  ])('%s is named and left out, and the rest is copied', async (_what, prefix, count) => {
    const all = await listKeys(source, prefix);
    const key = all.find((each) => !each.endsWith('end.json')) ?? '';
    const body = Buffer.from((await source.get(key))?.body ?? []);
    body.writeUInt8(body.readUInt8(body.length >> 1) ^ 1, body.length >> 1);
    await replace(source, key, body);
    const to = memory();
    const { problems, written } = await copyStores({ from: source, to, clock });
    expect(problems.map((problem) => problem.key)).toEqual([key]);
    expect(problems[0]?.detail).toMatch(/It is corrupt in the source, and was not copied\./);
    expect(await listKeys(to, key)).toEqual([]);
    expect(written.length).toBe((await listKeys(source)).length - count);
  });

  it('a document under the key of another one is left out', async () => {
    const key = `${APP}releases/1.0.0/manifest/1.json`;
    const other = await source.get(`${APP}releases/1.1.0/manifest/1.json`);
    await replace(source, key, other?.body ?? new Uint8Array());
    const { problems } = await copyStores({ from: source, to: memory(), clock });
    expect(problems).toEqual([{ key, detail: expect.stringContaining('says version "1.1.0"') }]);
  });

  it('a corrupt revision that an operator allowed to step over is copied as it is', async () => {
    const key = `${APP}catalog/0000000002.json`;
    await replace(source, key, Buffer.from('rotten'));
    const request = { application: 'desktop', version: '1.0.0', channel: undefined, reason: null };
    await changeStatus({ ...parts(source), skipCorrupt: [2] }, 'yank', request);
    const to = memory();
    expect((await copyStores({ from: source, to, clock })).problems).toEqual([]);
    expect(await contentOf(to)).toEqual(await contentOf(source));
    const again = await copyStores({ from: source, to, clock }, { deep: true });
    expect([again.problems, again.written]).toEqual([[], []]);
  });

  it('a document of a newer Slipway ends the copy', async () => {
    const key = `${APP}catalog/0000000003.json`;
    const { renderEnvelope } = await import('../../../src/store/sequence/envelope.ts');
    const signed = { schema_version: 3, application: 'desktop', revision: 3 };
    await source.create(key, renderEnvelope(signed));
    const to = memory();
    const copying = copyStores({ from: source, to, clock });
    await expect(copying).rejects.toMatchObject({ code: 'document_newer' });
    expect(await listKeys(to, 'applications/')).toEqual([]);
  });

  it('what rotted later is found with deep, on the side where it rotted', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    const [file = ''] = await listKeys(source, `${APP}artifacts/`);
    const size = (await source.head(file))?.size ?? 0;
    const manifest = `${APP}releases/1.0.0/manifest/1.json`;
    // The same size, and an ETag that tells nothing, as in a directory.
    const rotten = (store: ObjectStore): ObjectStore => ({
      ...store,
      async *list(...call) {
        for await (const info of store.list(...call)) yield { ...info, etag: '"1-2"' };
      },
      get: async (...call) => {
        const object = await store.get(...call);
        return object && { ...object, etag: '"1-2"' };
      },
    });
    await replace(to, file, Buffer.alloc(size));
    const text = Buffer.from((await source.get(manifest))?.body ?? []).toString();
    await replace(source, manifest, Buffer.from(text.replace('1.0.0', '1.0.1')));
    const sides = { from: rotten(source), to: rotten(to), clock };
    expect((await copyStores(sides)).problems).toEqual([]);
    const { problems } = await copyStores(sides, { deep: true });
    expect(problems.map(({ detail }) => detail).sort()).toEqual([
      expect.stringContaining(
        `${file} is corrupt in the target, and sound in the source. Delete it`,
      ),
      expect.stringContaining(
        `${manifest} is corrupt in the source, and sound in the target. Copy`,
      ),
    ]);
  });
});

describe('what the source has lost', () => {
  const without = async (prefix: string) => {
    const keys = await listKeys(source, prefix);
    expect(keys).not.toEqual([]);
    for (const key of keys) await source.delete(key);
    return keys;
  };
  const first = async (prefix: string) => (await listKeys(source, prefix))[0] ?? '';
  const signed = `${APP}releases/1.1.0/carried/`;

  it.each([
    ['the file of an offer', () => first('apps/editor/artifacts/'), 'the manifest of editor 2.0.0'],
    ['a signed document', () => first(signed), 'the manifest of desktop 1.1.0'],
    ['the manifest of an offer', () => first('apps/editor/releases/'), 'the catalog of editor'],
    ['a revision', async () => `${APP}catalog/0000000001.json`, 'Slipway never deletes'],
    ['a hint', async () => 'changes/2.json', 'Slipway never deletes'],
    ['a list of applications', async () => 'applications/1.json', 'Slipway never deletes'],
  ])('is named at every run, and in a dry run: %s', async (_what, keyOf, why) => {
    const [key] = await without(await keyOf());
    const to = memory();
    const expected = [
      { key, detail: expect.stringMatching(new RegExp(`missing in the source.*${why}`)) },
    ];
    const dry = await copyStores({ from: source, to, clock }, { isDryRun: true });
    expect(dry.problems).toEqual(expected);
    const { problems } = await copyStores({ from: source, to, clock });
    expect(problems).toEqual(expected);
    expect(problems[0]?.detail).toMatch(/Restore it from another backup\.$/);
    expect((await copyStores({ from: source, to, clock })).problems).toEqual(expected);
  });

  it('is named once for many numbers', async () => {
    await source.create('changes/999999999999999.json', Buffer.from('x'));
    const { problems } = await copyStores(
      { from: source, to: memory(), clock },
      { isDryRun: true },
    );
    expect(problems).toEqual([
      { key: 'changes/4.json', detail: expect.stringMatching(/and the 999999999999994 after it/) },
    ]);
  });

  it('all lists of applications', async () => {
    await without('applications/');
    const { problems } = await copyStores({ from: source, to: memory(), clock });
    expect(problems).toEqual([
      { key: 'applications/1.json', detail: expect.stringContaining('no list of applications') },
    ]);
  });

  it('is found among what only the target has, also without prune', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    // No channel offers the release any more, and its files stay.
    const retire = { application: 'editor', version: '2.0.0', channel: undefined, reason: null };
    await changeStatus(parts(source), 'retire', retire);
    const [file] = await without('apps/editor/artifacts/');
    const { problems, extra } = await copyStores({ from: source, to, clock });
    expect(problems).toEqual([
      { key: file, detail: expect.stringContaining('the target still has it: copy it back') },
    ]);
    expect(extra.map(({ key }) => key)).toEqual([file]);
  });

  it('is not what a publisher stores while the listing runs', async () => {
    const late: ObjectStore = {
      ...source,
      async *list(prefix, ...rest) {
        for await (const info of source.list(prefix, ...rest)) {
          if (info.key !== 'changes/2.json') yield info;
        }
      },
    };
    const to = memory();
    expect((await copyStores({ from: late, to, clock })).problems).toEqual([]);
    expect(await contentOf(to)).toEqual(await contentOf(source));
  });
});

describe('a target that is refused before anything is written', () => {
  const refusal = async (to: ObjectStore, from = source) => {
    const target = createFaultyStore(to);
    const before = await contentOf(to);
    const failed = await copyStores({ from, to: target, clock }).catch((error: unknown) => error);
    expect(await contentOf(to)).toEqual(before);
    expect([target.counts.create, target.counts.upload]).toEqual([0, 0]);
    return failed;
  };

  it('another store', async () => {
    const other = memory();
    await fill(other);
    expect(await refusal(other)).toMatchObject({
      code: 'store_differs',
      message: expect.stringMatching(
        /^the target is a different store from the source: both have /,
      ),
    });
  });

  it('a later state, over which an older backup would be restored', async () => {
    const backup = memory();
    await copyStores({ from: source, to: backup, clock });
    await release(source, '1.2.0');
    expect(await refusal(source, backup)).toMatchObject({
      code: 'store_differs',
      message: expect.stringMatching(/later state.*older state cannot be restored/),
    });
  });

  it('a copy that was changed itself', async () => {
    const copy = memory();
    await copyStores({ from: source, to: copy, clock });
    await release(copy, '1.2.0');
    await release(source, '1.2.0');
    await release(source, '1.3.0');
    expect(await refusal(copy)).toMatchObject({
      code: 'store_differs',
      message: expect.stringContaining('began as one store, and both were changed since then'),
    });
  });

  it('objects of something else; releases for private data; private data for releases', async () => {
    const photos = memory();
    await photos.create('photos/1.jpg', Buffer.from('x'));
    expect(await refusal(photos)).toMatchObject({
      message: expect.stringContaining('photos/1.jpg'),
    });
    const own = memory();
    await account(own, 'eve@example.com');
    const releases = memory();
    await release(releases, '1.0.0');
    expect(await refusal(releases, own)).toMatchObject({
      message: expect.stringMatching(/has releases, and the source has only private data/),
    });
    expect(await refusal(own, releases)).toMatchObject({
      message: expect.stringMatching(/has only private data, and the source has none/),
    });
    const strangers = memory();
    await account(strangers, 'mallory@example.com');
    expect(await refusal(strangers, own)).toMatchObject({
      message: expect.stringContaining('has nothing in common with the source'),
    });
  });

  /** As in a directory: the tags tell nothing. */
  const untagged = (store: ObjectStore): ObjectStore => ({
    ...store,
    async *list(...call) {
      for await (const info of store.list(...call)) yield { ...info, etag: '"1-2"' };
    },
  });
  /** Copies to a new target, and ends before the first object below the prefix. */
  const interrupted = async (from: ObjectStore, prefix: string, to = memory()) => {
    const target = createFaultyStore(to);
    target.setPlan(({ key, method }) =>
      method === 'create' && key.startsWith(prefix)
        ? { when: 'before', code: 'store_denied' }
        : undefined,
    );
    await expect(copyStores({ from, to: target, clock })).rejects.toMatchObject({
      code: 'store_denied',
    });
    return to;
  };
  const differs = {
    code: 'store_differs',
    message: expect.stringContaining('with different contents'),
  };

  it('an interrupted copy of another store with the same files', async () => {
    const staging = memory();
    const production = memory();
    for (const store of [staging, production]) await release(store, '1.0.0');
    for (const prefix of [`${APP}catalog/`, 'changes/']) {
      const killed = await interrupted(untagged(staging), prefix);
      expect(await refusal(untagged(killed), untagged(production))).toMatchObject(differs);
      await copyStores({ from: untagged(staging), to: untagged(killed), clock });
      expect(await contentOf(killed)).toEqual(await contentOf(staging));
    }
  });

  it('an interrupted copy of another store with the same signed document', async () => {
    const staging = memory();
    const production = memory();
    for (const store of [staging, production]) await releaseSigned(store, '1.0.0');
    const killed = await interrupted(untagged(staging), `${APP}releases/1.0.0/manifest/`);
    const [key = ''] = await listKeys(production, `${APP}releases/1.0.0/carried/`);
    await production.delete(key);
    await production.create(key, Buffer.from('version: 1.0.1'));
    expect(await refusal(untagged(killed), untagged(production))).toMatchObject(differs);
  });

  it('an interrupted copy of a store that began as the same one', async () => {
    const target = memory();
    await copyStores({ from: source, to: target, clock });
    const other = memory();
    for (const [key, text] of Object.entries(await contentOf(source))) {
      await other.create(key, Buffer.from(text, 'latin1'));
    }
    clock.advance(60_000);
    for (const store of [source, other]) await release(store, '1.2.0');
    const prefix = `${APP}catalog/`;
    await interrupted(untagged(source), prefix, target);
    expect(await refusal(untagged(target), untagged(other))).toMatchObject(differs);
  });

  it('the private data of another store, with the same addresses', async () => {
    const staging = memory();
    const production = memory();
    for (const store of [staging, production]) await account(store, 'eve@example.com');
    clock.advance(3_600_000);
    const to = memory();
    await copyStores({ from: staging, to, clock });
    expect(await refusal(untagged(to), untagged(production))).toMatchObject(differs);
    // As if the account had been created again: no other account proves that it is the same store.
    clock.advance(3_600_000);
    const later = memory();
    await account(later, 'eve@example.com');
    expect(await refusal(untagged(to), untagged(later))).toMatchObject(differs);
  });

  it('a target that does not honor conditional writes', async () => {
    const inner = memory();
    const overwriting: ObjectStore = {
      ...inner,
      create: async (key, ...rest) => {
        await inner.delete(key);
        return inner.create(key, ...rest);
      },
    };
    const to = createConformingStore({ store: overwriting, clock, randomness });
    const copying = copyStores({ from: source, to, clock });
    await expect(copying).rejects.toMatchObject({ code: 'store_nonconforming' });
    expect(await contentOf(inner)).toEqual({});
  });

  it('an empty source', async () => {
    expect(await refusal(memory(), memory())).toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/^There is no store in the source/),
    });
  });
});

describe('what the source has erased', () => {
  const ada = 'ada@example.com';
  const id = accountIdOf('embedded', ada);
  const later = (ms: number) => clock.advance(ms);

  /** Erased, and the marker of the end was removed, as the clean-up does. */
  const erase = async (store: ObjectStore) => {
    await eraseAccount(parts(store), id);
    for (const key of await listKeys(store)) if (key.includes(`/${id}/`)) await store.delete(key);
  };

  it('is counted, and deleted with prune, but no file that a manifest names', async () => {
    const to = memory();
    const unused = `${APP}artifacts/${'a'.repeat(64)}/old.exe`;
    const rest = await contentOf(source);
    await copyStores({ from: source, to, clock });
    await to.create(unused, Buffer.from('x'));
    await erase(source);
    const counted = await copyStores({ from: source, to, clock });
    expect(counted.extra.map(({ key }) => key)).toEqual([`accounts/${id}/1.json`, unused]);
    expect(counted.problems).toEqual([]);

    const [file = ''] = await listKeys(source, `${APP}artifacts/`);
    await source.delete(file);
    const { pruned, problems, extra } = await copyStores(
      { from: source, to, clock },
      { prune: true },
    );
    expect(pruned.map(({ key }) => key).sort()).toEqual([`accounts/${id}/1.json`, unused]);
    expect(problems).toEqual([{ key: file, detail: expect.stringContaining('copy it back') }]);
    expect(extra.map(({ key }) => key)).toEqual([file]);
    const { [`accounts/${id}/1.json`]: _erased, ...left } = rest;
    expect(await contentOf(to)).toEqual(left);
  });

  it('is ended at the target at once, while the end marker is there', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    await eraseAccount(parts(source), id);
    await copyStores({ from: source, to, clock });
    expect(await listKeys(to, `accounts/${id}/`)).toEqual([
      `accounts/${id}/1.json`,
      `accounts/${id}/end.json`,
    ]);
    await copyStores({ from: source, to, clock }, { prune: true });
    expect(await listKeys(to, `accounts/${id}/`)).toEqual([`accounts/${id}/end.json`]);
  });

  it('and that registered again is reported, and replaced with prune', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    await erase(source);
    later(3_600_000);
    await account(source, ada, 'y');
    const key = `accounts/${id}/1.json`;
    const before = (await contentOf(to))[key];
    const told = await copyStores({ from: source, to, clock });
    expect(told.problems).toEqual([
      { key: `accounts/${id}/`, detail: expect.stringContaining('Add --prune') },
    ]);
    expect((await contentOf(to))[key]).toBe(before);
    const { problems } = await copyStores({ from: source, to, clock }, { prune: true });
    expect(problems).toEqual([]);
    expect(await contentOf(to)).toEqual(await contentOf(source));
  });

  it('is named when an older copy brings it back', async () => {
    const backup = memory();
    const first = await copyStores({ from: source, to: backup, clock });
    await erase(source);
    await account(source, 'carol@example.com');
    const dry = await copyStores({ from: backup, to: source, clock }, { isDryRun: true });
    const restored = await copyStores({ from: backup, to: source, clock });
    for (const { maybeErased, problems } of [dry, restored]) {
      expect(maybeErased.map(({ key }) => key)).toEqual([`accounts/${id}/1.json`]);
      expect(problems).toEqual([]);
    }
    expect(first.maybeErased).toEqual([]);
  });

  it('stays when something is corrupt, or when the source has no private data at all', async () => {
    const to = memory();
    await copyStores({ from: source, to, clock });
    const bare = memory();
    for (const [key, text] of Object.entries(await contentOf(source))) {
      if (!key.startsWith('accounts/') && !key.endsWith('end.json'))
        await bare.create(key, Buffer.from(text, 'latin1'));
    }
    const kept = await copyStores({ from: bare, to, clock }, { prune: true });
    expect([kept.pruned, kept.hasPrivate]).toEqual([[], false]);
    const manifest = `${APP}releases/1.0.0/manifest/1.json`;
    await source.delete(manifest);
    await source.create(manifest, Buffer.from('rotten'));
    await erase(source);
    const held = await copyStores({ from: source, to, clock }, { prune: true });
    expect([held.pruned, held.isPruneHeld]).toEqual([[], true]);
  });
});

describe('a store that fails', () => {
  it('for a moment is asked again', async () => {
    for (const [from, to] of [
      [createFaultyStore(source), createFaultyStore(memory())],
      [createFaultyStore(source), createFaultyStore(memory())],
    ] as const) {
      from.setPlan(({ number, method }) =>
        method !== 'list' && number % 5 === 0 ? { when: 'before', reason: '503' } : undefined,
      );
      to.setPlan(({ number, method }) =>
        method !== 'list' && number % 4 === 0 ? { when: 'after', reason: 'reset' } : undefined,
      );
      expect((await copyStores({ from, to, clock })).problems).toEqual([]);
      from.setPlan(undefined);
      to.setPlan(undefined);
      expect(await contentOf(to)).toEqual(await contentOf(source));
    }
  });

  it.each(['store_full', 'store_denied', 'store_unavailable'] as const)(
    'with %s: says how far it came',
    async (code) => {
      const to = createFaultyStore(memory());
      to.setPlan(({ key, method }) =>
        method === 'create' && key.startsWith(`${APP}catalog/`)
          ? { when: 'before', code }
          : undefined,
      );
      const copying = copyStores({ from: source, to, clock });
      await expect(copying).rejects.toMatchObject({
        code,
        message: expect.stringMatching(
          /Before that, \d+ of \d+ objects were copied\. They stay: run/,
        ),
      });
      to.setPlan(undefined);
      // A hint must not announce a revision that the target lacks.
      expect(await listKeys(to, 'changes/')).toEqual([]);
    },
  );
});
