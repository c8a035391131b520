import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  artifactKey,
  artifactObject,
  artifactsPrefix,
  manifestKey,
} from '../../../src/catalog/documents/keys.ts';
import { isAppError } from '../../../src/core/errors.ts';
import { systemClock, systemRandomness } from '../../../src/core/system.ts';
import { hashFile } from '../../../src/releases/files/hash-file.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { collectGarbage } from '../../../src/releases/verify/collect-garbage.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createDryRunStore } from '../../../src/store/dry-run-store.ts';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { pathOf } from '../../../src/store/filesystem/names.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { observe } from '../../reliability/observer.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failFrom } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';

const SEED = 3_141_592;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const everything = { application: undefined };
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

const first = await makeArtifact(temporary.path, { filename: 'First.exe', content: 'first' });
const second = await makeArtifact(temporary.path, { filename: 'Second.exe', content: 'second' });
const requests = {
  first: { version: '1.0.0', artifacts: [first] },
  second: { version: '2.0.0', artifacts: [second] },
};

/** An application with a release and the upload of another, whose publisher was killed. */
async function setUp(seed = SEED) {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const store = createFaultyStore(memory);
  const parts = { store, clock, randomness: createSeededRandomness(seed) };
  await publish(parts, requests.first);
  store.setPlan(({ method, key }) =>
    method === 'create' && key.includes('/manifest/') ? { when: 'before' } : undefined,
  );
  await publish(parts, requests.second).catch(() => undefined);
  store.setPlan(undefined);
  store.forgetCalls();
  const gc = () => collectGarbage({ ...parts, store: memory }, everything);
  return { ...parts, memory, gc };
}

async function artifactsIn(store: ObjectStore): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(artifactsPrefix('desktop'))) keys.push(key);
  return keys;
}

describe('gc during a publish that reuses an old upload', () => {
  it('never removes an upload that a commit names, at any age and at any moment', async () => {
    const randomness = createSeededRandomness(SEED);
    const runs = rounds(30, 120);
    let removed = 0;
    for (let run = 0; run < runs; run++) {
      const { store, clock, gc, ...parts } = await setUp(run);
      // Most ages about a limit: a day for reuse, a week for gc.
      const days = [0, 1, 7][Math.floor(randomness.fraction() * 3)] ?? 0;
      const age = Math.max(0, days * DAY_MS + (randomness.fraction() - 0.5) * 4 * HOUR_MS);
      clock.advance(age);
      const step = 1 + Math.floor(randomness.fraction() * 30);
      const pause = randomness.fraction() < 0.5 ? 0 : randomness.fraction() * 9 * DAY_MS;
      const repeat = `seed ${SEED}, run ${run}: upload ${age / HOUR_MS} h old, gc at step ${step} after ${pause / HOUR_MS} h`;
      store.setPlan(async ({ number, method, key }) => {
        // The machine sleeps here and gc runs meanwhile; a request already sent does not take days.
        const isCommit = method === 'create' && key.includes('/manifest/');
        if (number !== step) return undefined;
        if (!isCommit) clock.advance(pause);
        for (const { objects } of (await gc()).results) removed += objects.length;
        return undefined;
      });
      const publisher = { ...parts, store, clock };
      await publish(publisher, requests.second).catch((error) => {
        if (!isAppError(error, 'store_unavailable')) throw error;
      });
      store.setPlan(undefined);
      expect((await observe(store, 'desktop', clock.now)).torn, repeat).toEqual([]);
      clock.advance(8 * DAY_MS);
      await gc();
      expect((await observe(store, 'desktop', clock.now)).torn, repeat).toEqual([]);
      await publish(publisher, requests.second);
      const completed = await observe(store, 'desktop', clock.now);
      expect(completed.torn, repeat).toEqual([]);
      expect([...completed.offers.keys()].sort()).toEqual(['stable 1.0.0', 'stable 2.0.0']);
    }
    console.log(
      `gc beside publishes: ${runs} seeded interleavings, ${removed} unnamed objects removed, 0 commits named a removed one`,
    );
  });

  it('does not remove an object that was uploaded again after another gc removed it', async () => {
    const { store, clock, memory, gc, ...parts } = await setUp();
    clock.advance(8 * DAY_MS);
    let isPaused = true;
    const slow = createFaultyStore(memory, async ({ method, key }) => {
      if (isPaused && method !== 'list' && key.includes('/artifacts/')) {
        isPaused = false;
        await gc();
        await publish({ ...parts, store, clock }, requests.second);
      }
      return undefined;
    });
    await collectGarbage({ ...parts, store: slow, clock }, everything);
    expect((await observe(store, 'desktop', clock.now)).torn).toEqual([]);
  });
});

describe('gc', () => {
  it('removes an upload after a week', async () => {
    const { clock, memory, gc } = await setUp();
    // Giving up on the interrupted publish took a minute.
    clock.advance(7 * DAY_MS - HOUR_MS);
    expect((await gc()).results).toMatchObject([{ objects: [], bytes: 0 }]);
    clock.advance(HOUR_MS);
    expect((await gc()).results).toMatchObject([
      { application: 'desktop', objects: [{ size: second.size }], bytes: second.size },
    ]);
    expect(await artifactsIn(memory)).toEqual([expect.stringContaining('First.exe')]);
  });

  it('keeps the files of a draft, and removes those of a discarded one after a week', async () => {
    const { clock, memory, gc, ...rest } = await setUp();
    const parts = { ...rest, store: memory, clock };
    const held = { mode: 'draft', version: '3.0.0' } as const;
    await publish(parts, { ...held, artifacts: [second] });
    clock.advance(30 * DAY_MS);
    expect((await gc()).results).toMatchObject([{ objects: [] }]);
    const request = { application: 'desktop', version: '3.0.0', channel: undefined, reason: null };
    await changeStatus({ ...parts, actor: 'test' }, 'retire', request);
    clock.advance(6 * DAY_MS);
    // A publisher that began before the draft was discarded may still use the file.
    expect((await gc()).results).toMatchObject([{ objects: [] }]);
    // The same file again: it is in use, under the key of a new upload.
    await publish(parts, { ...held, artifacts: [second] });
    clock.advance(2 * DAY_MS);
    expect((await gc()).results).toMatchObject([{ bytes: second.size }]);
    await openDraft(
      { ...parts, actor: 'test' },
      { application: 'desktop', channel: 'stable', version: '3.0.0', allowPrerelease: false },
    );
    const { offers, torn } = await observe(memory, 'desktop', clock.now);
    expect([[...offers.keys()].sort(), torn]).toEqual([['stable 1.0.0', 'stable 3.0.0'], []]);
  });

  it('lists the files to remove in a dry run, and removes nothing', async () => {
    const { clock, memory, ...parts } = await setUp();
    clock.advance(8 * DAY_MS);
    const store = createDryRunStore({ store: memory, clock });
    const { results } = await collectGarbage(
      { ...parts, store, clock },
      { application: 'desktop' },
    );
    expect(results).toMatchObject([{ bytes: second.size }]);
    expect(await artifactsIn(memory)).toHaveLength(2);
  });

  it('removes nothing of an application with a corrupt manifest', async () => {
    const newer = JSON.stringify({ signed: { schema_version: 2 }, digest: '', signatures: [] });
    for (const body of ['', '{"signed":', newer]) {
      const { clock, memory, gc } = await setUp();
      await memory.create(manifestKey('desktop', '3.0.0', 1), Buffer.from(body));
      clock.advance(8 * DAY_MS);
      expect((await gc()).results).toMatchObject([
        { objects: [], refusal: expect.stringContaining('none of desktop is deleted') },
      ]);
      expect(await artifactsIn(memory)).toHaveLength(2);
    }
  });

  it('removes nothing when the manifest of an offered release is missing, and continues with the next application', async () => {
    const { clock, memory, gc, ...parts } = await setUp();
    await publish({ ...parts, store: memory, clock }, { ...requests.first, application: 'other' });
    const orphan = artifactKey('other', artifactObject('0'.repeat(64), 'orphan.exe'));
    await memory.create(orphan, Buffer.from('x'));
    await memory.delete(manifestKey('desktop', '1.0.0', 1));
    clock.advance(8 * DAY_MS);
    const { results } = await gc();
    expect(results).toMatchObject([
      { application: 'desktop', objects: [], refusal: expect.stringContaining('is missing') },
      { application: 'other', objects: [{ key: orphan }], refusal: undefined },
    ]);
    expect(await artifactsIn(memory)).toHaveLength(2);
  });

  it('keeps an object that a manifest names although the listing lacks it', async () => {
    const { clock, memory, ...parts } = await setUp();
    clock.advance(8 * DAY_MS);
    const store: ObjectStore = {
      ...memory,
      async *list(prefix, options) {
        for await (const info of memory.list(prefix, options)) {
          if (!info.key.includes('/manifest/')) yield info;
        }
      },
    };
    await collectGarbage({ ...parts, store, clock }, everything);
    expect(await artifactsIn(memory)).toEqual([expect.stringContaining('First.exe')]);
  });

  it('uses the clock of the store, even if the clock of the machine is wrong', async () => {
    const { clock, memory, ...parts } = await setUp();
    const removed: Date[] = [];
    const store: ObjectStore = {
      ...memory,
      removeAbandonedUploads: async (before) => {
        removed.push(before);
        return 0;
      },
    };
    const now = clock.now();
    for (const ahead of [400 * DAY_MS, -400 * DAY_MS]) {
      const wrong = { ...clock, now: () => clock.now() + ahead };
      await collectGarbage({ ...parts, store, clock: wrong }, everything);
    }
    expect(await artifactsIn(memory)).toHaveLength(2);
    for (const before of removed) expect(before).toEqual(new Date(now - 7 * DAY_MS));
  });

  it('fails and removes nothing more when the store fails', async () => {
    const { clock, memory, store, ...parts } = await setUp();
    clock.advance(8 * DAY_MS);
    for (let step = 1; step <= 8; step++) {
      store.setPlan(failFrom(step, 'before'));
      await expect(collectGarbage({ ...parts, store, clock }, everything)).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      expect(await artifactsIn(memory)).toHaveLength(2);
    }
  });
});

describe('gc on a directory', () => {
  it('removes old unnamed and unfinished files, and no others', async () => {
    const directory = path.join(temporary.path, 'objects');
    const signUrl = () => {
      throw new Error('not used');
    };
    const store = await openFilesystemStore({ directory, signUrl });
    const parts = { store, clock: systemClock, randomness: systemRandomness };
    await publish(parts, requests.first);
    const put = async (file: string, ageMs: number) => {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, 'left behind');
      const time = new Date(Date.now() - ageMs);
      await utimes(file, time, time);
    };
    const orphan = (name: string) => artifactKey('desktop', artifactObject('0'.repeat(64), name));
    await put(pathOf(directory, orphan('old.exe')), 8 * DAY_MS);
    await put(pathOf(directory, orphan('young.exe')), 6 * DAY_MS);
    const unfinished = path.join(directory, 'apps/desktop/artifacts/.slipway-tmp-');
    await put(`${unfinished}old`, 8 * DAY_MS);
    await put(`${unfinished}young`, HOUR_MS);
    // Old, and named: never removed.
    const named = artifactKey(
      'desktop',
      artifactObject((await hashFile(first, () => {})).sha256, first.filename),
    );
    const time = new Date(Date.now() - 400 * DAY_MS);
    await utimes(pathOf(directory, named), time, time);

    const { results, abandonedUploads } = await collectGarbage(parts, everything);
    expect(results).toMatchObject([{ objects: [{ key: orphan('old.exe') }] }]);
    expect(abandonedUploads).toBe(1);
    expect(await artifactsIn(store)).toEqual([orphan('young.exe'), named]);
    expect(await readdir(path.join(directory, 'apps/desktop/artifacts'))).toContain(
      '.slipway-tmp-young',
    );
    expect((await observe(store, 'desktop')).torn).toEqual([]);
  });
});
