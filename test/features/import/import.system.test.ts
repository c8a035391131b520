import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../cli/support.ts';
import { COMPILED } from '../../support/process.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { githubFolder, writeSource } from './sources/fixtures.ts';

/** An import that is killed again and again, and run again. */

const RELEASES = 30;
/** Five files, the zsync file of the AppImage, and the block maps of the two zips. */
const OBJECTS = 8;
const KILLED_AFTER = [3, 11, 20];

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

function start(words: readonly string[], cwd: string) {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const env = { PATH: process.env.PATH, ...COMPILED };
  return spawn(process.execPath, [script, ...words], { cwd, env, stdio: 'ignore' });
}

async function runToEnd(words: readonly string[], cwd: string): Promise<number | null> {
  const child = start(words, cwd);
  await once(child, 'close');
  return child.exitCode;
}

/** The files below a directory of the store, relative to the application. */
async function objects(cwd: string, kind: string): Promise<readonly string[]> {
  const root = path.join(cwd, 'data/objects/apps/desktop', kind);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

const inodes = (files: readonly string[]) =>
  Promise.all(files.map(async (file) => `${file} ${(await stat(file)).ino}`));

it('continues after kill -9, and creates no object of an artifact twice', async () => {
  const cwd = directory.path;
  const names = (version: string) => [
    `App-Setup-${version}-x64.exe`,
    `App-${version}-arm64-mac.zip`,
    `App-${version}-x64-mac.zip`,
    `App-${version}-x86_64.AppImage`,
    `app_${version}_amd64.deb`,
  ];
  const source = await writeSource(
    githubFolder(
      Array.from({ length: RELEASES }, (_, at) => ({
        tag: `v1.${at}.0`,
        date: new Date(Date.UTC(2020, 0, at + 1)).toISOString(),
        files: names(`1.${at}.0`),
      })),
    ),
  );
  const words = ['import', source, '--create'];
  let before: readonly string[] = [];
  for (const count of KILLED_AFTER) {
    const child = start(words, cwd);
    const isClosed = once(child, 'close');
    while (child.exitCode === null && (await objects(cwd, 'catalog')).length < count) await wait(5);
    child.kill('SIGKILL');
    await isClosed;
    expect(child.signalCode).toBe('SIGKILL');
    // What was uploaded stays the same object.
    const now = await inodes(await objects(cwd, 'artifacts'));
    expect(now).toEqual(expect.arrayContaining([...before]));
    before = now;
  }
  expect(await runToEnd(words, cwd)).toBe(0);
  const artifacts = await objects(cwd, 'artifacts');
  expect(await inodes(artifacts)).toEqual(expect.arrayContaining([...before]));
  // A fresh upload of the same bytes would have a key of its own.
  expect(artifacts).toHaveLength(RELEASES * OBJECTS);
  expect(new Set(artifacts.map((file) => path.basename(file))).size).toBe(RELEASES * OBJECTS);
  const revisions = await objects(cwd, 'catalog');
  expect(revisions).toHaveLength(RELEASES);
  expect(await runToEnd(words, cwd)).toBe(0);
  expect(await objects(cwd, 'artifacts')).toEqual(artifacts);
  expect(await objects(cwd, 'catalog')).toEqual(revisions);
}, 120_000);
