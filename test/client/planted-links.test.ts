import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createUpdater } from '../../src/client/create-updater.ts';
import type { UpdateOffer, UpdaterOptions } from '../../src/client/types.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { type ClientWorld, openClientWorld } from './world.ts';

/** An attacker plants links in the cache, so that the client writes or deletes files of the user elsewhere. */

const CONTENT = 'the bytes of a program';
const temporary = await makeTemporaryDirectory();
let world: ClientWorld;
let options: UpdaterOptions;
let offer: UpdateOffer;
/** A folder of the user, with a file whose bytes must stay. */
let elsewhere: string;
let victim: string;
/** The folder of the download, which does not exist yet. */
let folder: string;
let partial: string;

beforeAll(async () => {
  world = await openClientWorld();
  await world.release('1.1.0', {}, CONTENT);
});
afterAll(async () => {
  await world.close();
  await temporary.remove();
});
beforeEach(async () => {
  options = await world.options();
  const result = await createUpdater(options).check();
  if (!result.isOffered) throw new Error(result.reason);
  offer = result.offer;
  folder = path.join(options.cache, 'downloads', offer.file.sha256.slice(0, 16));
  partial = path.join(folder, 'partial.tmp');
  elsewhere = path.join(temporary.path, path.basename(options.cache));
  victim = path.join(elsewhere, 'letter.txt');
  await mkdir(elsewhere);
  await writeFile(victim, 'dear');
});

/** A named pipe is another file that is no file, but Node cannot make one. */
async function listenAt(name: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  // The names of sockets are short.
  const short = path.join(elsewhere, 's');
  await new Promise<void>((resolve) => server.listen(short, resolve));
  await rename(short, name);
}

async function expectDownloaded(): Promise<void> {
  const file = await createUpdater(options).download(offer);
  expect(await readFile(file, 'utf8')).toBe(CONTENT);
  expect((await lstat(file)).isFile()).toBe(true);
  expect(path.dirname(file)).toBe(folder);
  expect(await readdir(folder)).toEqual([path.basename(file)]);
  expect(await readFile(victim, 'utf8')).toBe('dear');
}

describe('in place of the partial file', () => {
  beforeEach(() => mkdir(folder, { recursive: true }));

  it.each<[string, () => Promise<unknown>]>([
    ['a link to a file', () => symlink(victim, partial)],
    ['a further name of a file', () => link(victim, partial)],
    ['a link to a folder', () => symlink(elsewhere, partial)],
    ['a folder', () => mkdir(path.join(partial, 'deep'), { recursive: true })],
    ['a socket', () => listenAt(partial)],
  ])('%s is removed', async (_name, plant) => {
    await plant();
    await expectDownloaded();
  });

  it('a link to nothing creates nothing', async () => {
    const created = path.join(elsewhere, 'created');
    await symlink(created, partial);
    await expectDownloaded();
    await expect(lstat(created)).rejects.toThrow('ENOENT');
  });

  it('a link to a file with all bytes is no download', async () => {
    const other = path.join(elsewhere, 'other');
    await writeFile(other, CONTENT);
    await symlink(other, partial);
    await expectDownloaded();
    expect(await readFile(other, 'utf8')).toBe(CONTENT);
  });
});

it('in place of the finished file: a link to the same bytes, which could change later', async () => {
  const other = path.join(elsewhere, 'other');
  await writeFile(other, CONTENT);
  await mkdir(folder, { recursive: true });
  await symlink(other, path.join(folder, offer.file.filename));
  await expectDownloaded();
});

describe('in place of a folder', () => {
  it('of the download: nothing is written elsewhere', async () => {
    await mkdir(path.dirname(folder));
    await symlink(elsewhere, folder);
    await expectDownloaded();
    expect(await readdir(elsewhere)).toEqual(['letter.txt']);
  });

  it('of all downloads: nothing is written elsewhere', async () => {
    await symlink(elsewhere, path.dirname(folder));
    await expectDownloaded();
    expect(await readdir(elsewhere)).toEqual(['letter.txt']);
  });

  it('of all downloads: a check deletes no old file elsewhere', async () => {
    await utimes(victim, 0, 0);
    await symlink(elsewhere, path.dirname(folder));
    await createUpdater(options).check();
    await expectDownloaded();
  });
});

it('a link that replaces the partial file during the download gets no byte', async () => {
  await mkdir(folder, { recursive: true });
  await writeFile(partial, 'wrong');
  const updater = createUpdater({
    ...options,
    fetch: async (url, init) => {
      // The client has opened the file already, under a name of its own.
      const [name = ''] = await readdir(folder);
      partial = path.join(folder, name);
      await rename(partial, `${partial}.old`);
      await symlink(victim, partial);
      return fetch(url, init);
    },
  });
  await expect(updater.download(offer)).rejects.toMatchObject({ code: 'cache_unusable' });
  expect(await readFile(victim, 'utf8')).toBe('dear');
  await rm(`${partial}.old`);
  await expectDownloaded();
});
