import fs, { mkdir, rename, symlink } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { openFilesystemStore } from '../../../src/store/filesystem/filesystem.ts';
import { compareKeys } from '../../../src/store/key.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const opened = { paths: [] as string[] };
const { opendir } = fs;
fs.opendir = (async (directory: string, ...rest: [never]) => {
  opened.paths.push(String(directory));
  return opendir(directory, ...rest);
}) as typeof opendir;
syncBuiltinESMExports();
afterAll(() => {
  fs.opendir = opendir;
  syncBuiltinESMExports();
});

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

const root = path.join(temporary.path, 'objects');
const signUrl = () => expect.unreachable();
const store = await openFilesystemStore({ directory: root, signUrl });
const keysBelow = async (prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
};

beforeEach(() => {
  opened.paths = [];
});

it('a listing reads the directory of its prefix, and none of the thousands beside it', async () => {
  for (const name of ['one', 'two', 'three']) {
    await store.create(`apps/${name}/catalog/1.json`, Buffer.from(name));
  }
  opened.paths = [];
  expect(await keysBelow('apps/two/catalog/')).toEqual(['apps/two/catalog/1.json']);
  expect(opened.paths.map((each) => path.relative(root, each))).toEqual(['apps/two/catalog']);
  expect(await keysBelow('apps/tw')).toEqual(['apps/two/catalog/1.json']);
  expect(await keysBelow('apps/four/catalog/')).toEqual([]);
});

it('a listing does not follow a link that leads out of the store', async () => {
  await store.create('apps/linked/catalog/1.json', Buffer.from('x'));
  await mkdir(path.join(temporary.path, 'outside'));
  await rename(path.join(root, 'apps/linked'), path.join(temporary.path, 'outside/linked'));
  await symlink(path.join(temporary.path, 'outside/linked'), path.join(root, 'apps/linked'));
  expect(await keysBelow('apps/linked/catalog/')).toEqual([]);
  expect(await keysBelow('apps/li')).toEqual([]);
});

it('a listing after a key has exactly the later keys, also in directories and split names', async () => {
  const directory = path.join(temporary.path, 'later');
  const later = await openFilesystemStore({ directory, signUrl });
  const parts = ['a', 'a-b', 'a.b', 'B', 'é', '1'.repeat(200), `${'1'.repeat(200)}2`];
  const keys = parts.flatMap((one) => [`${one}.json`, ...parts.map((two) => `${one}/${two}`)]);
  for (const key of keys) await later.create(key, Buffer.from(key));
  const sorted = keys.toSorted(compareKeys);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('', 'a', 'a/', 'B/', '1'),
      fc.constantFrom(...keys, 'a', 'a/', 'a-', '2', 'zz'),
      async (prefix, after) => {
        const listed: string[] = [];
        for await (const { key } of later.list(prefix, { after })) listed.push(key);
        const expected = sorted.filter((key) => key.startsWith(prefix));
        expect(listed).toEqual(expected.filter((key) => compareKeys(key, after) > 0));
      },
    ),
    { numRuns: 60 },
  );
});
