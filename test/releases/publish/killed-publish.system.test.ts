import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pe, zip } from '../../builds/materialize.ts';
import { editedBytes, seededBytes } from '../../support/electron-build.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** `slipway publish` is killed with SIGKILL while it makes a delta. The next run removes what that one left. */

const root = await makeTemporaryDirectory();
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await root.remove();
});
const SLIPWAY = path.join(import.meta.dirname, '../../../scripts/slipway.ts');
const TEMPORARY = path.join(root.path, 'temporary');
await mkdir(TEMPORARY);
const LIBRARY = seededBytes(24_000_000, 'library');

async function build(version: string, library: Buffer): Promise<string> {
  const file = path.join(root.path, `App-${version}-full.nupkg`);
  const nuspec = `<?xml version="1.0"?><package><metadata><id>App</id><version>${version}</version><channel>win</channel><mainExe>App.exe</mainExe></metadata></package>`;
  const files: [string, Buffer][] = [
    ['App.nuspec', Buffer.from(nuspec)],
    ['[Content_Types].xml', Buffer.from(`<Types>${version}</Types>`)],
    ['lib/app/App.exe', Buffer.concat([pe('x64'), Buffer.from(version)])],
    ['lib/app/App.dll', library],
  ];
  await writeFile(file, zip(files));
  return file;
}

/** @returns what ends the process, and its exit code and errors when it has ended */
function publish(version: string, file: string) {
  const artifact = `${file},os=windows,arch=x64,format=velopack`;
  const args = ['--report-on-signal', '--report-filename=stderr', '--report-exclude-env', SLIPWAY];
  args.push('publish', version, artifact, '--app', 'desktop', '--create', '--yes');
  args.push('--deltas', '3');
  const env = {
    ...process.env,
    DATA_DIR: path.join(root.path, 'data'),
    ...{ TMPDIR: TEMPORARY, TEMP: TEMPORARY, TMP: TEMPORARY },
  };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // Publishing takes two seconds. A process that hangs reports where it does.
  const timers = [
    setTimeout(() => child.kill('SIGUSR2'), 50_000),
    setTimeout(() => child.kill('SIGKILL'), 55_000),
  ];
  const ended = once(child, 'close').then(([code]) => {
    for (const timer of timers) clearTimeout(timer);
    return { code, errors };
  });
  return { kill: () => child.kill('SIGKILL'), ended };
}

const left = async () =>
  (await readdir(TEMPORARY, { recursive: true })).filter((name) => /^slipway-/.test(name));

it('leaves nothing after the next run', async () => {
  const first = publish('1.0.0', await build('1.0.0', LIBRARY));
  expect(await first.ended).toMatchObject({ code: 0 });
  const next = await build('1.1.0', editedBytes(LIBRARY, 3, 'next'));
  const killed = publish('1.1.0', next);
  await expect
    .poll(left, { interval: 5 })
    .toContainEqual(expect.stringMatching(/^slipway-deltas-.*-from\.nupkg$/));
  killed.kill();
  expect(await killed.ended).toMatchObject({ code: null });
  expect(await left()).not.toEqual([]);
  expect(await publish('1.1.0', next).ended).toMatchObject({ code: 0 });
  expect(await left()).toEqual([]);
});
