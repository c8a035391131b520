import { rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityName } from '../../../../src/domain/release.ts';
import { parseJsonValues } from '../../../../src/features/import/sources/json-index.ts';
import { readImportSource } from '../../../../src/features/import/sources/read-source.ts';
import { readSourceRelease } from '../../../../src/features/import/sources/read-source-release.ts';
import type { ImportSource } from '../../../../src/features/import/sources/source.ts';
import { updateInfo } from '../../../builds/materialize.ts';
import { makeMinisignKey, signMinisign } from '../../../support/minisign-key.ts';
import { makeSparkleKey, signAppcast } from '../../../support/sparkle-key.ts';
import {
  addFiles,
  appcastFolder,
  electronFolder,
  githubFolder,
  nupkg,
  releasesOf,
  serverFolder,
  squirrelFolder,
  velopackFolder,
  writeSource,
} from './fixtures.ts';

const read = (root: string, options: Partial<Parameters<typeof readImportSource>[0]> = {}) =>
  readImportSource({ path: root, ...options });

/** `1.0.0 beta 2021-01-01T00:00:00.000Z`, in the order of the import. */
const summary = ({ releases }: ImportSource) =>
  releases.map(({ version, channel, releasedAt }) => `${version} ${channel} ${releasedAt}`);

const reasons = (issues: ImportSource['refused']) =>
  issues.map(({ label, reason }) => `${path.basename(label)}: ${reason}`);

/** The part of each release that would be published. */
async function builds({ releases }: ImportSource): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const release of releases) {
    const { artifacts, unknown } = await readSourceRelease(release, undefined);
    for (const artifact of artifacts) {
      const stated = artifact.stated.map(({ algorithm }) => algorithm);
      const named = [release.version, identityName(artifact), artifact.filename];
      lines.push([...named, ...stated].join(' | '));
    }
    for (const file of unknown) lines.push(`unknown ${path.basename(file.path)}`);
  }
  return lines;
}

describe('the folder of electron-builder', () => {
  it('has a release for each version, with the channel and the date of its update document', async () => {
    const source = await read(await writeSource(electronFolder()));
    expect(source).toMatchObject({ kind: 'electron-builder', refused: [], leftOut: [] });
    expect(summary(source)).toEqual([
      '1.0.0 null 2022-01-01T18:18:28.039Z',
      '1.1.0 null 2022-02-02T18:18:28.039Z',
      '1.2.0-beta.1 beta 2022-02-02T18:18:28.039Z',
    ]);
    expect(source.releases[2]?.isPrerelease).toBe(true);
    expect(await builds(source)).toEqual([
      '1.0.0 | windows-x64-nsis | App Setup 1.0.0.exe',
      '1.0.0 | macos-arm64-zip | App-1.0.0-arm64-mac.zip | sha512',
      '1.1.0 | windows-x64-nsis | App Setup 1.1.0.exe | sha512',
      '1.2.0-beta.1 | windows-x64-nsis | App Setup 1.2.0-beta.1.exe | sha512',
    ]);
    const [, second] = source.releases;
    const build = second && (await readSourceRelease(second, undefined));
    expect(build?.described.notes).toBe('Fixes.');
    expect(build?.artifacts[0]?.companions.map(({ kind }) => kind)).toEqual(['blockmap']);
  });

  it('takes the time of the files for a version without an update document', async () => {
    const { 'latest-mac.yml': _mac, ...rest } = electronFolder();
    const source = await read(await writeSource(rest));
    expect(summary(source)[0]).toBe('1.0.0 null 2021-01-01T00:00:00.000Z');
  });

  it('refuses a file without a version, a version that is not semantic, and a document that is none', async () => {
    const root = await writeSource({
      ...electronFolder(),
      'App.exe': 'x',
      'App-1.2.exe': 'x',
      'App-1.2.3.4.exe': 'x',
      'alpha.yml': 'version: [',
      'rc.yml': 'version: v1.2\nfiles: []\n',
    });
    const source = await read(root);
    expect(source.releases).toHaveLength(3);
    expect(reasons(source.refused)).toEqual([
      expect.stringMatching(
        /^alpha\.yml: it is not valid YAML \(line 1, column \d+\)\. Copy it again/,
      ),
      expect.stringMatching(/^rc\.yml: its version "v1\.2" is not a semantic version/),
      expect.stringMatching(/^App-1\.2\.3\.4\.exe: its name states no semantic version/),
      expect.stringMatching(/^App-1\.2\.exe: /),
      expect.stringMatching(/^App\.exe: /),
    ]);
  });

  it('puts a release that is the newest of several channels on the most stable one', async () => {
    const contents = electronFolder();
    const root = await writeSource({ ...contents, 'beta.yml': contents['latest.yml'] ?? '' });
    const source = await read(root);
    const found = source.releases.find(({ version }) => version === '1.1.0');
    expect(found?.channel).toBe(null);
  });
});

describe('the folders that electron-builder has for each platform', () => {
  /** `win/`, `mac/arm64/` and `linux/`, each with its own update document, and names without versions. */
  const byPlatform = () => {
    const { 'latest.yml': latest, 'latest-mac.yml': mac, ...files } = electronFolder();
    const of = (folder: string, pattern: RegExp) =>
      Object.entries(files).flatMap(([name, content]) =>
        pattern.test(name) ? [[`${folder}/${name}`, content] as const] : [],
      );
    const image = Buffer.from('an AppImage');
    return {
      ...Object.fromEntries([...of('win', /1\.[01]\.0\.exe/), ...of('mac/arm64', /-mac\.zip/)]),
      'win/latest.yml': latest ?? '',
      'mac/arm64/latest-mac.yml': mac ?? '',
      'linux/App.AppImage': image,
      'linux/latest-linux.yml': updateInfo('1.1.0', [['App.AppImage', image]]),
    };
  };

  it('are joined into one release for each version, with or without --from', async () => {
    const root = await writeSource(byPlatform());
    for (const kind of [undefined, 'electron-builder'] as const) {
      const source = await read(root, { kind });
      expect(source).toMatchObject({ kind: 'electron-builder', refused: [], leftOut: [] });
      expect(await builds(source)).toEqual([
        '1.0.0 | macos-arm64-zip | App-1.0.0-arm64-mac.zip | sha512',
        '1.0.0 | windows-x64-nsis | App Setup 1.0.0.exe',
        '1.1.0 | linux-x64-appimage | App.AppImage | sha512',
        '1.1.0 | windows-x64-nsis | App Setup 1.1.0.exe | sha512',
      ]);
    }
  });

  it('name what is wrong with its folder, and leave out a folder that may be a channel', async () => {
    const root = await writeSource({
      ...byPlatform(),
      'mac/x64/latest-mac.yml': 'version: [',
      'win/arm64/App Setup 1.1.0-arm64.exe': 'x',
      'beta/latest.yml': electronFolder()['beta.yml'] ?? '',
    });
    const source = await read(root);
    expect(source.releases).toHaveLength(2);
    expect((await builds(source)).at(-1)).toMatch(/windows-arm64-nsis .* 1\.1\.0-arm64\.exe/);
    expect(source.refused.map(({ label }) => label)).toEqual(['mac/x64/latest-mac.yml']);
    expect(source.leftOut).toEqual([
      { label: 'beta/', reason: expect.stringMatching(/another channel\. Import it alone/) },
    ]);
  });

  it('are asked for when there is none', async () => {
    const root = await writeSource({ 'notes/readme.txt': 'x' });
    await expect(read(root, { kind: 'electron-builder' })).rejects.toThrow(
      /it has no latest\.yml, beta-mac\.yml or the like, and no installer/,
    );
  });
});

describe("the folder of Tauri's static server", () => {
  const key = makeMinisignKey(1);
  const bundle = Buffer.from('a bundle');
  const signature = signMinisign(key, bundle, { comment: 'timestamp:1' });
  const latest = (platforms: object) => ({
    'latest.json': JSON.stringify({
      version: 'v1.1.0',
      notes: 'Fixes.',
      pub_date: '2022-02-02T10:00:00Z',
      platforms,
    }),
  });
  const entry = (name: string) => ({ url: `https://example.com/a%20b/${name}?x`, signature });

  it('has the newest version with its signatures, and others beside it', async () => {
    const root = await writeSource({
      ...latest({
        'darwin-aarch64': entry('App.app.tar.gz'),
        'darwin-x86_64': entry('App.app.tar.gz'),
        'windows-x86_64': entry('App_1.1.0_x64-setup.exe'),
        'windows-x86_64-nsis': entry('App_1.1.0_x64-setup.exe'),
      }),
      'App.app.tar.gz': bundle,
      'App_1.1.0_x64-setup.exe': bundle,
      'App_1.0.0_x64-setup.exe': bundle,
      'App_1.0.0_x64-setup.exe.sig': signature,
      'App.exe': 'x',
    });
    const source = await read(root);
    expect(source).toMatchObject({ kind: 'tauri', path: path.join(root, 'latest.json') });
    expect(summary(source)).toEqual([
      expect.stringMatching(/^1\.0\.0 null 2021-/),
      '1.1.0 null 2022-02-02T10:00:00.000Z',
    ]);
    expect(source.releases[1]?.notes).toBe('Fixes.');
    expect(await builds(source)).toEqual([
      '1.0.0 | windows-x64-nsis | App_1.0.0_x64-setup.exe',
      '1.1.0 | macos-universal-tar.gz | App_universal.app.tar.gz',
      '1.1.0 | windows-x64-nsis | App_1.1.0_x64-setup.exe',
    ]);
    for (const release of source.releases) {
      const { artifacts } = await readSourceRelease(release, undefined);
      expect(artifacts.flatMap(({ signatures }) => signatures.map(({ value }) => value))).toEqual(
        artifacts.map(() => signature),
      );
    }
    expect(reasons(source.refused)).toEqual([
      expect.stringMatching(/^App\.exe: its name states no semantic version, and latest\.json/),
    ]);
  });

  it('says what is missing, and why bundles of Tauri 1 are left out', async () => {
    const missing = await read(
      await writeSource(latest({ 'linux-x86_64': entry('App_1.1.0_amd64.AppImage') })),
    );
    expect(reasons(missing.refused)).toEqual([expect.stringMatching(/^1\.1\.0: .* is missing/)]);
    const first = await read(
      await writeSource(latest({ 'windows-x86_64': entry('App_1.1.0_x64.msi.zip') })),
    );
    expect(reasons(first.leftOut)).toEqual([expect.stringMatching(/an updater bundle of Tauri 1/)]);
    const none = await writeSource({ 'latest.json': '{}' });
    await expect(read(none, { kind: 'tauri' })).rejects.toThrow(/it is not a latest\.json/);
  });
});

describe('the folder of Squirrel.Windows', () => {
  it('has the packages of every version, with the notes inside and the newest installer', async () => {
    const source = await read(await writeSource(squirrelFolder()));
    expect(source).toMatchObject({ kind: 'squirrel', refused: [], leftOut: [] });
    expect(summary(source)).toEqual([
      '1.0.0 null 2021-01-01T00:00:00.000Z',
      '1.1.0 null 2021-01-01T01:00:00.000Z',
      '1.2.0-beta.1 null 2021-01-01T03:00:00.000Z',
    ]);
    expect(source.releases.map(({ notes }) => notes)).toEqual([
      null,
      'Notes of <b>1.1.0</b>',
      null,
    ]);
    expect(await builds(source)).toEqual([
      '1.0.0 | windows-x64-squirrel | App-1.0.0-full.nupkg | sha1',
      '1.1.0 | windows-x64-squirrel | App-1.1.0-full.nupkg | sha1',
      '1.2.0-beta.1 | windows-x64-squirrel | App-1.2.0-beta1-full.nupkg | sha1',
      '1.2.0-beta.1 | windows-x64-squirrel-setup | AppSetup.exe',
    ]);
  });

  it('refuses a malformed line, a version of four numbers, and a file of another size', async () => {
    const packages = { 'App-1.0.0-full.nupkg': nupkg('1.0.0'), 'App-2.0.0-full.nupkg': nupkg('2') };
    const odd = { 'App-1.2.3.4-full.nupkg': nupkg('1.2.3.4') };
    const root = await writeSource({
      ...packages,
      ...odd,
      RELEASES: `\uFEFF${releasesOf({ ...packages, ...odd })}\r\nnonsense\r\n# a comment`,
    });
    await writeFile(path.join(root, 'App-2.0.0-full.nupkg'), 'short');
    const source = await read(root);
    expect(source.releases.map(({ version }) => version)).toEqual(['1.0.0']);
    expect(reasons(source.refused)).toEqual([
      'RELEASES: it is not "SHA1 name size": nonsense',
      expect.stringMatching(/^2\.0\.0: .* has 5 bytes, and .*RELEASES states \d+\./),
      expect.stringMatching(/^1\.2\.3\.4: "1\.2\.3\.4" is not a semantic version/),
    ]);
  });

  it('refuses a RELEASES that is another text', async () => {
    const root = await writeSource({ RELEASES: 'Version 1.0: the first one.' });
    await expect(read(root)).rejects.toThrow(/No files of a known update server/);
    await expect(read(root, { kind: 'squirrel' })).rejects.toThrow(/no line "SHA1 name size"/);
  });
});

describe('a release of Squirrel.Windows', () => {
  it('keeps the share that its line states', async () => {
    const packages = {
      'App-1.0.0-full.nupkg': nupkg('1.0.0'),
      'App-1.1.0-full.nupkg': nupkg('1.1.0'),
    };
    const lines = `${releasesOf(packages)} # 25%\r\n# 10%\r\n`;
    const { releases, refused } = await read(await writeSource({ ...packages, RELEASES: lines }));
    expect(refused).toEqual([]);
    const staged = await Promise.all(
      releases.map(async (release) => (await readSourceRelease(release, undefined)).staged),
    );
    expect(staged.map((each) => each?.percentage)).toEqual([undefined, 25]);
  });

  it('has the architecture of its package for the MSI beside it', async () => {
    const source = await read(await writeSource({ ...squirrelFolder(), 'AppSetup.msi': 'an MSI' }));
    expect(await builds(source)).toContain('1.2.0-beta.1 | windows-x64-msi | AppSetup.msi');
  });
});

describe('the folder of Velopack', () => {
  it('joins the channels of one version, and keeps the ones that name no machine', async () => {
    const source = await read(await writeSource(velopackFolder()));
    expect(source).toMatchObject({ kind: 'velopack', refused: [], leftOut: [] });
    expect(summary(source).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      '1.0.0 null',
      '1.1.0 null',
      '1.2.0 beta',
    ]);
    expect(source.releases[0]?.notes).toBe('Notes of App-1.0.0-full.nupkg');
    expect(await builds(source)).toEqual([
      '1.0.0 | windows-x64-velopack | App-1.0.0-full.nupkg | sha256 | sha1',
      '1.1.0 | macos-arm64-velopack | App-1.1.0-osx-full.nupkg | sha256 | sha1',
      '1.1.0 | windows-x64-velopack | App-1.1.0-full.nupkg | sha256 | sha1',
      '1.1.0 | windows-x64-velopack-setup | App-win-Setup.exe',
      '1.2.0 | windows-x64-velopack | App-1.2.0-win-beta-full.nupkg | sha256 | sha1',
      '1.2.0 | windows-x64-velopack-setup | App-win-beta-Setup.exe',
    ]);
  });

  it('goes on with the other feeds when one is malformed', async () => {
    const source = await read(
      await writeSource({ ...velopackFolder(), 'releases.osx.json': '{"Assets": [' }),
    );
    expect(reasons(source.refused)).toEqual([
      'releases.osx.json: it is not a feed of Velopack. Copy it again',
    ]);
    expect(source.releases.map(({ version }) => version)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
  });
});

describe('the releases of GitHub', () => {
  const releases = [
    {
      tag: 'v1.1.0',
      date: '2022-02-01T00:00:00Z',
      files: ['App-1.1.0-x64.AppImage', 'README.txt'],
    },
    { tag: 'v1.0.0', date: '2022-01-01T00:00:00Z', files: ['App-1.0.0-x64.AppImage'] },
  ] as const;

  it('are oldest first, with their names, notes and hashes', async () => {
    const source = await read(await writeSource(githubFolder(releases)));
    expect(source).toMatchObject({ kind: 'github', refused: [], leftOut: [] });
    expect(summary(source)).toEqual([
      '1.0.0 null 2022-01-01T00:00:00.000Z',
      '1.1.0 null 2022-02-01T00:00:00.000Z',
    ]);
    expect(source.releases[0]).toMatchObject({
      name: 'Release v1.0.0',
      notes: 'Notes of v1.0.0 <b>&amp;</b> ]]>',
    });
    expect(await builds(source)).toEqual([
      '1.0.0 | linux-x64-appimage | App-1.0.0-x64.AppImage | sha256',
      '1.1.0 | linux-x64-appimage | App-1.1.0-x64.AppImage | sha256',
      'unknown README.txt',
    ]);
  });

  it('leave out drafts and releases without files, and refuse missing files and tags that are no version', async () => {
    const source = await read(
      await writeSource(
        githubFolder([
          ...releases,
          { tag: 'v1.2', files: ['App-1.2-x64.AppImage'] },
          { tag: 'v1.3.0', files: ['App-1.3.0-x64.AppImage'], more: { draft: true } },
          { tag: 'v1.4.0', files: [] },
          { tag: 'v1.5.0', files: [], more: { assets: [{ name: 'App-1.5.0.dmg', size: 3 }] } },
          { tag: 'v1.6.0', files: ['App-1.6.0-x64.AppImage'], more: { prerelease: true } },
          { tag: 'v1.7.0', files: [], more: { assets: [{ name: 'App/../../../etc/passwd' }] } },
          { tag: 'v1.8.0', files: [], more: { tag_name: 5 } },
          { tag: 'nightly', files: ['App-1.9.0-x64.AppImage'], more: { draft: true } },
          { tag: '', files: [], more: { draft: true, name: 'The next one' } },
          { tag: 'continuous', files: ['App-1.9.0-x64.AppImage'] },
        ]),
      ),
    );
    expect(
      source.releases.map(({ version, isPrerelease }) => `${version} ${isPrerelease}`),
    ).toEqual(['1.0.0 false', '1.6.0 true', '1.1.0 false']);
    expect(reasons(source.leftOut)).toEqual([
      'v1.3.0: it is a draft',
      'nightly: it is a draft',
      'The next one: it is a draft',
      'continuous: its tag states no version. To have it here, publish its files by hand',
      'v1.4.0: it has no files to publish',
    ]);
    expect(reasons(source.refused)).toEqual([
      'releases.json: it has no tag_name',
      expect.stringMatching(/^v1\.2: "1\.2" is not a semantic version/),
      "v1.5.0: App-1.5.0.dmg is missing. Copy it from the other server to the place that docs/publishing/import.md in Slipway's repository names, and import again",
      expect.stringMatching(/^v1\.7\.0: .*passwd is missing/),
    ]);
  });

  it('may have a prefix in their tags, which is named when it is missing', async () => {
    const root = await writeSource(
      githubFolder([
        { tag: 'app-v1.2.0', files: ['App-1.2.0-x64.AppImage'] },
        { tag: 'app-1.3.0-beta.1', files: ['App-1.3.0-beta.1-x64.AppImage'] },
        { tag: 'cli-v9.0.0', files: ['cli-9.0.0.AppImage'] },
      ]),
    );
    const without = await read(root);
    expect(without.releases).toEqual([]);
    expect(reasons(without.refused)).toEqual([
      'app-v1.2.0: its tag has "app-" before the version. Add --tag-prefix app-',
      'app-1.3.0-beta.1: its tag has "app-" before the version. Add --tag-prefix app-',
      'cli-v9.0.0: its tag has "cli-" before the version. Add --tag-prefix cli-',
    ]);
    const source = await read(root, { tagPrefix: 'app-' });
    expect(source.releases.map(({ version }) => version)).toEqual(['1.2.0', '1.3.0-beta.1']);
    expect(source.refused).toEqual([]);
    expect(reasons(source.leftOut)).toEqual(['cli-v9.0.0: its tag does not begin with app-']);
    const other = await writeSource(squirrelFolder());
    await expect(read(other, { tagPrefix: 'app-' })).rejects.toThrow(
      /it is of squirrel, which has no tags\. Leave out --tag-prefix/,
    );
  });

  it('may have unique names beside the index, and never takes one that could be of another release', async () => {
    const root = await writeSource({
      ...githubFolder([
        { tag: 'v1.0.0', files: ['App.dmg', 'App-1.0.0-x64.AppImage'] },
        { tag: 'v1.1.0', files: ['App.dmg'] },
      ]),
      'App.dmg': 'bytes of App.dmg',
      'App-1.0.0-x64.AppImage': 'bytes of App-1.0.0-x64.AppImage',
    });
    await rm(path.join(root, 'v1.0.0'), { recursive: true });
    const source = await read(root);
    expect(source.releases.map(({ version }) => version)).toEqual(['1.1.0']);
    expect(reasons(source.refused)).toEqual([
      expect.stringMatching(/^v1\.0\.0: App\.dmg is missing/),
    ]);
  });

  it('do not follow links', async () => {
    const root = await writeSource(githubFolder(releases));
    const file = path.join(root, 'v1.0.0', 'App-1.0.0-x64.AppImage');
    await rm(file);
    await symlink(path.join(root, 'v1.1.0', 'App-1.1.0-x64.AppImage'), file);
    expect(reasons((await read(root)).refused)).toEqual([expect.stringMatching(/is missing/)]);
  });

  it('may be several pages, and an index that is not JSON is refused', async () => {
    const contents = githubFolder(releases);
    const page = String(contents['releases.json']);
    const other = String(githubFolder([{ tag: 'v0.9.0', files: [] }])['releases.json']);
    const root = await writeSource({ ...contents, 'releases.json': `${page}\n${other}` });
    expect((await read(root)).releases).toHaveLength(2);
    await addFiles(root, { 'releases.json': '[{"tag_name": ' });
    await expect(read(root, { kind: 'github' })).rejects.toThrow(/releases\.json: it is not JSON/);
  });
});

describe('the versions of electron-release-server', () => {
  const versions = [
    {
      name: '1.1.0',
      channel: 'beta',
      availability: '2020-02-01T00:00:00.000Z',
      files: [['osx_arm64', 'App-1.1.0.zip']],
    },
    {
      name: '1.0.0',
      channel: 'stable',
      availability: '2020-01-01T00:00:00.000Z',
      files: [
        ['windows_64', 'App-1.0.0-full.nupkg'],
        ['windows_64', 'App-1.0.0-delta.nupkg'],
        ['windows_64', 'AppSetup.exe'],
        ['osx_64', 'App-1.0.0.zip'],
      ],
    },
    {
      name: '1.0.0',
      channel: 'stable',
      flavor: 'pro',
      availability: '2020-01-01T00:00:00.000Z',
      files: [['osx_64', 'Pro-1.0.0.zip']],
    },
  ] as const;

  it('keep their channels, dates, notes, platforms and hashes', async () => {
    const source = await read(await writeSource(serverFolder(versions)));
    expect(source).toMatchObject({ kind: 'electron-release-server', refused: [] });
    expect(summary(source)).toEqual([
      '1.0.0 stable 2020-01-01T00:00:00.000Z',
      '1.1.0 beta 2020-02-01T00:00:00.000Z',
    ]);
    expect(source.releases[0]?.notes).toBe('Notes of 1.0.0');
    expect(await builds(source)).toEqual([
      '1.0.0 | windows-x64-squirrel | App-1.0.0-full.nupkg | sha1',
      '1.0.0 | windows-x64-squirrel-setup | AppSetup.exe | sha512',
      '1.0.0 | macos-x64-zip | App-1.0.0.zip | sha512',
      '1.1.0 | macos-arm64-zip | App-1.1.0.zip | sha512',
    ]);
  });

  it('are imported one flavor at a time', async () => {
    const root = await writeSource(serverFolder(versions));
    expect(reasons((await read(root)).leftOut)).toEqual([
      expect.stringMatching(/^1\.0\.0 \(pro\): it is of the flavor pro\./),
    ]);
    const pro = await read(root, { flavor: 'pro' });
    expect(await builds(pro)).toEqual(['1.0.0 | macos-x64-zip | Pro-1.0.0.zip | sha512']);
  });
});

describe('an appcast', () => {
  it('has its items, with their titles, notes, dates and channels', async () => {
    const source = await read(await writeSource(appcastFolder()));
    expect(source).toMatchObject({ kind: 'appcast', refused: [], leftOut: [] });
    expect(summary(source)).toEqual([
      '1.0.0 null 2021-03-02T10:00:00.000Z',
      '1.1.0 null 2021-03-03T10:00:00.000Z',
      '1.2.0 beta 2021-03-04T10:00:00.000Z',
    ]);
    expect(source.releases[0]).toMatchObject({
      name: 'Version 1.0.0',
      notes: '<p>Notes of 1.0.0</p>',
    });
    // A signed appcast lists newer versions too.
    expect(source.releases.map(({ carriesIndex }) => carriesIndex)).toEqual([false, true, true]);
    // Without a statement the feed offers a file to every Mac.
    expect(await builds(source)).toEqual([
      '1.0.0 | macos-universal-dmg | App-1.0.0.dmg',
      '1.1.0 | macos-universal-dmg | App-1.1.0.dmg',
      '1.2.0 | macos-universal-dmg | App-1.2.0.dmg',
    ]);
  });

  it('is carried by the newest release of a channel alone when it is signed', async () => {
    const contents = appcastFolder();
    const text = signAppcast(String(contents['appcast.xml']), makeSparkleKey());
    const { releases } = await read(await writeSource({ ...contents, 'appcast.xml': text }));
    const carrying = await Promise.all(releases.map((each) => readSourceRelease(each, undefined)));
    expect(carrying.map(({ signed }) => signed.map(({ name }) => name))).toEqual([
      [],
      ['sparkle-appcast.xml'],
      ['sparkle-appcast.xml'],
    ]);
    for (const { artifacts } of carrying) expect(artifacts[0]?.signatures).toHaveLength(1);
  });

  it('reads 2.0 as 2.0.0, and refuses an item without a version', async () => {
    const contents = appcastFolder();
    const text = String(contents['appcast.xml'])
      .replace('<sparkle:shortVersionString>1.2.0<', '<sparkle:shortVersionString>1.2<')
      .replace('<sparkle:shortVersionString>1.1.0<', '<sparkle:shortVersionString>Spring<');
    const source = await read(await writeSource({ ...contents, 'appcast.xml': text }));
    expect(source.releases.map(({ version }) => version)).toEqual(['1.0.0', '1.2.0']);
    expect(reasons(source.refused)).toEqual([
      expect.stringMatching(/^Spring: "Spring" is not a semantic version/),
    ]);
  });

  it('refuses an item whose file has another size, and a feed with a document type', async () => {
    const contents = appcastFolder();
    const root = await writeSource({ ...contents, 'App-1.1.0.dmg': 'other' });
    const source = await read(root);
    expect(source.releases.map(({ version }) => version)).toEqual(['1.0.0', '1.2.0']);
    expect(reasons(source.refused)).toEqual([expect.stringMatching(/^1\.1\.0: .* has 5 bytes/)]);
    const evil = String(contents['appcast.xml']).replace('<rss', '<!DOCTYPE x><rss');
    await addFiles(root, { 'appcast.xml': evil });
    await expect(read(root, { kind: 'appcast' })).rejects.toThrow(/document type declaration/);
  });
});

it('refuses a release whose files are gone when it is their turn', async () => {
  const root = await writeSource(squirrelFolder());
  const [release] = (await read(root)).releases;
  await rm(path.join(root, 'App-1.0.0-full.nupkg'));
  if (release === undefined) throw new Error('It was there.');
  await expect(readSourceRelease(release, undefined)).rejects.toMatchObject({
    code: 'invalid_artifact',
    message: '1.0.0: its files cannot be read any more (ENOENT). Copy them again.',
  });
});

describe('recognizing a source', () => {
  it('takes the index as well as its directory', async () => {
    const root = await writeSource(squirrelFolder());
    const source = await read(path.join(root, 'RELEASES'));
    expect(source.releases).toHaveLength(3);
  });

  it('asks when several kinds fit, and says when none does', async () => {
    const root = await writeSource({ ...squirrelFolder(), ...electronFolder() });
    await expect(read(root)).rejects.toThrow(/may be of .*squirrel.*--from/);
    expect((await read(root, { kind: 'squirrel' })).kind).toBe('squirrel');
    await expect(read(await writeSource({ 'a.txt': 'x' }))).rejects.toThrow(
      /No files of a known update server are there/,
    );
    const torn = await writeSource({ 'releases.json': '[{"tag_name": "v1.0.0"' });
    await expect(read(torn)).rejects.toThrow(
      /releases\.json cannot be read: .*it is not JSON, or nests too deep\. No/,
    );
    await expect(read('/nowhere/at/all')).rejects.toThrow(/no such file or directory/);
  });
});

it('says that an index of nested arrays is none', async () => {
  const depth = 100_000;
  const root = await writeSource({ 'releases.json': '['.repeat(depth) + ']'.repeat(depth) });
  await expect(read(root)).rejects.toThrow(/No files of a known update server are there/);
  await expect(read(root, { kind: 'github' })).rejects.toThrow(/it is not JSON, or nests too deep/);
});

it('splits JSON values wherever they end', () => {
  const value = fc.array(fc.jsonValue(), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
      const text = values.map((each) => JSON.stringify(each)).join('\n');
      expect(parseJsonValues(text)).toEqual(
        JSON.parse(`[${values.map((v) => JSON.stringify(v))}]`),
      );
    }),
  );
  expect(parseJsonValues('')).toBeUndefined();
  expect(parseJsonValues('[1')).toBeUndefined();
});
