import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { appendDocument } from '../../../src/store/sequence/append.ts';
import {
  END_KEPT_MS_MIN,
  endKey,
  endSequence,
  eraseSequence,
  isEnded,
  removeEnded,
} from '../../../src/store/sequence/end.ts';
import { defineSequence, seal } from '../../../src/store/sequence/sealed.ts';
import { createUrlSigner } from '../../../src/store/signed-url.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failFrom } from '../../support/faulty-store.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const HOUR = 3_600_000;
const ENDING = { reason: 'done', keptMs: 2 * HOUR };
const PREFIX = 'things/one/';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const remove of cleanUp.splice(0)) await remove();
});

async function openDirectory(): Promise<ObjectStore> {
  const directory = await makeTemporaryDirectory();
  cleanUp.push(directory.remove);
  const { sign: signUrl } = createUrlSigner({ secret: 's'.repeat(32), baseUrl: () => 'http://h' });
  return openFilesystemStore({ directory: directory.path, signUrl });
}

const KINDS = ['memory', 'directory'] as const;

async function setUp(kind: (typeof KINDS)[number] = 'memory') {
  // A directory's files have the real time.
  const clock = createFixedClock(Date.now());
  const inner = kind === 'memory' ? createMemoryStore({ clock }) : await openDirectory();
  const store = createFaultyStore(inner);
  const put = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await store.create(key, Buffer.from(key));
  };
  const keys = async (): Promise<string[]> => {
    const found = [];
    for await (const { key } of store.list('')) found.push(key);
    return found;
  };
  return { store, clock, randomness: createSeededRandomness(1), put, keys };
}

const SIBLINGS = [
  'things/one-other/1.json',
  'things/on/1.json',
  'things/one.json',
  'things/onerous/end/1.json',
];

describe.each(KINDS)('a thing that has ended (%s)', (kind) => {
  it('has a marker, and ends once', async () => {
    const deps = await setUp(kind);
    expect(await isEnded(deps.store, PREFIX)).toBe(false);
    expect(await endSequence(deps, PREFIX, ENDING)).toBe(true);
    const first = await deps.store.get(endKey(PREFIX));
    deps.clock.advance(HOUR);
    expect(await endSequence(deps, PREFIX, { ...ENDING, reason: 'again' })).toBe(false);
    expect((await deps.store.get(endKey(PREFIX)))?.body).toEqual(first?.body);
    expect(await isEnded(deps.store, PREFIX)).toBe(true);
    expect(await isEnded(deps.store, 'things/one-other/')).toBe(false);
  });

  it('is ended by exactly one of 20 simultaneous calls', async () => {
    const deps = await setUp(kind);
    const ended = await Promise.all(
      Array.from({ length: 20 }, () => endSequence(deps, PREFIX, ENDING)),
    );
    expect(ended.filter(Boolean)).toHaveLength(1);
  });

  it('is erased except its marker, and its neighbors stay', async () => {
    const deps = await setUp(kind);
    await deps.put(...SIBLINGS, `${PREFIX}1.json`, `${PREFIX}2.json`, `${PREFIX}deep/er/3.json`);
    expect(await eraseSequence(deps, PREFIX, ENDING)).toBe(3);
    expect((await deps.keys()).sort()).toEqual([...SIBLINGS, endKey(PREFIX)].sort());
    expect(await eraseSequence(deps, PREFIX, ENDING)).toBe(0);
  });

  it('stays ended when a write arrives late, and that write is deleted', async () => {
    const deps = await setUp(kind);
    await deps.put(...SIBLINGS, `${PREFIX}1.json`);
    await eraseSequence(deps, PREFIX, ENDING);
    await deps.put(`${PREFIX}2.json`);
    expect(await isEnded(deps.store, PREFIX)).toBe(true);
    expect(await removeEnded(deps, 'things/')).toBe(1);
    expect((await deps.keys()).sort()).toEqual([...SIBLINGS, endKey(PREFIX)].sort());
  });

  it('keeps its marker for the given time, then leaves nothing', async () => {
    const deps = await setUp(kind);
    await deps.put(...SIBLINGS, `${PREFIX}1.json`);
    await endSequence(deps, PREFIX, ENDING);
    deps.clock.advance(ENDING.keptMs - 1);
    expect(await removeEnded(deps, 'things/')).toBe(1);
    expect(await isEnded(deps.store, PREFIX)).toBe(true);
    // A minute: the clock of a directory is not this test's.
    deps.clock.advance(60_000);
    expect(await removeEnded(deps, 'things/')).toBe(1);
    expect((await deps.keys()).sort()).toEqual([...SIBLINGS].sort());
    expect(await removeEnded(deps, 'things/')).toBe(0);
  });

  it('keeps its marker for at least an hour, for any given time', async () => {
    const deps = await setUp(kind);
    await endSequence(deps, PREFIX, { reason: 'done', keptMs: 0 });
    deps.clock.advance(END_KEPT_MS_MIN - 60_000);
    expect(await removeEnded(deps, 'things/', 0)).toBe(0);
    deps.clock.advance(120_000);
    expect(await removeEnded(deps, 'things/', 0)).toBe(1);
  });

  it('is deleted with everything else that ended below a root', async () => {
    const deps = await setUp(kind);
    for (const name of ['a', 'b', 'c']) {
      await deps.put(
        `things/${name}/x/1.json`,
        `things/${name}/x/2.json`,
        `things/${name}/y/1.json`,
      );
    }
    for (const name of ['a', 'c']) await endSequence(deps, `things/${name}/x/`, ENDING);
    deps.store.forgetCalls();
    expect(await removeEnded(deps, 'things/')).toBe(4);
    expect(deps.store.counts.list).toBe(2);
    expect(await deps.keys()).toEqual([
      'things/a/x/end.json',
      'things/a/y/1.json',
      'things/b/x/1.json',
      'things/b/x/2.json',
      'things/b/y/1.json',
      'things/c/x/end.json',
      'things/c/y/1.json',
    ]);
  });

  it.each([
    ['empty', ''],
    ['not JSON', '{"kept_until": "20'],
    ['null', 'null'],
    ['a list', '[]'],
    ['without its time', '{"type":"end"}'],
    ['with no time', '{"kept_until":"soon"}'],
    ['huge', ' '.repeat(10_000)],
  ])('keeps a corrupt marker (%s) forever, and cleans up the rest', async (_, bytes) => {
    const deps = await setUp(kind);
    await deps.store.create(endKey(PREFIX), Buffer.from(bytes));
    await deps.put(`${PREFIX}1.json`, 'things/two/1.json');
    await endSequence(deps, 'things/two/', ENDING);
    deps.clock.advance(400 * 24 * HOUR);
    expect(await removeEnded(deps, 'things/')).toBe(3);
    expect(await deps.keys()).toEqual([endKey(PREFIX)]);
    expect(await isEnded(deps.store, PREFIX)).toBe(true);
  });
});

describe('cleaning up', () => {
  it('takes one listing when nothing has ended', async () => {
    const deps = await setUp();
    await deps.put(...SIBLINGS);
    deps.store.forgetCalls();
    expect(await removeEnded(deps, 'things/')).toBe(0);
    expect(deps.store.total()).toBe(1);
  });

  it('deletes the marker last: a failure in between leaves it', async () => {
    const deps = await setUp();
    await deps.put(`${PREFIX}1.json`, `${PREFIX}2.json`);
    await endSequence(deps, PREFIX, ENDING);
    deps.clock.advance(3 * HOUR);
    for (let call = 1; ; call++) {
      deps.store.setPlan(failFrom(call, 'before'));
      const outcome = await removeEnded(deps, 'things/').catch(() => 'failed');
      deps.store.setPlan(undefined);
      const left = await deps.keys();
      if (left.length > 0) expect(left).toContain(endKey(PREFIX));
      if (outcome !== 'failed') break;
    }
    expect(await deps.keys()).toEqual([]);
  });

  it('ignores a stray marker at the root', async () => {
    const deps = await setUp();
    await deps.put('things/end.json', 'things/two/1.json', 'things/legend.json/1.json');
    deps.clock.advance(10 * HOUR);
    expect(await removeEnded(deps, 'things/')).toBe(0);
  });

  it('keeps a new thing that began after another process had deleted the marker', async () => {
    const deps = await setUp();
    await deps.put(`${PREFIX}1.json`);
    await endSequence(deps, PREFIX, ENDING);
    deps.clock.advance(3 * HOUR);
    let lists = 0;
    deps.store.setPlan(async ({ method }) => {
      if (method !== 'list' || ++lists !== 2) return undefined;
      deps.store.setPlan(undefined);
      await removeEnded(deps, 'things/');
      await deps.put(`${PREFIX}1.json`);
      return undefined;
    });
    await removeEnded(deps, 'things/');
    expect(await deps.keys()).toEqual([`${PREFIX}1.json`]);
  });
});

describe('ending while the store fails', () => {
  it('is tried for four seconds, then reported', async () => {
    for (const when of ['before', 'after'] as const) {
      const deps = await setUp();
      deps.store.setPlan(({ number }) => (number <= 2 ? { when } : undefined));
      await endSequence(deps, PREFIX, ENDING);
      expect(await isEnded(deps.store, PREFIX)).toBe(true);
    }
    const deps = await setUp();
    deps.store.goDown();
    const begun = deps.clock.now();
    await expect(endSequence(deps, PREFIX, ENDING)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(deps.store.counts.create).toBeGreaterThan(3);
    expect(deps.clock.now() - begun).toBeGreaterThanOrEqual(4_000);
    expect(deps.clock.now() - begun).toBeLessThan(6_000);
  });

  it('is not tried again when it was refused', async () => {
    const deps = await setUp();
    deps.store.setPlan(() => ({ when: 'before', code: 'store_denied' }));
    await expect(endSequence(deps, PREFIX, ENDING)).rejects.toMatchObject({ code: 'store_denied' });
    expect(deps.store.counts.create).toBe(1);
  });
});

const noteSchema = z.object({
  schema_version: z.literal(1),
  change_id: z.uuid(),
  number: z.int(),
});
const notes = defineSequence({
  name: 'note',
  schema: noteSchema,
  documentBytesMax: 1024,
  key: (number) => `${PREFIX}${number}.json`,
  endKey: endKey(PREFIX),
  expected: (number) => ({ number }),
});

describe.each(KINDS)('a sequence that has ended (%s)', (kind) => {
  it('takes no further document, before and after it was deleted', async () => {
    const deps = await setUp(kind);
    const append = () =>
      appendDocument(deps, notes, ({ number, changeId }) =>
        seal({ schema_version: 1 as const, change_id: changeId, number }),
      );
    await append();
    await append();
    await endSequence(deps, PREFIX, ENDING);
    await expect(append()).rejects.toMatchObject({ code: 'ended', kind: 'gone' });
    await removeEnded(deps, 'things/');
    await expect(append()).rejects.toMatchObject({ code: 'ended' });
    expect(await deps.keys()).toEqual([endKey(PREFIX)]);
  });
});
