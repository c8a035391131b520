import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { createSavedState } from '../../../src/catalog/live/saved-state.ts';
import { createSpillFile } from '../../../src/catalog/live/spill-file.ts';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { systemOperations } from '../../../src/store/filesystem/volume.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createKnownStore } from '../../../src/store/open/known-store.ts';
import { collect, sourceOf } from '../../support/objects.ts';

/** The directory is a mount point without its volume, or holds another store than before. */

const temporary = mkdtempSync(join(tmpdir(), 'slipway-identity-'));
afterAll(() => rmSync(temporary, { recursive: true }));

let worlds = 0;

function createWorld() {
  const data = join(temporary, String(worlds++));
  const objects = join(data, 'objects');
  const open = (options: Partial<Parameters<typeof openFilesystemStore>[0]> = {}) =>
    openFilesystemStore({
      directory: objects,
      signUrl: () => ({ url: 'http://h/', expiresAt: new Date() }),
      known: createKnownStore(join(data, 'state'), `directory:${objects}`),
      ...options,
    });
  return { data, objects, open };
}

const put = (store: ObjectStore, key: string) => store.create(key, Buffer.from('x'));

/** What an operator finds in place of the volume. */
const PLACES: Record<string, (objects: string) => unknown> = {
  nothing: () => undefined,
  'an empty directory': (objects) => mkdirSync(objects),
  'a directory with the same objects and no id': async (objects) => {
    mkdirSync(join(objects, 'a'), { recursive: true });
    await writeFile(join(objects, 'a', 'b'), 'another');
  },
  'a store with an id that cannot be read': async (objects) => {
    mkdirSync(objects);
    await writeFile(join(objects, 'store!.json'), '{"id":');
  },
  'another store': async (objects) => {
    const signUrl = () => ({ url: 'http://h/', expiresAt: new Date() });
    await put(await openFilesystemStore({ directory: objects, signUrl }), 'a/b');
  },
  'a dangling link': (objects) => symlinkSync(join(objects, '..', 'unmounted'), objects),
  'a link to itself': (objects) => symlinkSync(objects, objects),
  'a file': (objects) => writeFile(objects, 'x'),
};

const calls = (store: ObjectStore): Record<string, () => Promise<unknown>> => ({
  get: () => store.get('a/b'),
  'get of a missing object': () => store.get('a/missing'),
  read: () => store.read('a/b'),
  open: () => store.open('a/b'),
  head: () => store.head('a/b'),
  list: () => collect(store.list('')),
  identify: async () => store.identify?.(),
  create: () => put(store, 'a/c'),
  'create of a taken key': () => put(store, 'a/b'),
  upload: () => store.upload('a/d', sourceOf(Buffer.from('upload'))),
  delete: () => store.delete('a/b'),
  'removal of unfinished uploads': () => store.removeAbandonedUploads(new Date()),
});

const namesBelow = (directory: string): string[] => {
  try {
    return readdirSync(directory, { recursive: true }).map(String).sort();
  } catch {
    return [];
  }
};

describe.each(Object.keys(PLACES))('with %s in place of its volume', (place) => {
  it.each(['a running process', 'a process that starts', 'a command that starts'] as const)(
    '%s reads and writes nothing, and goes on when the volume is back',
    async (who) => {
      const { objects, open } = createWorld();
      const first = await open();
      await put(first, 'a/b');
      const id = String(await first.identify?.());
      renameSync(objects, `${objects}-away`);
      await PLACES[place]?.(objects);
      const before = namesBelow(objects);
      const opened = () => open({ checksWhenOpened: who === 'a process that starts' });
      const store = who === 'a running process' ? first : await opened();
      for (const [name, call] of Object.entries(calls(store))) {
        const failure = await call().catch((error: unknown) => error);
        expect(failure, name).toMatchObject({
          code: 'store_unavailable',
          message: expect.stringContaining(id),
          publicDetail: expect.stringContaining(id),
        });
      }
      expect(namesBelow(objects)).toEqual(before);

      rmSync(objects, { recursive: true, force: true });
      renameSync(`${objects}-away`, objects);
      expect((await store.get('a/b'))?.size).toBe(1);
      expect(await put(store, 'a/c')).toBe('created');
      expect(await store.identify?.()).toBe(id);
    },
  );
});

it('names both stores, and what to delete to go on with the other one', async () => {
  const { data, objects, open } = createWorld();
  const first = await open();
  await put(first, 'a/b');
  const id = await first.identify?.();
  renameSync(objects, `${objects}-away`);
  await PLACES['another store']?.(objects);
  const file = await readFile(join(objects, 'store!.json'), 'utf8');
  const { id: other } = JSON.parse(file) as { id: string };
  const message = expect.stringMatching(
    new RegExp(`${other}.*${id}.*delete ${join(data, 'state')}, and start again`),
  );
  await expect(first.get('a/b')).rejects.toMatchObject({
    message,
    publicDetail: `Expected the store ${id}, and found the store ${other}.`,
  });
  rmSync(join(data, 'state'), { recursive: true });
  const again = await open();
  expect(await again.identify?.()).toBe(other);
  expect(await put(again, 'a/c')).toBe('created');
});

it('makes a store at the first start, and remembers one that it did not make', async () => {
  const { data, objects, open } = createWorld();
  const [a, b] = [await open(), await open()];
  await Promise.all([put(a, 'a'), put(b, 'b')]);
  expect(await a.identify?.()).toBe(await b.identify?.());
  // As after an update from a version that did not remember it.
  rmSync(join(data, 'state'), { recursive: true });
  await open();
  rmSync(objects, { recursive: true });
  await expect(put(await open(), 'a')).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('is remembered by a command that writes, and by none that reads', async () => {
  const { data, open } = createWorld();
  const command = await open({ checksWhenOpened: false });
  expect(await command.get('a')).toBeUndefined();
  expect(namesBelow(data)).toEqual([]);
  await put(command, 'a');
  expect(namesBelow(data)).toContain(join('state', 'store.json'));
});

it('makes no store while it cannot tell which one belongs there', async () => {
  const { data, objects, open } = createWorld();
  mkdirSync(join(data, 'state'), { recursive: true });
  await writeFile(join(data, 'state', 'store.json'), '{"id":');
  const store = await open();
  await expect(put(store, 'a')).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining(join(data, 'state', 'store.json')),
  });
  expect(namesBelow(objects)).toEqual([]);
});

it.each([
  ['gone', () => undefined],
  ['an empty directory', mkdirSync],
  [
    'a new file system',
    (objects: string) => mkdirSync(join(objects, 'lost+found'), { recursive: true }),
  ],
])(
  'makes no store where it is %s, when the saved state has catalogs and no id',
  async (_, replace) => {
    const { data, objects, open } = createWorld();
    await put(await open(), 'a/b');
    const id = join(objects, 'store!.json');
    // As the first versions left both: without an id.
    rmSync(id);
    rmSync(join(data, 'state'), { recursive: true });
    const state = {
      directory: join(data, 'state'),
      location: `directory:${objects}`,
      log: pino({ level: 'silent' }),
      spill: createSpillFile(undefined),
    };
    await createSavedState(state).saveApplications({ names: ['desktop'], confirmedAt: {} });
    renameSync(objects, `${objects}-away`);
    replace(objects);
    const store = await open();
    await expect(put(store, 'a/c')).rejects.toMatchObject({
      code: 'store_unavailable',
      publicDetail: 'Expected the store (its id was not saved), and found no store.',
    });
    await expect(store.get('a/b')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(namesBelow(objects).filter((name) => name !== 'lost+found')).toEqual([]);

    rmSync(objects, { recursive: true, force: true });
    renameSync(`${objects}-away`, objects);
    expect((await store.get('a/b'))?.size).toBe(1);
    expect(await put(store, 'a/c')).toBe('created');
    expect(await readFile(join(data, 'state', 'store.json'), 'utf8')).toContain(
      await store.identify?.(),
    );
  },
);

it.each([
  ['gone', () => undefined],
  ['an empty directory', mkdirSync],
])('does not acknowledge a write during which its directory becomes %s', async (_, replace) => {
  const { objects, open } = createWorld();
  await put(await open(), 'a/b');
  let isArmed = false;
  const unmount = (): void => {
    if (!isArmed) return;
    isArmed = false;
    renameSync(objects, `${objects}-away`);
    replace(objects);
  };
  const operations = {
    ...systemOperations,
    // The last moment before the object has its name, and the first one after.
    link: async (from: string, to: string) => {
      unmount();
      await systemOperations.link(from, to);
    },
    syncDirectory: async (path: string) => {
      unmount();
      await systemOperations.syncDirectory(path);
    },
  };
  const store = await open({ operations });
  isArmed = true;
  await expect(put(store, 'a/c')).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(namesBelow(objects)).toEqual([]);
});
