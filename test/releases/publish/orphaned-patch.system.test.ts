import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { seededBytes } from '../../support/electron-build.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** A publisher that is killed with SIGKILL while a child process makes a patch. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const MODULE = path.join(
  import.meta.dirname,
  '../../../src/releases/publish/velopack/patch-files.ts',
);
/** It tells the process id of the child, which it gets from `spawn`. */
const PROGRAM = `
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const { spawn } = childProcess;
childProcess.spawn = (...call) => {
  const child = spawn(...call);
  console.log(child.pid);
  return child;
};
syncBuiltinESMExports();
const { makePatches } = await import(process.argv[1]);
const [from, to, patch] = process.argv.slice(2);
await makePatches([{ from, to, patch }], { report: () => {}, signal: new AbortController().signal });
`;

it.skipIf(process.platform !== 'linux')('leaves no child process behind', async () => {
  const [from, to, patch] = ['from', 'to', 'patch'].map((name) => path.join(temporary.path, name));
  if (from === undefined || to === undefined || patch === undefined) throw new Error('no path');
  // Some seconds of work.
  for (const name of [from, to]) await writeFile(name, seededBytes(40_000_000, name));
  const args = ['--input-type=module', '--eval', PROGRAM, MODULE, from, to, patch];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const isRunning = async () =>
    /^State:\s+[^ZX\s]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
  const readsOf = async () =>
    /rchar: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8').catch(() => ''))?.[1] ?? 0;
  await expect.poll(async () => Number(await readsOf())).toBeGreaterThan(80_000_000);
  expect(await isRunning()).toBe(true);
  parent.kill('SIGKILL');
  await once(parent, 'close');
  await expect.poll(isRunning, { timeout: 1_000, interval: 10 }).toBe(false);
});
