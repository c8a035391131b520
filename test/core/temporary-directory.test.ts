import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { removeLeftDirectories } from '../../src/core/directory-owner.ts';
import { createTemporaryDirectory } from '../../src/core/temporary-directory.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/** Temporary directories of processes that are killed: the next run removes what no living process owns. */

const MODULE = path.join(import.meta.dirname, '../../src/core/temporary-directory.ts');
const PROGRAM = `
const { createTemporaryDirectory } = await import(process.argv[1]);
const { path } = await createTemporaryDirectory('slipway-deltas-');
await (await import('node:fs/promises')).writeFile(path + '/package', 'many megabytes');
console.log(path);
// The process is busy, and answers nothing.
for (;;);
`;

let temporary: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeEach(async () => {
  temporary = await makeTemporaryDirectory();
  // POSIX, Windows.
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, temporary.path);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await temporary.remove();
});

async function startOwner() {
  const args = ['--input-type=module', '--eval', PROGRAM, MODULE];
  const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const kill = async (): Promise<void> => {
    owner.kill('SIGKILL');
    await once(owner, 'close');
  };
  return { directory: line.toString().trim(), kill };
}

it('of a killed process is removed, and of a living one is not, even of a busy one', async () => {
  const owner = await startOwner();
  const own = await createTemporaryDirectory('slipway-rezip-');
  try {
    await removeLeftDirectories();
    expect(existsSync(owner.directory)).toBe(true);
  } finally {
    await owner.kill();
  }
  await removeLeftDirectories();
  expect(existsSync(owner.directory)).toBe(false);
  expect(existsSync(own.path)).toBe(true);
  await own.remove();
  expect(await readdir(temporary.path)).toEqual([]);
});

it('is never a link, and nothing without a socket is removed', async () => {
  const owner = await startOwner();
  await owner.kill();
  const elsewhere = path.join(temporary.path, 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(path.join(elsewhere, 'precious'), '');
  await symlink(elsewhere, path.join(owner.directory, 'out'), 'junction');
  await symlink(owner.directory, path.join(temporary.path, 'slipway-link'), 'junction');
  await mkdir(path.join(temporary.path, 'slipway-other'));
  await mkdir(path.join(temporary.path, 'slipway-file'));
  await writeFile(path.join(temporary.path, 'slipway-file', 'data'), '');
  await removeLeftDirectories();
  expect((await readdir(temporary.path)).sort()).toEqual(
    ['elsewhere', 'slipway-file', 'slipway-link', 'slipway-other'].sort(),
  );
  expect(await readdir(elsewhere)).toEqual(['precious']);
});

it.skipIf(process.getuid === undefined)('of another user is left alone', async () => {
  const owner = await startOwner();
  await owner.kill();
  const uid = process.getuid?.() ?? 0;
  const parts = process as { getuid(): number };
  const spy = vi.spyOn(parts, 'getuid').mockReturnValue(uid + 1);
  await removeLeftDirectories();
  expect(existsSync(owner.directory)).toBe(true);
  spy.mockRestore();
  await removeLeftDirectories();
  expect(existsSync(owner.directory)).toBe(false);
});
