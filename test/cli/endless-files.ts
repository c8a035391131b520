import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { slipway } from './support.ts';

/** Files that no command may read: most of them never end. */
export const ENDLESS_FILES = ['zero', 'link', 'socket', 'folder'] as const;

/** Makes each of {@link ENDLESS_FILES} in a directory. The test closes the server, which listens at the socket. */
export async function makeEndlessFiles(directory: string): Promise<Server> {
  const at = (name: (typeof ENDLESS_FILES)[number]): string => path.join(directory, name);
  await symlink('/dev/zero', at('zero'));
  await symlink(at('zero'), at('link'));
  await mkdir(at('folder'));
  return listenAt(at('socket'));
}

/** Makes the file of a socket. The test closes the server. */
export async function listenAt(file: string): Promise<Server> {
  const socket = createServer();
  await new Promise<void>((resolve) => {
    socket.listen(file, resolve);
  });
  return socket;
}

/** A release, so that a command finds an application. */
export async function publishFirst(cwd: string): Promise<void> {
  await writeFile(path.join(cwd, 'App.AppImage'), 'bytes');
  await slipway(['publish', '0.9.0', FILE, '--create'], { cwd });
}

const FILE = 'App.AppImage,os=linux,arch=x64,format=appimage';

/** Every option and argument that names a file. */
export const FILE_OPTIONS: Readonly<Record<string, (file: string) => readonly string[]>> = {
  'publish PATH': (file) => ['publish', '1.0.0', `${file},os=linux,format=appimage`, '--create'],
  'publish --notes-file': (file) => ['publish', '1.0.0', FILE, '--create', '--notes-file', file],
  'import PATH': (file) => ['import', file],
  'import PATH --from': (file) => ['import', file, '--from', 'github'],
  'apps set --tauri-pubkey': (file) => ['apps', 'set', '--tauri-pubkey', file],
  'apps set --sparkle-pubkey': (file) => ['apps', 'set', '--sparkle-pubkey', file],
  'copy --from-env': (file) => ['copy', 's3://bucket', './copy', '--from-env', file],
};

/** Expects that a command refuses its file at once, with a sentence. */
export async function expectPlainFile(cwd: string, words: readonly string[]): Promise<void> {
  const { code, stderr } = await slipway(words, { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/only plain files are read|neither a file nor a directory/);
}

/** Makes the folder `build` with a file to publish, beside files that cannot be read: `make` makes one. */
export async function expectPublishedWithout(
  cwd: string,
  make: (file: string) => unknown,
): Promise<void> {
  const build = path.join(cwd, 'build');
  await mkdir(build);
  await writeFile(path.join(build, 'App-1.1.0.AppImage'), 'bytes');
  for (const name of ['latest.yml', 'App-1.1.0.AppImage.sig', 'RELEASES', 'appcast.xml']) {
    await make(path.join(build, name));
  }
  await symlink('/dev/zero', path.join(build, 'App-1.1.0.AppImage.zsync'));
  for (const named of ['build', 'build/App-1.1.0.AppImage']) {
    const words = ['publish', '1.1.0', named, '--create', '--json', '--dry-run'];
    const { code, stdout, stderr } = await slipway(words, { cwd });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain('not a regular file');
    expect(stdout).toContain('a link, which is not followed');
  }
  const { code, stderr } = await slipway(['import', 'build'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/No files of a known update server/)]);
}

/** Projects whose files are such files: links to `target`. */
export function itRefusesProjects(kind: string, target: () => string): void {
  it.each(['package.json', 'electron-builder.yml', 'Tauri.toml', '.gitlab-ci.yml'])(
    `slipway init refuses a project whose %s is a ${kind}`,
    async (name) => {
      const project = `${target()}-${name}`;
      await mkdir(project);
      const others = name === 'package.json' ? [] : ['package.json'];
      for (const other of others) {
        const text = '{"devDependencies":{"electron-builder":"1"}}';
        await writeFile(path.join(project, other), text);
      }
      await symlink(target(), path.join(project, name));
      const { code, stderr } = await slipway(['init', '--yes', '--dry-run'], { cwd: project });
      // The command only reads stages from another pipeline, so such a file in its place does not stop it.
      if (name === '.gitlab-ci.yml') expect(code).toBe(0);
      else
        expect([code, stderr]).toEqual([2, expect.stringContaining('only plain files are read')]);
    },
  );
}
