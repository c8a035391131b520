import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { slipway } from '../../cli/support.ts';
import { gitRemote, writeProject } from '../../support/project-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Projects on disk, for tests of `slipway init`. */

const directories: Awaited<ReturnType<typeof makeTemporaryDirectory>>[] = [];
/** At the end of each test. */
export async function removeProjects(): Promise<void> {
  for (const directory of directories.splice(0)) await directory.remove();
}

export const ELECTRON = {
  ...gitRemote('git@github.com:acme/notes.git'),
  'package.json': {
    name: 'notes',
    productName: 'Acme Notes',
    version: '1.4.0',
    build: { appId: 'com.acme.notes', win: {}, linux: {} },
  },
  'package-lock.json': '{}',
};

export async function project(files: Readonly<Record<string, string | object>> = ELECTRON) {
  const directory = await makeTemporaryDirectory();
  directories.push(directory);
  await writeProject(directory.path, files);
  const at = (name: string) => path.join(directory.path, name);
  return {
    path: directory.path,
    read: (name: string) => readFile(at(name), 'utf8'),
    names: () => readdir(directory.path),
    at,
    /** Without a terminal, unless the publisher types something. */
    init: (words: readonly string[], typed?: string) =>
      slipway(['init', ...words], {
        cwd: directory.path,
        ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
      }),
  };
}

export const BUCKET = ['--bucket', 'releases', '--region', 'eu-central-1'];

const csproj = (more: string) =>
  `<Project><PropertyGroup><OutputType>WinExe</OutputType><TargetFramework>net9.0</TargetFramework>${more}</PropertyGroup></Project>`;
/** A project of each build tool. */
export const PROJECTS: Readonly<Record<string, Readonly<Record<string, string | object>>>> = {
  'electron-builder': { ...ELECTRON, 'yarn.lock': '' },
  'electron-forge': {
    'package.json': { name: 'notes', scripts: { make: 'electron-forge make' } },
    'pnpm-lock.yaml': '',
  },
  tauri: {
    'package.json': { name: 'notes', scripts: { tauri: 'tauri' } },
    'package-lock.json': '{}',
    'src-tauri/tauri.conf.json': { identifier: 'com.acme.notes', version: '1.0.0' },
  },
  'tauri with Cargo': { 'tauri.conf.json': { package: {}, tauri: { bundle: {} } } },
  velopack: {
    'src/My App.csproj': csproj(
      '<RuntimeIdentifiers>win-x64;win-arm64;linux-x64</RuntimeIdentifiers></PropertyGroup><ItemGroup><PackageReference Include="Velopack"/></ItemGroup><PropertyGroup>',
    ),
  },
  'velopack in JavaScript': {
    'package.json': { name: 'notes', dependencies: { velopack: '1' } },
    'bun.lock': '',
  },
  dotnet: { 'Notes.csproj': csproj('') },
  sparkle: { 'appcast.xml': '<rss/>' },
  nothing: { 'README.md': '' },
};
