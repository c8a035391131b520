import { afterEach, describe, expect, it } from 'vitest';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { targetName } from '../../../src/domain/target.ts';
import { writeProject } from '../../support/project-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** Projects of Tauri, Velopack, .NET and Sparkle, as their templates and documents have them. */

const directories: Awaited<ReturnType<typeof makeTemporaryDirectory>>[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await directory.remove();
});

async function read(files: Readonly<Record<string, string | object>>) {
  const directory = await makeTemporaryDirectory();
  directories.push(directory);
  await writeProject(directory.path, files);
  const project = await readProject(directory.path);
  return { ...project, targets: (project.tool?.targets ?? []).map(targetName).join(' ') };
}

const TAURI_2 = {
  $schema: 'https://schema.tauri.app/config/2',
  productName: 'Acme Notes',
  version: '0.1.0',
  identifier: 'com.acme.notes.app',
  build: { frontendDist: '../src' },
  app: { windows: [{ title: 'notes' }] },
  bundle: { active: true, targets: 'all' },
};
const TAURI_PACKAGE = {
  name: 'tauri-app',
  version: '0.0.0',
  scripts: { tauri: 'tauri' },
  devDependencies: { '@tauri-apps/cli': '^2' },
};

describe('Tauri', () => {
  it('2, as create-tauri-app makes it', async () => {
    const { tool, application, version, targets } = await read({
      'package.json': TAURI_PACKAGE,
      'src-tauri/tauri.conf.json': TAURI_2,
    });
    expect(tool).toMatchObject({
      kind: 'tauri',
      shownBy: 'src-tauri/tauri.conf.json',
      output: 'src-tauri/target/release/bundle',
      updaters: ['tauri'],
      build: { kind: 'tauri', major: 2, run: { kind: 'script', name: 'tauri' } },
    });
    expect(targets).toBe('windows-x64 macos-arm64 linux-x64');
    expect(application.text).toBe('acme-notes');
    expect(version).toEqual({ text: '0.1.0', source: 'src-tauri/tauri.conf.json' });
    expect(tool?.remarks.join(' ')).toMatch(/"createUpdaterArtifacts": true .* "pubkey"/);
  });

  it('2 with updates, a version in Cargo.toml, and the output of a workspace', async () => {
    const { tool, version } = await read({
      'Cargo.toml': '[workspace]\nmembers = ["src-tauri"]\n',
      'src-tauri/tauri.conf.json5': `{
  // no version: the version in Cargo.toml counts
  identifier: 'com.acme.notes',
  bundle: { createUpdaterArtifacts: true, targets: ['nsis', 'dmg'] },
  plugins: { updater: { pubkey: 'dW50cnVzdGVk' } },
}`,
      'src-tauri/Cargo.toml': '[package]\nname = "notes"\nversion = "2.1.0" # x\n',
    });
    expect(tool).toMatchObject({
      output: 'target/release/bundle',
      platforms: ['windows', 'macos'],
      publicKey: 'dW50cnVzdGVk',
      remarks: [],
      build: { run: undefined },
    });
    expect(version).toEqual({ text: '2.1.0', source: 'src-tauri/Cargo.toml' });
  });

  it('2 with Tauri.toml in kebab case, and the version of package.json', async () => {
    const { tool, application, version } = await read({
      'package.json': { ...TAURI_PACKAGE, version: '3.0.0' },
      'src-tauri/Tauri.toml': `product-name = "Acme Notes"
version = "../package.json"
identifier = "com.acme.notes"
[bundle]
create-updater-artifacts = true
targets = ["appimage", "deb"]
[plugins.updater]
pubkey = "key"
`,
    });
    expect(tool).toMatchObject({ platforms: ['linux'], publicKey: 'key', remarks: [] });
    expect(application.text).toBe('acme-notes');
    expect(version).toEqual({ text: '3.0.0', source: 'package.json' });
  });

  it('1 is recognized, with a word on its updater', async () => {
    const { tool, version } = await read({
      'src-tauri/tauri.conf.json': {
        package: { productName: 'notes', version: '1.0.0' },
        tauri: {
          bundle: { identifier: 'com.acme.notes', targets: ['msi'] },
          updater: { active: true, pubkey: 'key' },
        },
      },
    });
    expect(tool).toMatchObject({ build: { major: 1 }, platforms: ['windows'], publicKey: 'key' });
    expect(tool?.remarks).toEqual([expect.stringMatching(/^This is a project of Tauri 1\./)]);
    expect(version?.text).toBe('1.0.0');
  });
});

const csproj = (properties: string, packages: readonly string[] = []): string =>
  `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>WinExe</OutputType>
    ${properties}
  </PropertyGroup>
  <ItemGroup>
    ${packages.map((name) => `<PackageReference Include="${name}" Version="1.0.0" />`).join('\n    ')}
  </ItemGroup>
</Project>
`;

describe('Velopack and .NET', () => {
  it('a project file with Velopack, beside one of tests and one of a library', async () => {
    const { tool, application, version, targets } = await read({
      'src/Notes.Core/Notes.Core.csproj': '<Project Sdk="Microsoft.NET.Sdk" />',
      'src/Notes/Notes.csproj': `\uFEFF${csproj(
        '<TargetFramework>net8.0</TargetFramework><RuntimeIdentifiers>win-x64;win-arm64;osx-arm64</RuntimeIdentifiers><Version>2.3.4</Version><AssemblyName>AcmeNotes</AssemblyName>',
        ['Avalonia', 'velopack'],
      )}`,
      'test/Notes.Tests/Notes.Tests.csproj': csproj('', ['Microsoft.NET.Test.Sdk', 'Velopack']),
      'src/Notes/obj/Old.csproj': csproj('', ['Velopack']),
    });
    expect(tool).toMatchObject({
      kind: 'velopack',
      shownBy: 'src/Notes/Notes.csproj',
      output: 'Releases',
      updaters: ['velopack'],
      build: { program: 'AcmeNotes', packId: 'AcmeNotes', sdk: '8.0' },
    });
    expect(targets).toBe('windows-x64 windows-arm64 macos-arm64');
    expect(application.text).toBe('acmenotes');
    expect(version).toEqual({ text: '2.3.4', source: 'src/Notes/Notes.csproj' });
  });

  it('vpk in a CI file, with its id and its output', async () => {
    const { tool, targets } = await read({
      'Notes.csproj': csproj('<TargetFramework>net9.0-windows</TargetFramework>'),
      '.github/workflows/main.yml':
        'steps:\n  - run: |\n      vpk pack -u Acme.Notes -v $VERSION \\\n        -o ./artifacts -p publish\n',
    });
    expect(tool).toMatchObject({
      kind: 'velopack',
      shownBy: '.github/workflows/main.yml',
      output: 'artifacts',
      build: { packId: 'Acme.Notes', program: 'Notes' },
    });
    expect(targets).toBe('windows-x64');
  });

  it('the npm package', async () => {
    const { tool } = await read({
      'package.json': { name: 'notes', dependencies: { velopack: '^0.0.1053' } },
    });
    expect(tool).toMatchObject({ kind: 'velopack', build: { kind: 'vpk', packId: 'notes' } });
  });

  it('.NET alone, and with NetSparkle', async () => {
    const plain = await read({ 'Notes.csproj': csproj('<UseWPF>true</UseWPF>') });
    expect(plain.tool).toMatchObject({ kind: 'dotnet', output: 'publish', updaters: [] });
    expect(plain.tool?.build).toMatchObject({ packId: undefined, sdk: undefined });
    expect(plain.targets).toBe('windows-x64');
    const sparkle = await read({
      'Notes.csproj': csproj('', ['NetSparkleUpdater.SparkleUpdater']),
    });
    expect(sparkle.tool?.updaters).toEqual(['netsparkle']);
  });
});

describe('names and versions of the source', () => {
  it.each([
    ['Cargo.toml', '[package]\nname = "acme-notes"\nversion = "1.4.0"\n'],
    ['pubspec.yaml', 'name: acme_notes\nversion: 1.4.0+12\n'],
    [
      'wails.json',
      '{"name": "x", "info": {"productName": "Acme Notes", "productVersion": "1.4.0"}}',
    ],
    [
      'CMakeLists.txt',
      '# project(old)\nproject(\n  AcmeNotes # the name\n  VERSION 1.4.0\n  LANGUAGES CXX)\n',
    ],
  ])('are those of %s', async (file, text) => {
    const { application, version, tool } = await read({ [file]: text });
    expect(tool).toBeUndefined();
    expect(application.text).toMatch(/^acme[-_]?notes$/);
    expect(application.source).toContain(file);
    expect(version).toEqual({ text: '1.4.0', source: file });
  });

  it('are not those that a variable of CMake has', async () => {
    const { application, version } = await read({
      'CMakeLists.txt': `project(\${APP} VERSION \${APP_VERSION})\n`,
    });
    expect([application.text, version]).toEqual(['desktop', undefined]);
  });

  it.each(['version.workspace = true', 'version = { workspace = true }'])(
    'are those of a Cargo workspace: %s',
    async (line) => {
      const package_ = `[package]\nname = "notes"\n${line}\n`;
      const workspace =
        '[workspace]\nmembers = ["src-tauri"]\n[workspace.package]\nversion = "3.2.1"\n';
      const { version } = await read({
        '.git/config': '',
        'Cargo.toml': workspace,
        'src-tauri/tauri.conf.json': { identifier: 'com.acme.notes' },
        'src-tauri/Cargo.toml': package_,
      });
      expect(version).toEqual({ text: '3.2.1', source: 'the workspace of src-tauri/Cargo.toml' });
      const own = await read({ 'Cargo.toml': `${workspace}${package_}` });
      expect(own.version?.text).toBe('3.2.1');
    },
  );
});

describe('Sparkle', () => {
  it('by the Info.plist, with a document type and variables of Xcode', async () => {
    const { tool, application, version } = await read({
      'Notes/Info.plist': `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>CFBundleName</key>
  <string>$(PRODUCT_NAME)</string>
  <key>CFBundleShortVersionString</key>
  <string>1.2</string>
  <key>SUFeedURL</key>
  <string>https://example.com/appcast.xml</string>
  <key>SUPublicEDKey</key>
  <string>pfIShU4dEXqPd5ObYNfDBiQWcXozk7estwzTnF9BamQ=</string>
</dict></plist>`,
      'Acme Notes.xcodeproj/project.pbxproj': '',
      'docs/appcast.xml': '<rss/>',
    });
    expect(tool).toMatchObject({
      kind: 'sparkle',
      shownBy: 'Notes/Info.plist',
      output: 'docs',
      platforms: ['macos'],
      targets: [],
      publicKey: 'pfIShU4dEXqPd5ObYNfDBiQWcXozk7estwzTnF9BamQ=',
    });
    expect(application).toEqual({ text: 'acme-notes', source: 'Acme Notes.xcodeproj' });
    expect(version?.text).toBe('1.2');
  });

  it('not by an Info.plist without a feed', async () => {
    const { tool } = await read({ 'Info.plist': '<plist><dict/></plist>' });
    expect(tool).toBeUndefined();
  });
});
