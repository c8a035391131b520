import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemOperations } from '../../../src/store/filesystem/volume.ts';
import { openDirectoryStore } from '../../support/directory-store.ts';
import { collect, listKeys } from '../../support/objects.ts';
import { describeContract } from '../contract.ts';

const root = mkdtempSync(join(tmpdir(), 'slipway-store-'));
const open = (name: string) => openDirectoryStore(join(root, name));
afterAll(() => rmSync(root, { recursive: true }));

const systemError = (code: string) => Object.assign(new Error(code), { code });

describeContract('directory', () => open('contract'));

it('reads a missing directory as an empty store, and creates it with the first write', async () => {
  const store = await open('later/on');
  expect(await store.get('a/b')).toBeUndefined();
  expect(await collect(store.list(''))).toEqual([]);
  expect(readdirSync(root)).not.toContain('later');
  expect(await store.create('a/b', Buffer.from('x'))).toBe('created');
  expect(readdirSync(join(root, 'later/on'))).toEqual(['a', 'store!.json']);
});

it('creates and deletes concurrently while directories appear and disappear', async () => {
  const store = await open('pruning');
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const key = `deep/er/${n % 5}/${n}`;
      expect(await store.create(key, Buffer.from('x'))).toBe('created');
      await store.delete(key);
    }),
  );
  expect(readdirSync(join(root, 'pruning'))).toEqual(['store!.json']);
});

it('does not follow or list symbolic links', async () => {
  const store = await open('links');
  await store.create('dir/a', Buffer.from('x'));
  symlinkSync('/etc/passwd', join(root, 'links/dir/link'));
  const denied = { code: 'document_corrupt', message: expect.stringContaining('symbolic link') };
  await expect(store.get('dir/link')).rejects.toMatchObject(denied);
  await expect(store.read('dir/link')).rejects.toMatchObject(denied);
  await expect(store.head('dir/link')).rejects.toMatchObject(denied);
  expect(await listKeys(store)).toEqual(['dir/a']);
});

it('reads, writes and deletes nothing through a linked directory; its own directory may be a link', async () => {
  const store = await open('linked');
  await store.create('real/a', Buffer.from('x'));
  const elsewhere = join(root, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'a'), 'a secret');
  symlinkSync(elsewhere, join(root, 'linked/real/dir'));
  const denied = { code: 'document_corrupt', message: expect.stringContaining('symbolic link') };
  for (const attempt of [
    () => store.get('real/dir/a'),
    () => store.read('real/dir/a'),
    () => store.head('real/dir/a'),
    () => store.create('real/dir/b', Buffer.from('y')),
    () => store.create('real/dir/deeper/b', Buffer.from('y')),
    () => store.delete('real/dir/a'),
  ]) {
    await expect(attempt()).rejects.toMatchObject(denied);
  }
  expect(readFileSync(join(elsewhere, 'a'), 'utf8')).toBe('a secret');
  expect(readdirSync(elsewhere)).toEqual(['a']);
  expect(await listKeys(store)).toEqual(['real/a']);
  symlinkSync(join(root, 'linked'), join(root, 'other-name'));
  expect(await (await open('other-name')).head('real/a')).toMatchObject({ size: 1 });
});

it("refuses a key that would make another object's file a directory", async () => {
  const store = await open('nested');
  await store.create('a/b', Buffer.from('x'));
  expect(await store.get('a')).toBeUndefined();
  expect(await store.get('a/b/c')).toBeUndefined();
  for (const key of ['a', 'a/b/c']) {
    const body = Buffer.from('y');
    await expect(store.create(key, body)).rejects.toMatchObject({ code: 'invalid_key' });
  }
});

it('does not list unfinished files, and removes those that are older than the date', async () => {
  const store = await open('unfinished');
  await store.create('a/b', Buffer.from('x'));
  const old = join(root, 'unfinished/a/.slipway-tmp-old');
  writeFileSync(old, 'x');
  utimesSync(old, 1_000, 1_000);
  writeFileSync(join(root, 'unfinished/a/.slipway-tmp-young'), 'x');
  expect(await listKeys(store)).toEqual(['a/b']);
  expect(await store.removeAbandonedUploads(new Date(2_000_000))).toBe(1);
  expect(readdirSync(join(root, 'unfinished/a'))).toEqual(['.slipway-tmp-young', 'b']);
});

it('refuses a volume without hard links, and names volumes that have them', async () => {
  const directory = join(root, 'refused');
  mkdirSync(directory);
  for (const link of [
    () => Promise.reject(systemError('EPERM')),
    // Windows answers like this on FAT.
    () => Promise.reject(systemError('EISDIR')),
    // A link that replaces a file is refused, too.
    () => Promise.resolve(),
  ]) {
    const operations = { ...systemOperations, link };
    await expect(openDirectoryStore(directory, { operations })).rejects.toMatchObject({
      code: 'store_nonconforming',
      message: expect.stringMatching(
        /(has no hard links|lets a hard link replace).* Set DATA_DIR to a directory on a volume with/,
      ),
    });
  }
  expect(readdirSync(directory)).toEqual([]);
});

it.each(['EPERM', 'EINVAL', 'ENOTSUP'])(
  'works on a volume that cannot sync directories (%s)',
  async (code) => {
    const operations = {
      ...systemOperations,
      syncDirectory: () => Promise.reject(systemError(code)),
    };
    const directory = join(root, `unsynced-${code}`);
    const store = await openDirectoryStore(directory, { operations });
    expect(await store.create('a/b', Buffer.from('x'))).toBe('created');
    await store.delete('a/b');
    expect(await store.head('a/b')).toBeUndefined();
  },
);

it('fails when the sync of a directory fails', async () => {
  const syncDirectory = () => Promise.reject(systemError('EIO'));
  const operations = { ...systemOperations, syncDirectory };
  const directory = join(root, 'unsynced-EIO');
  mkdirSync(directory);
  const store = await openDirectoryStore(directory, { operations });
  await expect(store.create('a/b', Buffer.from('x'))).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('may or may not survive a power cut'),
  });
});

it('does not list files that desktop systems leave in directories', async () => {
  const store = await open('desktop');
  await store.create('a/b', Buffer.from('x'));
  for (const name of ['.DS_Store', 'Thumbs.db', 'copy of b', 'x%', '%41', 'c%2fd', '%2e%2e']) {
    writeFileSync(join(root, 'desktop/a', name), 'x');
  }
  expect(await listKeys(store)).toEqual(['a/b']);
});

it('has an id that is made once and is not visible as an object', async () => {
  const store = await open('identity');
  expect(await store.identify?.()).toBeUndefined();
  await Promise.all(['a', 'b'].map((key) => store.create(key, Buffer.from('x'))));
  const id = await store.identify?.();
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await (await open('identity')).identify?.()).toBe(id);
  expect(await listKeys(store)).toEqual(['a', 'b']);
  await store.create('store!.json', Buffer.from('an ordinary object'));
  expect(await store.identify?.()).toBe(id);
});

it('reports a store that vanished, and does not create a new one in its place', async () => {
  const store = await open('vanishing');
  await store.create('a/b', Buffer.from('x'));
  // The mount point of an unmounted volume is an empty directory, too.
  renameSync(join(root, 'vanishing'), join(root, 'moved'));
  mkdirSync(join(root, 'vanishing'));
  const gone = {
    code: 'store_unavailable',
    message: expect.stringContaining('Check that its volume is mounted'),
  };
  for (const call of [
    () => store.get('a/b'),
    () => store.head('a/b'),
    () => store.read('a/b'),
    () => collect(store.list('')),
    () => store.create('a/c', Buffer.from('x')),
  ]) {
    await expect(call()).rejects.toMatchObject(gone);
  }
  expect(readdirSync(join(root, 'vanishing'))).toEqual([]);
  rmSync(join(root, 'vanishing'), { recursive: true });
  renameSync(join(root, 'moved'), join(root, 'vanishing'));
  expect((await store.get('a/b'))?.size).toBe(1);
});

it('refuses a path that is too long for the system', async () => {
  const directory = join(root, ...Array.from({ length: 17 }, () => 'd'.repeat(200)));
  const store = await openDirectoryStore(directory);
  const key = Array.from({ length: 4 }, () => 'é'.repeat(120)).join('/');
  expect(await store.get(key)).toBeUndefined();
  await expect(store.create(key, Buffer.from('x'))).rejects.toMatchObject({
    code: 'invalid_key',
    message: expect.stringContaining('a directory with a shorter path'),
  });
});
