import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { blockmapOf } from '../../support/electron-build.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The warnings of `slipway publish`, and the column of `slipway show`, about block maps. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = (...words: string[]) => slipway(words, { cwd: directory.path });

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
});

afterEach(() => directory.remove());

async function publish(version: string, hasMap: boolean, ...options: string[]) {
  const name = `App-Setup-${version}.exe`;
  const dist = path.join(directory.path, 'dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  await writeFile(path.join(dist, name), version);
  const map = await blockmapOf(Buffer.from(version));
  if (hasMap) await writeFile(path.join(dist, `${name}.blockmap`), map);
  const file = `dist/${name},os=windows,arch=x64,format=nsis`;
  return run('publish', version, file, '--create', ...options);
}

it('says which files can be downloaded differentially', async () => {
  const { stdout } = await publish('1.0.0', true);
  expect(stdout).toMatch(/App-Setup-1\.0\.0\.exe +5 B +uploaded, differential/);
  expect((await run('show', '1.0.0')).stdout).toMatch(/App-Setup-1\.0\.0\.exe +5 B +yes/);
  expect(json(await publish('2.0.0', false, '--json'))).toMatchObject({
    artifacts: [{ filename: 'App-Setup-2.0.0.exe', differential: true }],
    repairs: [{ filename: 'App-Setup-2.0.0.exe', kind: 'blockmap_made' }],
  });
});

it('warns of a build without latest.yml, whose application would not find its updates', async () => {
  await publish('1.0.0', true);
  const again = ['publish', '1.0.0', 'dist', '--channel', 'beta', '--create', '--json'];
  expect(json(await run(...again)).warnings).toEqual([
    expect.stringMatching(
      /^Warning: there is no latest\*\.yml beside App-Setup-1\.0\.0\.exe\. .*"publish"/,
    ),
  ]);
  const sha512 = createHash('sha512').update('1.0.0').digest('base64');
  const feed = `version: 1.0.0\nfiles:\n  - url: App-Setup-1.0.0.exe\n    sha512: ${sha512}\n    size: 5\n`;
  await writeFile(path.join(directory.path, 'dist', 'latest.yml'), feed);
  expect(json(await run(...again)).warnings).toEqual([]);
});

it('makes a missing block map, and makes the map of other bytes again', async () => {
  const dist = path.join(directory.path, 'dist');
  await mkdir(dist);
  await writeFile(path.join(dist, 'builder-debug.yml'), '');
  await writeFile(path.join(dist, 'App-Setup-1.0.0.exe'), 'program');
  const publishAgain = (channel: string) =>
    run('publish', '1.0.0', 'dist', '--channel', channel, '--create', '--json');
  const made = json(await publishAgain('stable'));
  expect(made).toMatchObject({
    repairs: [{ filename: 'App-Setup-1.0.0.exe', kind: 'blockmap_made' }],
    artifacts: [{ differential: true }],
  });
  const { stdout } = await run('publish', '1.0.0', 'dist', '--channel', 'stable');
  expect(stdout).toMatch(/^Nothing to do: /);
  expect(stdout).not.toContain('Made App-Setup');
  const stale = await blockmapOf(Buffer.from('longer program'));
  await writeFile(path.join(dist, 'App-Setup-1.0.0.exe.blockmap'), stale);
  const again = json(await publishAgain('beta'));
  expect(again).toMatchObject({
    // The release has the right map already.
    repairs: [],
    manifest: made.manifest,
  });
});

it('says that it made the map of a build again whose map cannot be read', async () => {
  const dist = path.join(directory.path, 'dist');
  await mkdir(dist);
  await writeFile(path.join(dist, 'builder-debug.yml'), '');
  await writeFile(path.join(dist, 'App-Setup-1.0.0.exe'), 'program');
  const map = await blockmapOf(Buffer.from('program'));
  await writeFile(path.join(dist, 'App-Setup-1.0.0.exe.blockmap'), map.subarray(0, -9));
  const { code, stdout } = await run('publish', '1.0.0', 'dist', '--create');
  expect([code, stdout]).toEqual([0, expect.stringContaining('uploaded, differential')]);
  expect(stdout).toContain(
    'Made App-Setup-1.0.0.exe.blockmap again: the map that the build wrote cannot be read.',
  );
  expect(stdout).not.toContain('did not write');
});

it('names --rezip for a zip for macOS that updates a published one, and not for others', async () => {
  const NOTE = /^Note: a change in one script makes clients download most of .* With --rezip/m;
  const zip = async (version: string, ...options: string[]) => {
    await writeFile(path.join(directory.path, `App-${version}-mac.zip`), version);
    const file = `App-${version}-mac.zip,os=macos,arch=x64,format=zip`;
    const { code, stdout } = await run('publish', version, file, '--create', ...options);
    expect(code).toBe(0);
    return stdout;
  };
  expect(await zip('1.0.0')).not.toMatch(NOTE);
  expect(await zip('1.1.0')).toMatch(NOTE);
  // Nothing is published.
  expect(await zip('1.1.0')).not.toMatch(NOTE);
  expect((await publish('1.2.0', false)).stdout).not.toMatch(NOTE);
});

it('only notes a program of its own format, which is for an updater of its own', async () => {
  await writeFile(path.join(directory.path, 'hello.mjs'), 'program');
  const file = 'hello.mjs,os=linux,arch=x64,format=binary';
  const { stdout } = await run('publish', '1.0.0', file, '--create');
  expect(stdout).toContain(
    'Note: no updater feed can serve binary for linux-x64. Downloads and check-update offer it, for an updater of your own.',
  );
  expect(stdout).not.toContain('Warning');
});
