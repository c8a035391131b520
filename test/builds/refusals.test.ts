import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { isAppError } from '../../src/core/errors.ts';
import {
  blockmap,
  elf,
  KEY_ID,
  machO,
  pe,
  signature,
  tar,
  temporaryDirectory,
  zip,
} from './materialize.ts';

const version = '1.0.0';

async function files(contents: Record<string, string | Buffer>): Promise<string> {
  const root = await temporaryDirectory();
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(root, name), content);
  }
  return root;
}

async function refused(...paths: string[]): Promise<string> {
  const error = await readBuildOutput({ paths, version }).catch((thrown: unknown) => thrown);
  if (!isAppError(error, 'invalid_artifact') && !isAppError(error, 'invalid_request')) throw error;
  return error.message;
}

const one = async (path: string) => {
  const { artifacts } = await readBuildOutput({ paths: [path], version });
  const [artifact] = artifacts;
  if (artifact === undefined) throw new Error('nothing was published');
  return artifact;
};

const yml = (stated: string, name: string, size: number) =>
  `version: ${stated}\nfiles:\n  - url: ${name}\n    sha512: ${Buffer.alloc(64).toString('base64')}\n    size: ${size}\n`;

describe('the stagingPercentage of a feed', () => {
  const build = (percentages: Record<string, string>) =>
    files({
      'App-1.0.0.dmg': 'abc',
      'App Setup 1.0.0.exe': 'abc',
      ...Object.fromEntries(
        Object.entries(percentages).map(([name, stated]) => [
          name,
          `${yml(version, name === 'latest.yml' ? 'App Setup 1.0.0.exe' : 'App-1.0.0.dmg', 3)}${stated}\n`,
        ]),
      ),
    });
  const stagedIn = async (root: string) =>
    (await readBuildOutput({ paths: [root], version })).staged;

  test('is reported, with the feed that states it', async () => {
    const root = await build({ 'latest.yml': 'stagingPercentage: 12.5', 'latest-mac.yml': '' });
    expect(await stagedIn(root)).toEqual({
      percentage: 12.5,
      statedIn: join(root, 'latest.yml'),
    });
    expect(await stagedIn(await build({ 'latest.yml': '' }))).toBeNull();
  });

  test('is refused when it is no percentage, or feeds contradict each other', async () => {
    expect(await refused(await build({ 'latest.yml': 'stagingPercentage: 101' }))).toMatch(
      /stagingPercentage 101, which is not a number from 0 to 100/,
    );
    const both = { 'latest.yml': 'stagingPercentage: 5', 'latest-mac.yml': 'stagingPercentage: 6' };
    expect(await refused(await build(both))).toMatch(/A release has one rollout/);
  });
});

describe('a file that is named', () => {
  test('is inferred from its name alone', async () => {
    const root = await files({ 'App-1.0.0-arm64.dmg': 'x' });
    expect(await one(join(root, 'App-1.0.0-arm64.dmg'))).toMatchObject({
      platform: 'macos',
      arch: 'arm64',
      format: 'dmg',
    });
  });

  test('is refused with the unclear point and the descriptor to add', async () => {
    const root = await files({
      'App.dmg': 'x',
      'tool-x64.exe': 'x',
      'x.zip': 'x',
      'notes.txt': 'x',
    });
    expect(await refused(join(root, 'App.dmg'))).toMatch(/arch .*App\.dmg,arch=….*x64, arm64/);
    expect(await refused(join(root, 'tool-x64.exe'))).toMatch(/tool-x64\.exe,format=…".*nsis/);
    expect(await refused(join(root, 'x.zip'))).toMatch(/,os=…".*windows, macos, linux/);
    expect(await refused(join(root, 'notes.txt'))).toMatch(/,os=…,format=…/);
  });

  test('is what its descriptor states, also with commas in its name', async () => {
    const root = await files({ 'a,arch=b.bin': elf('arm64') });
    const path = join(root, 'a,arch=b.bin');
    expect(await one(path)).toMatchObject({ platform: 'linux', arch: 'arm64', format: 'binary' });
    const stated = `${path},os=win,arch=x86_64,format=nsis,name=A, B.exe,minimum_os_version=10.0`;
    expect(await one(stated)).toMatchObject({
      platform: 'windows',
      arch: 'x64',
      format: 'nsis',
      filename: 'A, B.exe',
      minimumOsVersion: '10.0',
    });
  });

  test.each([
    [',color=red', /color.*use os, arch/],
    [',os=', /os= has no value/],
    [',os=mac,os=linux', /os= is given twice/],
    [',minimum_os_version=Sonoma', /dotted numbers/],
    [',name=../x.dmg', /cannot be published/],
    [',name=App-2.0.0.dmg', /version 2\.0\.0, not 1\.0\.0/],
  ])('with the descriptor %s is refused', async (descriptor, message) => {
    const root = await files({ 'App-1.0.0-x64.dmg': 'x' });
    expect(await refused(`${join(root, 'App-1.0.0-x64.dmg')}${descriptor}`)).toMatch(message);
  });

  test('with an unknown platform is refused as unknown_platform', async () => {
    const root = await files({ 'App.dmg': 'x' });
    const reading = readBuildOutput({ paths: [`${join(root, 'App.dmg')},os=beos`], version });
    await expect(reading).rejects.toMatchObject({ code: 'unknown_platform' });
  });

  test('is refused when empty, missing, of another version, or a by-product', async () => {
    const root = await files({
      'App-1.0.0-x64.dmg': '',
      'App-0.9.0-x64.dmg': 'x',
      'builder-debug.yml': 'x: 1',
    });
    expect(await refused(join(root, 'App-1.0.0-x64.dmg'))).toMatch(/empty/);
    expect(await refused(join(root, 'App-0.9.0-x64.dmg'))).toMatch(/of version 0\.9\.0/);
    expect(await refused(join(root, 'gone.dmg,os=mac'))).toMatch(
      /gone\.dmg: there is no such file/,
    );
    expect(await refused(join(root, 'builder-debug.yml'))).toMatch(/builder-debug\.yml/);
    expect(await refused(`${root},os=mac`)).toMatch(/is a directory/);
  });

  test('is published with the signature and the block map beside it', async () => {
    const root = await files({
      'App_1.0.0_x64-setup.exe': 'program',
      'App_1.0.0_x64-setup.exe.sig': signature('App_1.0.0_x64-setup.exe'),
      'App_1.0.0_x64-setup.exe.blockmap': blockmap(7),
    });
    const artifact = await one(join(root, 'App_1.0.0_x64-setup.exe'));
    expect(artifact.signatures).toEqual([
      { scheme: 'minisign', keyId: KEY_ID, value: signature('App_1.0.0_x64-setup.exe').toString() },
    ]);
    expect(artifact.companions.map(({ filename }) => filename)).toEqual([
      'App_1.0.0_x64-setup.exe.blockmap',
    ]);
  });

  test('may be an updater bundle of Tauri 1 only when its format is stated', async () => {
    const root = await files({ 'App_1.0.0_x64-setup.nsis.zip': 'x' });
    const path = join(root, 'App_1.0.0_x64-setup.nsis.zip');
    expect(await refused(path)).toMatch(/updater bundle of Tauri 1/);
    expect(await one(`${path},format=zip`)).toMatchObject({ format: 'zip', arch: 'x64' });
  });

  test('replaces the same file in a directory that is given too', async () => {
    const root = await files({ 'App-1.0.0-x64.dmg': 'x' });
    const stated = `${join(root, 'App-1.0.0-x64.dmg')},arch=universal`;
    const { artifacts } = await readBuildOutput({ paths: [root, stated], version });
    expect(artifacts).toMatchObject([{ arch: 'universal' }]);
    expect(await refused(stated, stated)).toMatch(/given twice with a description/);
  });

  test('may be a link; in a directory links are not followed', async () => {
    const root = await files({ 'App-1.0.0-x64.dmg': 'x' });
    await symlink(join(root, 'App-1.0.0-x64.dmg'), join(root, 'App-1.0.0-arm64.dmg'));
    expect(await one(join(root, 'App-1.0.0-arm64.dmg'))).toMatchObject({ arch: 'arm64' });
    const { skipped } = await readBuildOutput({ paths: [root], version });
    expect(skipped).toMatchObject([{ reason: expect.stringMatching(/link/) }]);
  });

  test('is published without a sidecar that is a link', async () => {
    const name = 'App_1.0.0_x64-setup.exe';
    const elsewhere = await files({ 'other.sig': signature(name) });
    const root = await files({ [name]: 'program' });
    await symlink(join(elsewhere, 'other.sig'), join(root, `${name}.sig`));
    const { artifacts, skipped } = await readBuildOutput({ paths: [join(root, name)], version });
    expect(artifacts).toMatchObject([{ signatures: [] }]);
    expect(skipped).toMatchObject([{ reason: expect.stringMatching(/link/) }]);
  });
});

describe('a sidecar', () => {
  test('that is malformed is refused', async () => {
    const name = 'App_1.0.0_x64-setup.exe';
    expect(await refused(await files({ [name]: 'x', [`${name}.sig`]: 'junk' }))).toMatch(
      /minisign/,
    );
  });

  test('that signs another version is refused, since names of Mac archives carry none', async () => {
    const name = 'App_aarch64.app.tar.gz';
    const of = async (version: string) =>
      files({ [name]: 'x', [`${name}.sig`]: signature(name, version) });
    expect(await refused(await of('0.9.0'))).toMatch(/it signs version 0\.9\.0, not 1\.0\.0/);
    // The client does not trim it.
    expect(await refused(await of('1.0.0 '))).toMatch(/it signs version "1\.0\.0 ", not 1\.0\.0/);
  });

  test.each([
    // The name that it signs, and the file that it lies beside.
    ['App.app.tar.gz', 'App_aarch64.app.tar.gz'],
    ['App.app.tar.gz', 'App_1.0.0_darwin_x64.app.tar.gz'],
    ['My App_1.0.0_x64-setup.exe', 'My.App_1.0.0_x64-setup.exe'],
    ['app_1.0.0_amd64.AppImage', 'app_1.0.0_linux_x86_64.AppImage'],
    ['App.app.tar.gz', 'App_v1.0.0_darwin_aarch64.app.tar.gz'],
    ['App.app.tar.gz', 'App_aarch64_release.app.tar.gz'],
    ['App_1.0.0_x64_en-US.msi', 'App_1.0.0_x64.msi'],
    ['App-1.0.0-1.x86_64.rpm', 'App_1.0.0_linux_x86_64.rpm'],
    ['Café_1.0.0_x64-setup.exe', 'Caf._1.0.0_x64-setup.exe'],
    ['Mac.app.tar.gz', 'Mac_aarch64.app.tar.gz'],
  ])('over %s may be beside %s: CI scripts rename bundles', async (signed, name) => {
    const root = await files({ [name]: elf('x64'), [`${name}.sig`]: signature(signed) });
    const arch = /aarch64/.test(name) ? 'arm64' : 'x64';
    const artifact = await one(`${join(root, name)},arch=${arch}`);
    expect(artifact.signatures).toHaveLength(1);
  });

  test.each([
    ['Other.app.tar.gz', 'App_aarch64.app.tar.gz'],
    ['App_x64.app.tar.gz', 'App_aarch64.app.tar.gz'],
    ['App_0.9.0_x64-setup.exe', 'App_1.0.0_x64-setup.exe'],
    ['App_1.0.0_arm64-setup.exe', 'App_1.0.0_x64-setup.exe'],
    ['App_1.0.0_x64_en-US.msi', 'App_1.0.0_x64-setup.exe'],
    ['Mac.app.tar.gz', 'Windows_aarch64.app.tar.gz'],
    ['Привет.app.tar.gz', 'Другой_aarch64.app.tar.gz'],
  ])('over %s is refused beside %s', async (signed, name) => {
    const root = await files({ [name]: 'x', [`${name}.sig`]: signature(signed) });
    expect(await refused(root)).toMatch(/it signs/);
  });

  test('without its file is listed', async () => {
    const root = await files({ 'App-1.0.0-x64.dmg': 'x', 'B.exe.sig': 'x', 'B.exe.blockmap': 'x' });
    const { skipped } = await readBuildOutput({ paths: [root], version });
    expect(skipped.map(({ reason }) => reason)).toEqual(
      Array(2).fill(expect.stringMatching(/belongs/)),
    );
  });

  test('of electron-builder is checked for version, size and presence', async () => {
    const name = 'App-1.0.0-mac.zip';
    const listing = (text: string) => files({ [name]: 'abc', 'latest-mac.yml': text });
    expect(await refused(await listing(yml('0.9.0', name, 3)))).toMatch(/of version 0\.9\.0/);
    expect(await refused(await listing(yml(version, name, 4)))).toMatch(/4 bytes/);
    expect(await refused(await listing(yml(version, 'App-1.0.0-arm64-mac.zip', 3)))).toMatch(
      /arm64-mac\.zip, which is not there/,
    );
    expect(await refused(await listing(yml(version, 'Other-1.0.0.dmg', 9)))).toMatch(/not there/);
    const renamed = await files({
      'Ünder App Setup 1.0.0.exe': 'abc',
      'latest.yml': yml(version, 'under-app-Setup-1.0.0.exe', 3),
    });
    expect(
      (await readBuildOutput({ paths: [renamed], version })).artifacts[0]?.stated,
    ).toHaveLength(1);
    const good = await listing(`${yml(version, name, 3)}minimumSystemVersion: 21.1.0\n`);
    const { artifacts } = await readBuildOutput({ paths: [good], version });
    expect(artifacts[0]).toMatchObject({
      minimumOsVersion: '12.0',
      stated: [
        { algorithm: 'sha512', hex: '0'.repeat(128), statedIn: join(good, 'latest-mac.yml') },
      ],
    });
  });
});

describe('several files', () => {
  test('of one identity or one name are refused, and the message names both', async () => {
    const root = await files({ 'A-1.0.0-x64.dmg': 'x', 'B-1.0.0-x64.dmg': 'x' });
    expect(await refused(root)).toMatch(
      /A-1\.0\.0-x64\.dmg and .*B-1\.0\.0-x64\.dmg: both are macos-x64-dmg/,
    );
    const named = `${join(root, 'B-1.0.0-x64.dmg')},arch=arm64,name=a-1.0.0-x64.dmg`;
    expect(await refused(join(root, 'A-1.0.0-x64.dmg'), named)).toMatch(/would be published as/);
  });

  test('of Velopack and Squirrel contain the facts that their names leave out', async () => {
    const root = await files({
      'App-1.0.0-full.nupkg': zip([
        ['App.nuspec', Buffer.from('<metadata><id>App</id><version>1.0.0</version></metadata>')],
        ['lib/net45/App.exe', pe('arm64')],
        ['lib/net45/squirrel.exe', pe('ia32')],
      ]),
    });
    expect(await one(join(root, 'App-1.0.0-full.nupkg'))).toMatchObject({
      platform: 'windows',
      arch: 'arm64',
      format: 'squirrel',
      filename: 'App-arm64-1.0.0-full.nupkg',
    });
  });

  test('that contradict themselves are refused', async () => {
    const root = await files({
      'App_x64.app.tar.gz': gzipSync(tar(['App.app/Contents/MacOS/App', machO('arm64')])),
    });
    expect(await refused(root)).toMatch(/its name says x64, the program in it says arm64/);
  });

  test('without a publishable file are refused with a list of the skipped files', async () => {
    const root = await files({ 'App-0.9.0-x64.dmg': 'x', 'README.txt': 'x' });
    const message = await refused(root);
    expect(message).toMatch(/nothing to publish/);
    expect(message).toMatch(/README\.txt: not a known package; to publish it, add/);
    expect(message).toMatch(/is of version 0\.9\.0, not 1\.0\.0/);
    expect(await refused()).toMatch(/was given no path/);
  });
});

describe('a build of another version', () => {
  const app = gzipSync(tar(['App.app/Contents/MacOS/App', machO('x64')]));

  test('is refused also where one of its names states no version', async () => {
    const root = await files({ 'App_0.9.0_x64.dmg': 'x', 'App.app.tar.gz': app });
    expect(await refused(root)).toMatch(
      /App\.app\.tar\.gz: its name states no version, and the packages beside it are of version 0\.9\.0, not 1\.0\.0/,
    );
    expect(await one(join(root, 'App.app.tar.gz'))).toMatchObject({ format: 'tar.gz' });
  });

  test('is left out beside the right version', async () => {
    const names = { 'App_0.9.0_x64.dmg': 'x', 'App_1.0.0_x64.dmg': 'y', 'App.app.tar.gz': app };
    const { artifacts, skipped } = await readBuildOutput({ paths: [await files(names)], version });
    expect(artifacts).toHaveLength(2);
    expect(skipped).toMatchObject([{ reason: 'it is of version 0.9.0, not 1.0.0' }]);
  });
});

describe('Windows programs', () => {
  const nsis = Buffer.concat([
    pe('ia32'),
    Buffer.alloc(4096),
    Buffer.from('Nullsoft.NSIS.exehead'),
  ]);

  test.each([
    ['electron-builder, with a block map', { 'App 1.0.0 Setup.exe.blockmap': blockmap(7) }],
    ['electron-builder, with its feed', { 'latest.yml': yml(version, 'App 1.0.0 Setup.exe', 7) }],
  ])('called "1.0.0 Setup.exe" are NSIS installers of %s', async (_tool, besides) => {
    const root = await files({ 'App 1.0.0 Setup.exe': 'program', ...besides });
    const { artifacts } = await readBuildOutput({ paths: [root], version });
    expect(artifacts).toMatchObject([
      { format: 'nsis', arch: 'x64', filename: 'App 1.0.0 Setup.exe' },
    ]);
  });

  test('that may be of either tool are refused', async () => {
    const name = 'App 1.0.0 x64 Setup.exe';
    const sha1 = '0'.repeat(40);
    const besides = {
      'latest.yml': yml(version, name, 7),
      RELEASES: `${sha1} App-1.0.0-delta.nupkg 7\n`,
    };
    const root = await files({ [name]: 'program', ...besides });
    expect(await refused(root)).toMatch(/its format is unclear: .*latest\.yml lists it as an NSIS/);
    const stated = `${join(root, name)},format=nsis`;
    expect(await one(stated)).toMatchObject({ format: 'nsis' });
  });

  test('called "1.0.0 Setup.exe" are of Squirrel otherwise', async () => {
    const root = await files({ 'App-1.0.0 Setup.exe': 'program' });
    const named = `${join(root, 'App-1.0.0 Setup.exe')},arch=x64`;
    expect(await one(named)).toMatchObject({ format: 'squirrel-setup' });
  });

  test('of several architectures without a universal one each install their own architecture', async () => {
    const root = await files({
      'App Setup 1.0.0.exe': 'x64',
      'App Setup 1.0.0-arm64.exe': 'arm64',
      'builder-debug.yml': '',
    });
    for (const folder of ['win-unpacked', 'win-arm64-unpacked']) await mkdir(join(root, folder));
    const { artifacts } = await readBuildOutput({ paths: [root], version });
    expect(artifacts.map(({ filename, arch }) => `${filename} ${arch}`)).toEqual([
      'App Setup 1.0.0-arm64.exe arm64',
      'App Setup 1.0.0.exe x64',
    ]);
  });

  test('that are portable are for the machine of the application inside, not of the program that unpacks it', async () => {
    const root = await files({
      'App 1.0.0.exe': nsis,
      'latest.yml': yml(version, 'App Setup 1.0.0.exe', 7),
      'App Setup 1.0.0.exe': 'program',
      'App-1.0.0-arm64.exe': nsis,
    });
    const { artifacts } = await readBuildOutput({ paths: [root], version });
    expect(artifacts.map(({ filename, format, arch }) => [filename, format, arch].join())).toEqual([
      'App 1.0.0.exe,binary,x64',
      'App Setup 1.0.0.exe,nsis,x64',
      'App-1.0.0-arm64.exe,binary,arm64',
    ]);
    const alone = await files({ 'App-portable.exe': nsis, 'tool.exe': pe('ia32') });
    expect(await refused(join(alone, 'App-portable.exe'))).toMatch(/arch .* is unclear/);
    expect(await one(`${join(alone, 'tool.exe')},format=binary`)).toMatchObject({ arch: 'ia32' });
  });
});

describe('a web installer', () => {
  const installer = 'App Web Setup 1.0.0.exe';
  const payload = 'app-1.0.0-x64.nsis.7z';

  test('is published with its packages, also when only the installer is named', async () => {
    const root = await files({ [installer]: 'small', [payload]: 'payload' });
    for (const path of [root, join(root, installer)]) {
      expect(await one(path)).toMatchObject({
        format: 'nsis-web',
        arch: 'x64',
        companions: [{ kind: 'package', arch: 'x64', filename: payload, size: 7 }],
      });
    }
  });

  test('without a package is refused', async () => {
    const root = await files({ [installer]: 'small', 'app-0.9.0-x64.nsis.7z': 'old' });
    expect(await refused(`${join(root, installer)},arch=x64`)).toMatch(
      /a web installer by its name, and the package that it would download .* is not in the same directory.*,format=nsis/,
    );
    const stated = `${join(root, installer)},arch=x64,format=nsis`;
    expect(await one(stated)).toMatchObject({ format: 'nsis' });
  });

  test.each(['StarWeb Setup 1.0.0.exe', 'Star Web Setup 1.0.0.exe'])(
    'is not %s of a product with such a name, which has a block map',
    async (name) => {
      const root = await files({
        [name]: 'program',
        [`${name}.blockmap`]: blockmap(7),
        'latest.yml': yml(version, name, 7),
      });
      const { artifacts } = await readBuildOutput({ paths: [root], version });
      expect(artifacts).toMatchObject([{ format: 'nsis', arch: 'x64' }]);
    },
  );

  test('of other bytes than the feed states is refused', async () => {
    const stated = `${yml(version, installer, 5)}packages:\n  x64:\n    path: ${payload}\n    sha512: ${Buffer.alloc(64).toString('base64')}\n    size: 99\n`;
    const root = await files({ [installer]: 'small', [payload]: 'payload', 'latest.yml': stated });
    expect(await refused(root)).toMatch(/states 99 bytes for .*nsis\.7z, and the file has 7/);
  });

  test('that is missing leaves its package out', async () => {
    const root = await files({ 'App Setup 1.0.0.exe': 'program', [payload]: 'payload' });
    const { artifacts, skipped } = await readBuildOutput({ paths: [root], version });
    expect(artifacts).toMatchObject([{ format: 'nsis', companions: [] }]);
    expect(skipped).toMatchObject([
      { reason: expect.stringMatching(/web installer that it belongs/) },
    ]);
  });
});

describe('an appx beside an msix', () => {
  const packages = { 'App-1.0.0-x64.appx': 'old', 'App-1.0.0-x64.msix': 'new' };

  test('is left out, with the reason', async () => {
    const root = await files({ ...packages, 'App-1.0.0-arm64.appx': 'alone' });
    const { artifacts, skipped } = await readBuildOutput({ paths: [root], version });
    expect(artifacts.map(({ filename }) => filename)).toEqual([
      'App-1.0.0-arm64.appx',
      'App-1.0.0-x64.msix',
    ]);
    expect(skipped).toMatchObject([
      { reason: 'App-1.0.0-x64.msix is the package for windows-x64' },
    ]);
  });

  test('is refused when it was named', async () => {
    const root = await files(packages);
    expect(await refused(root, join(root, 'App-1.0.0-x64.appx'))).toMatch(
      /both are windows-x64-msix/,
    );
  });
});
