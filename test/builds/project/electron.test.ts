import { afterEach, describe, expect, it } from 'vitest';
import type { FoundTool } from '../../../src/builds/project/project.ts';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { targetName } from '../../../src/domain/target.ts';
import { writeProject } from '../../support/project-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Electron projects, with configurations as the templates and documents of their build tools have them. */

const directories: Awaited<ReturnType<typeof makeTemporaryDirectory>>[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await directory.remove();
});

async function read(files: Readonly<Record<string, string | object>>) {
  const directory = await makeTemporaryDirectory();
  directories.push(directory);
  await writeProject(directory.path, files);
  return readProject(directory.path);
}

async function toolOf(files: Readonly<Record<string, string | object>>): Promise<FoundTool> {
  const { tool } = await read(files);
  if (tool === undefined) throw new Error('No tool was found.');
  return tool;
}

const targetsOf = (tool: FoundTool) => tool.targets.map(targetName).join(' ');
/** A macro of electron-builder. */
const VERSIONED = `release/\${version}`;
const MANIFEST = {
  name: 'notes',
  version: '1.4.0',
  devDependencies: { 'electron-builder': '^26' },
};

describe('electron-builder', () => {
  it('with everything in package.json', async () => {
    const project = await read({
      'package.json': {
        ...MANIFEST,
        name: '@acme/notes-desktop',
        scripts: { build: 'tsc', dist: 'electron-builder -mwl' },
        build: {
          appId: 'com.acme.notes',
          productName: 'Acme Notes',
          directories: { output: VERSIONED },
          win: { target: [{ target: 'nsis', arch: ['x64', 'arm64'] }, 'portable'] },
          mac: { target: { target: 'default', arch: 'universal' } },
        },
      },
      'package-lock.json': '{}',
    });
    expect(project.tool).toMatchObject({
      kind: 'electron-builder',
      shownBy: '"build" in package.json',
      output: 'release',
      platforms: ['windows', 'macos'],
      updaters: ['electron'],
      packsSettings: true,
    });
    expect(project.tool && targetsOf(project.tool)).toBe(
      'windows-x64 windows-arm64 macos-x64 macos-arm64',
    );
    expect(project.application).toEqual({
      text: 'acme-notes',
      source: 'the productName of "build" in package.json',
    });
    expect(project.version).toEqual({ text: '1.4.0', source: 'package.json' });
    expect(project.packages).toEqual({ name: 'npm', hasLockFile: true });
    expect(project.tool?.build).toEqual({
      kind: 'packages',
      runs: [
        { kind: 'script', name: 'build', arguments: [] },
        { kind: 'program', name: 'electron-builder', arguments: ['--publish', 'never'] },
      ],
    });
  });

  it('with YAML, as the template of electron-vite has it', async () => {
    const tool = await toolOf({
      'package.json': MANIFEST,
      'electron-builder.yml': `appId: com.electron.app
productName: notes
directories:
  buildResources: build
files:
  - '!**/.vscode/*'
  - '!{.env,.env.*,.npmrc,pnpm-lock.yaml}'
win:
  executableName: notes
nsis:
  artifactName: \${name}-\${version}-setup.\${ext}
mac:
  notarize: false
linux:
  target:
    - AppImage
    - snap
`,
    });
    expect(tool).toMatchObject({ shownBy: 'electron-builder.yml', output: 'dist' });
    expect(tool.packsSettings).toBe(false);
    expect(targetsOf(tool)).toBe('windows-x64 macos-arm64 linux-x64');
  });

  it('with JSON5 and comments', async () => {
    const tool = await toolOf({
      'package.json': MANIFEST,
      'electron-builder.json5': `// @see https://www.electron.build/configuration
{
\t$schema: "https://example.com/schema.json", /* not // a comment inside a text: */
  appId: 'YourAppID',
  productName: "It's:fine",
  directories: {output:"out/builder",},
  linux:{ target: [{ target: "AppImage", arch: ["arm64"] }] },
}
`,
    });
    expect(tool).toMatchObject({ output: 'out/builder', name: { text: "It's:fine" } });
    expect(targetsOf(tool)).toBe('linux-arm64');
  });

  it('with TOML', async () => {
    const tool = await toolOf({
      'package.json': MANIFEST,
      'electron-builder.toml': `appId = "com.acme.notes" # the id
productName = 'Acme "Notes"'

[directories]
output = "packed"

[mac]
target = [
  "dmg",
  "zip",
]

[[fileAssociations]]
ext = "note"
productName = "not this one"
`,
    });
    expect(tool).toMatchObject({ output: 'packed', name: { text: 'Acme "Notes"' } });
    expect(targetsOf(tool)).toBe('macos-arm64');
  });

  it.each([
    ['an object', 'module.exports = {', '};', ':', ','],
    ['exported constants', '', '', ' =', ';'],
  ])('with a program that has %s, which is never run', async (_form, begin, end, is, sep) => {
    const name = (key: string) => (begin === '' ? `export const ${key}` : key);
    const tool = await toolOf({
      'package.json': MANIFEST,
      'electron-builder.config.js': `throw new Error('This program must not run.');
// linux: { target: 'AppImage' }
${begin}
  ${name('productName')}${is} 'Notes for Work'${sep}
  ${name('directories')}${is} { buildResources: 'build', output: 'release' }${sep}
  ${name('win')}${is} { target: [{ target: 'nsis', arch: ['x64', 'arm64'] }], icon: { a: 1 } }${sep}
  ${name('mac')}${is} { target: ['dmg'] }${sep}
${end}
`,
    });
    expect(tool).toMatchObject({
      shownBy: 'electron-builder.config.js',
      output: 'release',
      name: { text: 'Notes for Work' },
    });
    expect(targetsOf(tool)).toBe('windows-x64 windows-arm64 macos-arm64');
  });

  it('with a path as Windows writes it', async () => {
    const { output } = await toolOf({
      'package.json': { ...MANIFEST, build: { directories: { output: '.\\build\\packed\\' } } },
    });
    expect(output).toBe('build/packed');
  });

  it('with a configuration that a script names, and without any', async () => {
    const named = await toolOf({
      'package.json': { ...MANIFEST, scripts: { pack: 'electron-builder --config build/mac.yml' } },
      'build/mac.yml': 'mac:\n  target: zip\n',
    });
    expect(named).toMatchObject({ shownBy: 'build/mac.yml', platforms: ['macos'] });
    expect(named.build).toMatchObject({
      runs: [{ arguments: ['--config', 'build/mac.yml', '--publish', 'never'] }],
    });
    const bare = await toolOf({
      'package.json': { ...MANIFEST, scripts: { 'build:win': 'electron-builder --win' } },
    });
    expect(bare).toMatchObject({ shownBy: 'package.json', platforms: ['windows'], output: 'dist' });
  });

  it('packs by the script "build", when that ends with electron-builder', async () => {
    const { build } = await toolOf({
      'package.json': { ...MANIFEST, scripts: { build: 'vite build && electron-builder' } },
    });
    expect(build).toMatchObject({
      runs: [{ kind: 'script', name: 'build', arguments: ['--publish', 'never'] }],
    });
  });

  it('is not taken from the "build" of another tool', async () => {
    const { tool } = await read({ 'package.json': { name: 'x', build: { target: 'es2022' } } });
    expect(tool).toBeUndefined();
  });
});

describe('Electron Forge', () => {
  const FORGE = { name: 'notes', devDependencies: { '@electron-forge/cli': '^7.8.0' } };

  it('with its template for TypeScript', async () => {
    const tool = await toolOf({
      'package.json': { ...FORGE, scripts: { make: 'electron-forge make' } },
      'forge.config.ts': `import { MakerSquirrel } from '@electron-forge/maker-squirrel';
import { MakerZIP } from '@electron-forge/maker-zip';
const config: ForgeConfig = {
  packagerConfig: { asar: true, name: 'Acme Notes' },
  makers: [new MakerSquirrel({}), new MakerZIP({}, ['darwin'])],
};
export default config;
`,
    });
    expect(tool).toMatchObject({
      kind: 'electron-forge',
      shownBy: 'forge.config.ts',
      output: 'out/make',
      platforms: ['windows', 'macos'],
      name: { text: 'Acme Notes' },
      updaters: ['squirrel-windows', 'squirrel-mac'],
      build: { runs: [{ kind: 'script', name: 'make' }] },
    });
    expect(targetsOf(tool)).toBe('windows-x64 macos-arm64');
  });

  it('with makers in JavaScript and another output', async () => {
    const tool = await toolOf({
      'package.json': { ...FORGE, dependencies: { 'electron-updater': '^6' } },
      'forge.config.js': `module.exports = {
  outDir: './build/out',
  makers: [
    { name: '@electron-forge/maker-zip', platforms: ['darwin', 'linux'] },
    { name: '@electron-forge/maker-deb', config: {} },
  ],
};`,
    });
    expect(tool).toMatchObject({
      output: 'build/out/make',
      platforms: ['macos', 'linux'],
      updaters: ['electron'],
      build: { runs: [{ kind: 'program', name: 'electron-forge', arguments: ['make'] }] },
    });
  });

  it('with its configuration in package.json', async () => {
    const tool = await toolOf({
      'package.json': {
        ...FORGE,
        config: {
          forge: {
            buildIdentifier: 'beta',
            makers: [
              { name: '@electron-forge/maker-msix', platforms: ['win32'] },
              { name: '@electron-forge/maker-constructor' },
            ],
          },
        },
      },
    });
    expect(tool).toMatchObject({ shownBy: '"config.forge" in package.json', output: 'out' });
    expect(tool.updaters).toContain('msix');
  });

  it('is second when electron-builder is there too', async () => {
    const { tool, others } = await read({
      'package.json': { ...FORGE, devDependencies: { 'electron-builder': '^26' } },
      'forge.config.cjs': '',
    });
    expect(tool?.kind).toBe('electron-builder');
    expect(others.map(({ kind }) => kind)).toEqual(['electron-forge']);
  });
});

describe('the package manager', () => {
  it.each([
    ['yarn.lock', 'yarn'],
    ['pnpm-lock.yaml', 'pnpm'],
    ['bun.lock', 'bun'],
  ])('%s is of %s', async (file, name) => {
    const { packages } = await read({ 'package.json': MANIFEST, [file]: '' });
    expect(packages).toEqual({ name, hasLockFile: true });
  });
});
