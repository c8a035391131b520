import { execFile, execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import { createUrlSigner } from '../../src/object-store/signed-url.ts';
import { collect, describeContract, sourceOf } from './contract.ts';

const root = mkdtempSync(join(tmpdir(), 'slipway-store-'));
const { sign: signUrl } = createUrlSigner({ secret: 's'.repeat(32), baseUrl: () => 'http://h' });
const open = (name: string) => openFilesystemStore({ directory: join(root, name), signUrl });
const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts) {
    execFileSync('umount', [mount]);
  }
  rmSync(root, { recursive: true });
});

describeContract('directory', () => open('contract'));

it('reads a directory that is not there as empty and creates it with the first write', async () => {
  const store = await open('later/on');
  expect(await store.get('a/b')).toBeUndefined();
  expect(await collect(store.list(''))).toEqual([]);
  expect(readdirSync(root)).not.toContain('later');
  expect(await store.create('a/b', Buffer.from('x'))).toBe('created');
  expect(readdirSync(join(root, 'later/on'))).toEqual(['a']);
});

it('lets one of several processes win each key', async () => {
  const directory = join(root, 'processes');
  const script = join(import.meta.dirname, 'writer-process.ts');
  const names = ['a', 'b', 'c', 'd'];
  const wins = await Promise.all(
    names.map(async (name) => {
      const args = [script, directory, name, '60'];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return JSON.parse(stdout) as number[];
    }),
  );
  expect(wins.flat().sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  const store = await open('processes');
  for (const [index, rounds] of wins.entries()) {
    for (const round of rounds) {
      const stored = await store.get(`race/${round % 7}/${round}`);
      expect(Buffer.from(stored?.body ?? []).toString()).toBe(names[index]);
    }
  }
  expect(readdirSync(directory)).not.toContain('.slipway-tmp-');
});

it('creates and deletes side by side while directories come and go', async () => {
  const store = await open('pruning');
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const key = `deep/er/${n % 5}/${n}`;
      expect(await store.create(key, Buffer.from('x'))).toBe('created');
      await store.delete(key);
    }),
  );
  expect(readdirSync(join(root, 'pruning'))).toEqual([]);
});

it('follows no symbolic link and lists none', async () => {
  const store = await open('links');
  await store.create('dir/a', Buffer.from('x'));
  symlinkSync('/etc/passwd', join(root, 'links/dir/link'));
  const denied = { code: 'document_corrupt', message: expect.stringContaining('symbolic link') };
  await expect(store.get('dir/link')).rejects.toMatchObject(denied);
  await expect(store.read('dir/link')).rejects.toMatchObject(denied);
  await expect(store.head('dir/link')).rejects.toMatchObject(denied);
  expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['dir/a']);
});

it('has no object whose key continues that of another', async () => {
  const store = await open('nested');
  await store.create('a/b', Buffer.from('x'));
  expect(await store.get('a')).toBeUndefined();
  expect(await store.get('a/b/c')).toBeUndefined();
  for (const key of ['a', 'a/b/c']) {
    const body = Buffer.from('y');
    await expect(store.create(key, body)).rejects.toMatchObject({ code: 'invalid_key' });
  }
});

it('clears unfinished files of before the date, and hides them until then', async () => {
  const store = await open('unfinished');
  await store.create('a/b', Buffer.from('x'));
  const old = join(root, 'unfinished/a/.slipway-tmp-old');
  writeFileSync(old, 'x');
  utimesSync(old, 1_000, 1_000);
  writeFileSync(join(root, 'unfinished/a/.slipway-tmp-young'), 'x');
  expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['a/b']);
  expect(await store.removeAbandonedUploads(new Date(2_000_000))).toBe(1);
  expect(readdirSync(join(root, 'unfinished/a'))).toEqual(['.slipway-tmp-young', 'b']);
});

const systemError = (code: string) => Object.assign(new Error(code), { code });

it('refuses a file system without hard links', async () => {
  const directory = join(root, 'refused');
  mkdirSync(directory);
  const lstat = async () => {
    throw systemError('ENOENT');
  };
  for (const link of [
    () => Promise.reject(systemError('EPERM')),
    // Links that overwrite are no better.
    () => Promise.resolve(),
  ]) {
    const opened = openFilesystemStore({ directory, signUrl, operations: { link, lstat } });
    await expect(opened).rejects.toMatchObject({
      code: 'store_nonconforming',
      message: expect.stringContaining('no hard links'),
    });
  }
  expect(readdirSync(directory)).toEqual([]);
});

it('refuses a file system that folds case', async () => {
  const { link } = await import('node:fs/promises');
  const directory = join(root, 'folded');
  mkdirSync(directory);
  const operations = { link, lstat: async () => ({}) };
  await expect(openFilesystemStore({ directory, signUrl, operations })).rejects.toMatchObject({
    code: 'store_nonconforming',
    message: expect.stringContaining('differ only in case'),
  });
});

it('says that the volume is full and keeps what it holds', async (context) => {
  const directory = join(root, 'full');
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a small volume cannot be mounted here: ${String(error).split('\n')[0]}`);
  }
  mounts.push(directory);
  const store = await openFilesystemStore({ directory, signUrl });
  await store.create('a/kept', Buffer.alloc(500_000, 'k'));
  const full = { code: 'store_full', message: expect.stringContaining('no space is left') };
  await expect(store.create('a/b', Buffer.alloc(700_000))).rejects.toMatchObject(full);
  await expect(store.upload('a/c', sourceOf(Buffer.alloc(3_000_000)))).rejects.toMatchObject(full);
  expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['a/kept']);
  expect(readdirSync(join(directory, 'a'))).toEqual(['kept']);
  expect((await store.get('a/kept'))?.size).toBe(500_000);
  // Readers may open a volume that is full.
  writeFileSync(join(directory, 'filler'), '');
  await openFilesystemStore({ directory, signUrl });
});

it('reads from a volume that is read-only, and says so to writers', async (context) => {
  const directory = join(root, 'read-only');
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', directory], { stdio: 'pipe' });
    mounts.push(directory);
    writeFileSync(join(directory, 'a'), 'x');
    execFileSync('mount', ['-o', 'remount,ro', directory], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a read-only volume cannot be mounted here: ${String(error).split('\n')[0]}`);
  }
  const store = await openFilesystemStore({ directory, signUrl });
  expect((await store.get('a'))?.size).toBe(1);
  await expect(store.create('b', Buffer.from('x'))).rejects.toMatchObject({ code: 'store_denied' });
});
