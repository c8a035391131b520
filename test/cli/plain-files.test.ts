import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import { ENDLESS_FILES, expectPlainFile, makeEndlessFiles } from './endless-files.ts';
import { slipway } from './support.ts';

/** Files that never end: a pipe without a writer, links to devices, a socket, a file of the system that blocks. */

const FILE = 'App.AppImage,os=linux,arch=x64,format=appimage';
let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let socket: Server;
const at = (name: string): string => path.join(directory.path, name);

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  socket = await makeEndlessFiles(directory.path);
  await writeFile(at('App.AppImage'), 'bytes');
  await slipway(['publish', '0.9.0', FILE, '--create'], { cwd: directory.path });
});
afterAll(async () => {
  socket.close();
  await directory.remove();
});

/** Every option and argument that names a file. */
const READERS: Readonly<Record<string, (file: string) => readonly string[]>> = {
  'publish PATH': (file) => ['publish', '1.0.0', `${file},os=linux,format=appimage`, '--create'],
  'publish --notes-file': (file) => ['publish', '1.0.0', FILE, '--create', '--notes-file', file],
  'import PATH': (file) => ['import', file],
  'import PATH --from': (file) => ['import', file, '--from', 'github'],
  'apps set --tauri-pubkey': (file) => ['apps', 'set', '--tauri-pubkey', file],
  'apps set --sparkle-pubkey': (file) => ['apps', 'set', '--sparkle-pubkey', file],
  'copy --from-env': (file) => ['copy', 's3://bucket', './copy', '--from-env', file],
};

describe.each(Object.entries(READERS))('%s', (name, words) => {
  const kinds = ENDLESS_FILES.filter((kind) => kind !== 'folder' || !/PATH/.test(name));
  it.each(kinds)('refuses a %s at once, with a sentence', (kind) =>
    expectPlainFile(directory.path, words(kind)),
  );
});

describe('a directory with a pipe, a device and a socket in it', () => {
  it('is published without them, and says so', async () => {
    const build = at('build');
    await mkdir(build);
    await writeFile(path.join(build, 'App-1.1.0.AppImage'), 'bytes');
    for (const name of ['latest.yml', 'App-1.1.0.AppImage.sig', 'RELEASES', 'appcast.xml']) {
      execFileSync('mkfifo', [path.join(build, name)]);
    }
    await symlink('/dev/zero', path.join(build, 'App-1.1.0.AppImage.zsync'));
    for (const named of ['build', 'build/App-1.1.0.AppImage']) {
      const words = ['publish', '1.1.0', named, '--create', '--json', '--dry-run'];
      const { code, stdout } = await slipway(words, { cwd: directory.path });
      expect(code).toBe(0);
      expect(stdout).toContain('not a regular file');
      expect(stdout).toContain('a link, which is not followed');
    }
  });

  it('is recognized as no update server', async () => {
    const { code, stderr } = await slipway(['import', 'build'], { cwd: directory.path });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/No files of a known update server/)]);
  });
});

it.each(['package.json', 'electron-builder.yml', 'Tauri.toml', '.gitlab-ci.yml'])(
  'slipway init refuses a project whose %s is a pipe or a device',
  async (name) => {
    for (const kind of ['pipe', 'zero']) {
      const project = at(`${kind}-${name}`);
      await mkdir(project);
      const others = name === 'package.json' ? [] : ['package.json'];
      for (const other of others) {
        const text = '{"devDependencies":{"electron-builder":"1"}}';
        await writeFile(path.join(project, other), text);
      }
      await symlink(at(kind), path.join(project, name));
      const { code, stderr } = await slipway(['init', '--yes', '--dry-run'], { cwd: project });
      // The command only reads stages from another pipeline, so a pipe in its place does not stop it.
      if (name === '.gitlab-ci.yml') expect(code).toBe(0);
      else
        expect([code, stderr]).toEqual([2, expect.stringContaining('only plain files are read')]);
    }
  },
);
