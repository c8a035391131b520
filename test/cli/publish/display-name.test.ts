import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { chooseDisplayName } from '../../../src/releases/publish/display-name.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The display name that the first publish gives an application. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const inside = (...names: string[]) => path.join(directory.path, ...names);
const run = async (...words: string[]) => {
  const finished = await slipway(words, { cwd: directory.path });
  expect([finished.code, finished.stderr]).toEqual([0, '']);
  return finished;
};
const storedName = async (): Promise<string | null> =>
  json(await run('apps', '--json')).apps[0].settings.display_name;

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
});
afterEach(() => directory.remove());

async function macBuild(version: string, name: string): Promise<string> {
  const zip = new ZipFile();
  const plist = `<plist><dict><key>CFBundleName</key><string>${name}</string></dict></plist>`;
  zip.addBuffer(Buffer.from(plist), 'App.app/Contents/Info.plist');
  zip.end();
  const file = `App-${version}-mac.zip`;
  await pipeline(zip.outputStream, createWriteStream(inside(file)));
  return `${file},os=macos,arch=arm64,format=zip`;
}

/** A program whose version has a product name. */
async function windowsBuild(version: string, name: string): Promise<string> {
  const head = Buffer.alloc(1024);
  head.write('MZ');
  head.writeUInt32LE(0x80, 0x3c);
  head.write('PE\0\0', 0x80);
  head.writeUInt16LE(1, 0x86);
  head.write('.rsrc\0', 0x98);
  const facts = Buffer.from(`ProductName\0${name}\0`, 'utf16le');
  head.writeUInt32LE(facts.length, 0x98 + 16);
  head.writeUInt32LE(head.length, 0x98 + 20);
  const file = `App-Setup-${version}.exe`;
  await writeFile(inside(file), Buffer.concat([head, facts]));
  return `${file},os=windows,arch=x64,format=nsis`;
}

async function linuxBuild(version: string): Promise<string> {
  await writeFile(inside(`${version}.deb`), version);
  return `${version}.deb,os=linux,arch=x64,format=deb`;
}

it.each([
  ['macOS', () => macBuild('1.0.0', 'Acme &amp; Notes'), 'Acme & Notes', 'App-1.0.0-mac.zip'],
  ['Windows', () => windowsBuild('1.0.0', 'Acme Notes'), 'Acme Notes', 'App-Setup-1.0.0.exe'],
])('is the product name in a build for %s', async (_platform, build, name, filename) => {
  const { stdout } = await run('publish', '1.0.0', await build(), '--create');
  expect(stdout).toContain(
    `Its display name is "${name}", by the product name in ${filename}. To change it: slipway apps set --display-name NAME.\n`,
  );
  expect(await storedName()).toBe(name);
});

describe('without a name in the build', () => {
  const manifest = { name: 'acme-notes', productName: 'Acme Notes' };

  it('is the productName of the project whose application it is', async () => {
    await writeFile(inside('package.json'), JSON.stringify(manifest));
    const words = ['publish', '1.0.0', await linuxBuild('1.0.0'), '--create'];
    const done = await run(...words, '--app', 'acme-notes', '--json');
    expect(json(done).display_name).toBe('Acme Notes');
    expect(await storedName()).toBe('Acme Notes');
  });

  it('is not the name of another project, in whose directory the command runs', async () => {
    await writeFile(inside('package.json'), JSON.stringify(manifest));
    const { stdout } = await run('publish', '1.0.0', await linuxBuild('1.0.0'), '--create');
    expect(stdout).not.toContain('display name');
    expect(await storedName()).toBeNull();
  });
});

it('never changes for an application that exists', async () => {
  await run('publish', '1.0.0', await linuxBuild('1.0.0'), '--create');
  const { stdout } = await run('publish', '1.1.0', await macBuild('1.1.0', 'Acme'), '--create');
  expect(stdout).not.toContain('display name');
  expect(await storedName()).toBeNull();
  await run('apps', 'set', '--display-name', 'Chosen');
  await run('publish', '1.2.0', await macBuild('1.2.0', 'Acme'), '--create');
  expect(await storedName()).toBe('Chosen');
});

it('is shown by init, which reads it for the first publish', async () => {
  await mkdir(inside('project'));
  const manifest = { name: 'acme-notes', productName: 'Acme Notes', version: '1.0.0' };
  await writeFile(inside('project', 'package.json'), JSON.stringify(manifest));
  const { stdout } = await run('init', 'project', '--ci', 'none');
  expect(stdout).toMatch(
    /display name +Acme Notes, by the productName of package\.json; the first publish stores it\n/,
  );
});

describe('of the names that files state', () => {
  const source = 'a file';
  it.each([
    ['Harbor', 'Harbor'],
    ['  Harbor ', 'Harbor'],
    ['desktop', undefined],
    ['', undefined],
    ['a\u202eb', undefined],
    ['x'.repeat(81), undefined],
  ])('%j gives %j', (text, name) => {
    expect(chooseDisplayName('desktop', [{ text, source }])?.text).toBe(name);
  });

  it('the first that can be stored counts', () => {
    const names = ['', 'Harbor', 'Other'].map((text) => ({ text, source }));
    expect(chooseDisplayName('desktop', names)?.text).toBe('Harbor');
  });
});
