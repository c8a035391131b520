import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { applicationNameOf } from '../../../src/builds/project/application-name.ts';
import { findMonorepo } from '../../../src/builds/project/monorepo.ts';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { gitRemote, writeProject } from '../../support/project-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** These tests hold for every project: its name, its repository and CI, and files that are broken or hostile. */

const directories: Awaited<ReturnType<typeof makeTemporaryDirectory>>[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await directory.remove();
});

async function make(files: Readonly<Record<string, string | object>>): Promise<string> {
  const directory = await makeTemporaryDirectory();
  directories.push(directory);
  await writeProject(directory.path, files);
  return directory.path;
}

describe('the name of the application', () => {
  it.each([
    ['My App', 'my-app'],
    ['@acme/notes-desktop', 'notes-desktop'],
    ['Éditeur – Pro!', 'editeur-pro'],
    ['..weird__name..', 'weird__name'],
    ['a'.repeat(80), 'a'.repeat(64)],
  ])('of %s is %s', (text, name) => {
    expect(applicationNameOf([{ text, source: 'x' }])?.text).toBe(name);
  });

  it('is the next one when a name has no usable letters, or is reserved', () => {
    const names = ['微信', 'download', 'Windows', 'notes'].map((text) => ({ text, source: text }));
    expect(applicationNameOf(names)).toEqual({ text: 'notes', source: 'notes' });
  });

  it('is the default of the settings when no file names it', async () => {
    const { application, tool, version } = await readProject(await make({ 'README.md': 'x' }));
    expect([application.text, tool, version]).toEqual(['desktop', undefined, undefined]);
  });
});

describe('the CI service', () => {
  const ciOf = async (files: Readonly<Record<string, string>>) =>
    (await readProject(await make(files))).ci;

  it.each([
    ['git@github.com:acme/notes.git', 'github'],
    ['https://github.example.com/acme/notes', 'github'],
    ['ssh://git@gitlab.com/acme/notes.git', 'gitlab'],
    ['https://user:secret@gitlab.example.com/acme/notes.git', 'gitlab'],
    ['https://github.com.example.com.evil/x', 'github'],
    ['https://bitbucket.org/github/notes.git', undefined],
    ['C:\\repositories\\github', undefined],
  ])('of the remote %s is %s', async (url, kind) => {
    expect((await ciOf(gitRemote(url))).kind).toBe(kind);
  });

  it('is that of its files without a remote that says it', async () => {
    expect(await ciOf({ '.github/dependabot.yml': 'version: 2' })).toMatchObject({
      kind: 'github',
      shownBy: '.github',
    });
    const gitlab = await ciOf({
      '.gitlab-ci.yml': 'stages: [test, ship]\njob:\n  script: !reference [x, y]\n',
    });
    expect(gitlab).toMatchObject({ kind: 'gitlab', lastStage: 'ship', publishing: [] });
  });

  it('may publish with Slipway already', async () => {
    const { publishing } = await ciOf({
      '.github/workflows/release.yml': 'run: slipway publish 1.0.0 dist',
      '.github/workflows/test.yml': 'run: npm test',
    });
    expect(publishing).toEqual(['.github/workflows/release.yml']);
  });
});

describe('a monorepo', () => {
  it('has the CI and the lock file at its root, and the tool in a package', async () => {
    const root = await make({
      ...gitRemote('git@github.com:acme/notes.git'),
      'package.json': { name: 'monorepo', workspaces: ['apps/*'] },
      'pnpm-lock.yaml': '',
      'apps/desktop/package.json': { name: 'desktop-notes', version: '1.0.0' },
      'apps/desktop/electron-builder.yml': 'win: {}',
      'apps/web/package.json': { name: 'web' },
      'packages/broken/package.json': '{',
    });
    expect(await findMonorepo(await readProject(root))).toEqual({
      shownBy: '"workspaces" in package.json',
      applications: ['apps/desktop'],
    });
    const project = await readProject(path.join(root, 'apps/desktop'));
    expect(project).toMatchObject({ root, packages: { name: 'pnpm' }, ci: { kind: 'github' } });
  });
});

describe('the root of a monorepo', () => {
  const found = async (files: Readonly<Record<string, string | object>>) =>
    findMonorepo(await readProject(await make(files)));
  const ELECTRON = { 'package.json': { name: 'x', devDependencies: { electron: '1' } } };
  const at = (folder: string) =>
    Object.fromEntries(Object.entries(ELECTRON).map(([name, text]) => [`${folder}/${name}`, text]));

  it.each(['pnpm-workspace.yaml', 'turbo.json', 'nx.json', 'lerna.json'])(
    'is shown by %s, wherever the application is',
    async (marker) => {
      const files = { 'package.json': { name: 'all' }, [marker]: '{}', 'libs/ui/package.json': {} };
      expect(await found(files)).toEqual({ shownBy: marker, applications: [] });
      const applications = {
        ...at('products/desktop/shell'),
        'apps/notes/src-tauri/tauri.conf.json': { identifier: 'com.acme.notes' },
        'apps/wails/wails.json': { name: 'w' },
        'apps/flutter/pubspec.yaml': 'name: f\n',
        'apps/flutter/windows/CMakeLists.txt': '',
        'apps/phone/pubspec.yaml': 'name: p\n',
      };
      expect((await found({ ...files, ...applications }))?.applications.toSorted()).toEqual([
        'apps/flutter',
        'apps/notes',
        'apps/wails',
        'products/desktop/shell',
      ]);
    },
  );

  it('may have the build tool installed for its packages, but not its configuration', async () => {
    const own = {
      name: 'all',
      workspaces: ['apps/*'],
      devDependencies: { 'electron-builder': '26' },
    };
    const files = { 'package.json': own, ...at('apps/desktop') };
    expect((await found(files))?.applications).toEqual(['apps/desktop']);
    expect(await found({ ...files, 'electron-builder.yml': 'win: {}' })).toBeUndefined();
    expect(await found({ 'package.json': own })).toBeUndefined();
  });

  it('is no project of its own with an example in it', async () => {
    expect(await found({ 'CMakeLists.txt': '', ...at('examples/electron') })).toBeUndefined();
    expect((await found(at('packages/desktop')))?.applications).toEqual(['packages/desktop']);
  });
});

describe('files that are not what their names say', () => {
  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    [
      'package.json',
      '{ "name": "x"\n  "version": "1" }',
      /package\.json: it is not valid JSON \(line 2, column 3\)\./,
    ],
    ['package.json', '[]', /package\.json: it is not an object\. Correct it/],
    ['package.json', '{ name: "json5" }', /package\.json: it is not valid JSON/],
    ['electron-builder.yml', 'a: [1', /electron-builder\.yml: it is not valid YAML \(line \d/],
    ['electron-builder.json5', '{ a: ', /electron-builder\.json5: it is not valid JSON/],
    ['src-tauri/tauri.conf.json', 'x', /tauri\.conf\.json: it is not valid JSON/],
    [
      'App.csproj',
      '<Project><a></Project>',
      /App\.csproj: The text is not well-formed XML: line 1/,
    ],
    ['App.csproj', '<!DOCTYPE x [<!ENTITY a "b">]><Project/>', /DOCTYPE/],
    [
      'package.json',
      `{"a":"${'x'.repeat(1024 * 1024)}"}`,
      /it has more than the \d+ bytes that a configuration may have/,
    ],
  ];

  it.each(REFUSED)('%s is refused with a sentence', async (file, text, message) => {
    const directory = await make({ 'package.json': { name: 'x' }, [file]: text });
    await expect(readProject(directory)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(readProject(directory)).rejects.toThrow(message);
    await expect(readProject(directory)).rejects.toThrow(/^[^\n]*\.$/);
  });

  it('YAML whose aliases would grow without limit is refused', async () => {
    const levels = 'abcdefgh'.split('').map((name, at, all) => {
      const list =
        at === 0
          ? 'x'
          : Array(9)
              .fill(`*${all[at - 1]}`)
              .join(', ');
      return `${name}: &${name} [${list}]`;
    });
    const directory = await make({
      'package.json': { name: 'x' },
      'electron-builder.yml': levels.join('\n'),
    });
    await expect(readProject(directory)).rejects.toThrow(/it is not valid YAML/);
  });

  it('a directory that is missing, or a file, is refused', async () => {
    const directory = await make({ file: '' });
    await expect(readProject(path.join(directory, 'no'))).rejects.toThrow(/no such directory/);
    await expect(readProject(path.join(directory, 'file'))).rejects.toThrow(/not a directory/);
  });

  it.skipIf(process.platform === 'win32')('a link in a circle is not read', async () => {
    const directory = await make({ 'README.md': '' });
    await symlink('package.json', path.join(directory, 'package.json'));
    expect((await readProject(directory)).tool).toBeUndefined();
  });

  it('names that mean something to a shell or to CI stay out of the files', async () => {
    const output = await make({
      'package.json': {
        name: 'x',
        build: { appId: 'x', directories: { output: 'out";curl evil"' } },
      },
    });
    const project = await readProject(output);
    expect(project.tool?.output).toBe('dist');
    expect(project.tool?.remarks.join(' ')).toMatch(/cannot contain safely/);
    const program = await make({
      'App.csproj':
        '<Project><PropertyGroup><OutputType>Exe</OutputType><AssemblyName>a`id`</AssemblyName></PropertyGroup></Project>',
    });
    expect((await readProject(program)).tool?.build).toEqual({ kind: 'own' });
  });
});
