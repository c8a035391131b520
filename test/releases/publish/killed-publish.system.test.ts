import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pe, zip } from '../../builds/materialize.ts';
import { editedBytes, seededBytes } from '../../support/electron-build.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** `slipway publish` is killed with SIGKILL while it makes a delta. The next run removes what that one left. */

const root = await makeTemporaryDirectory();
afterAll(() => root.remove());
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

function publish(version: string, file: string) {
  const artifact = `${file},os=windows,arch=x64,format=velopack`;
  const args = [SLIPWAY, 'publish', version, artifact, '--app', 'desktop', '--create', '--yes'];
  args.push('--deltas', '3');
  const env = {
    ...process.env,
    DATA_DIR: path.join(root.path, 'data'),
    ...{ TMPDIR: TEMPORARY, TEMP: TEMPORARY, TMP: TEMPORARY },
  };
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

const left = async () =>
  (await readdir(TEMPORARY, { recursive: true })).filter((name) => /^slipway-/.test(name));

it('leaves nothing after the next run', async () => {
  const first = publish('1.0.0', await build('1.0.0', LIBRARY));
  expect((await once(first, 'close'))[0]).toBe(0);
  const next = await build('1.1.0', editedBytes(LIBRARY, 3, 'next'));
  const killed = publish('1.1.0', next);
  await expect
    .poll(left, { interval: 5 })
    .toContainEqual(expect.stringMatching(/^slipway-deltas-.*-from\.nupkg$/));
  killed.kill('SIGKILL');
  await once(killed, 'close');
  expect(await left()).not.toEqual([]);
  expect((await once(publish('1.1.0', next), 'close'))[0]).toBe(0);
  expect(await left()).toEqual([]);
});
