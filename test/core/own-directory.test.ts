import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOwnDirectory } from '../../src/core/own-directory.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  temporary = await makeTemporaryDirectory();
});
afterAll(() => temporary.remove());

it('creates a directory and its parents for their owner only', async () => {
  const first = path.join(temporary.path, 'a');
  expect(await createOwnDirectory(path.join(first, 'b'))).toBe(first);
  for (const made of [first, path.join(first, 'b')]) {
    expect((await stat(made)).mode & 0o777).toBe(0o700);
  }
  expect(await createOwnDirectory(path.join(first, 'b'))).toBeUndefined();
});

it('does not change a directory that exists', async () => {
  const shared = path.join(temporary.path, 'shared');
  await mkdir(shared, { mode: 0o755 });
  await createOwnDirectory(shared);
  expect((await stat(shared)).mode & 0o777).toBe(0o755);
});

it('reports why it cannot create the directory, and what to do', async () => {
  const file = path.join(temporary.path, 'file');
  await writeFile(file, 'x');
  await expect(createOwnDirectory(path.join(file, 'objects'))).rejects.toMatchObject({
    code: 'store_denied',
    message: `Could not create the directory ${file}/objects: ${file} is not a directory. Set DATA_DIR to a directory that this process may write.`,
  });
});
