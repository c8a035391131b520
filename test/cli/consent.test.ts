import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackages } from '../support/nupkg-build.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createTestService } from '../support/service.ts';
import { json, slipway } from './support.ts';

/** Refusals that an operator may overrule. The tests build on each other. */
describe('refusals that an operator may override', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const file = (version: string, as = 'os=linux,arch=x64,format=appimage') =>
    `${version}.AppImage,${as}`;
  const run = (words: readonly string[], typed?: string) =>
    slipway(words, {
      cwd: directory.path,
      ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
    });
  const revision = async (): Promise<number> =>
    json(await run(['releases', '--json'])).catalog_revision;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const version of ['1.0.0', '1.1.0', '2.0.0', 'arm']) {
      await writeFile(path.join(directory.path, `${version}.AppImage`), version);
    }
    await run(['publish', '1.0.0', file('1.0.0'), '--channel', 'beta', '--create']);
    await run(['publish', '1.1.0', file('1.1.0'), '--create']);
  });
  afterAll(() => directory.remove());

  const PROMOTE = ['promote', '1.0.0', '--to', 'stable'];
  const GATED = ['publish', '2.0.0', file('2.0.0')].concat(
    ...['--requires', '>=1.5.0', '--mandatory-for', '<1.2.0'],
  );

  it('a promotion of an older version is refused without a terminal', async () => {
    const before = await revision();
    for (const words of [PROMOTE, [...PROMOTE, '--dry-run']]) {
      const { code, stderr } = await run(words);
      expect(code).toBe(3);
      expect(stderr).toMatch(
        /^slipway: stable offers 1\.1\.0, which is newer than 1\.0\.0\. Clients keep getting 1\.1\.0, and no client goes back/,
      );
      expect(stderr).toMatch(/add --allow-older\./);
    }
    // With --json a program reads the output, and it is not asked even on a terminal.
    expect((await run([...PROMOTE, '--json'], 'y\n')).code).toBe(3);
    expect(await revision()).toBe(before);
  });

  it('the command asks an operator, and any answer but yes changes nothing', async () => {
    const before = await revision();
    for (const typed of ['n\n', '\n', '', 'yellow\n']) {
      const { code, stderr } = await run(PROMOTE, typed);
      expect([typed, code]).toEqual([typed, 3]);
      expect(stderr).toMatch(/Continue\? \[y\/N\] /);
    }
    expect(await revision()).toBe(before);
    const yes = await run(PROMOTE, 'y\n');
    expect(yes.code).toBe(0);
    expect(yes.stdout).toMatch(/^Promoted desktop 1\.0\.0 to stable /);
  });

  it('the channel that offers the newer version is named, when it is another one', async () => {
    const { code, stderr } = await run(['promote', '1.0.0', '--to', 'nightly', '--create']);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /: stable offers 1\.1\.0, which is newer than 1\.0\.0, to clients of nightly too\./,
    );
  });

  it('--allow-older needs no answer', async () => {
    await run(['promote', '1.1.0', '--to', 'internal', '--create']);
    const words = ['promote', '1.0.0', '--to', 'internal'];
    expect((await run(words)).code).toBe(3);
    expect((await run([...words, '--allow-older'])).code).toBe(0);
  });

  it('an older version needs no answer where the newer one has no build for its targets', async () => {
    const windows = file('1.0.0', 'os=windows,arch=x64,format=binary,name=App.bin');
    await run(['publish', '0.9.0', windows, '--channel', 'windows', '--create']);
    expect((await run(['promote', '0.9.0', '--to', 'stable'])).code).toBe(0);
  });

  it('a release that versions must update to and cannot reach is refused, or needs an answer', async () => {
    const { code, stderr } = await run(GATED);
    expect(code).toBe(3);
    expect(stderr).toMatch(/Clients on 1\.1\.0 must update to 2\.0\.0 .*--allow-stranded/);
    expect((await run(GATED, 'no\n')).code).toBe(3);
    expect((await run([...GATED, '--allow-stranded', '--dry-run'])).code).toBe(0);
    expect((await run(GATED, 'yes\n')).code).toBe(0);
  });

  it('another platform of the same release needs no second answer', async () => {
    const more = 'arm.AppImage,os=linux,arch=arm64,format=appimage';
    expect((await run(['publish', '2.0.0', more])).code).toBe(0);
  });

  it('a promotion is checked against the other channel', async () => {
    const words = ['promote', '2.0.0', '--to', 'internal'];
    expect((await run(words)).stderr).toMatch(/internal has no release in between/);
    expect((await run([...words, '--allow-stranded'])).code).toBe(0);
  });
});

describe('the report of publish', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = async (...words: string[]) => {
    const finished = await slipway(words, { cwd: directory.path });
    expect(finished.code, finished.stderr).toBe(0);
    return finished;
  };
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['a.bin', 'b.bin', 'c.bin', 'd.bin']) {
      await writeFile(path.join(directory.path, name), name);
    }
  });
  afterAll(() => directory.remove());

  it('formats that no updater feed can serve', async () => {
    const msi = 'a.bin,os=windows,arch=x64,format=msi,name=App.msi';
    const alone = await run('publish', '1.0.0', msi, '--create');
    expect(alone.stdout).toContain(
      'Warning: no updater feed can serve msi for windows-x64, and the release has nothing else there. Downloads and check-update do offer it; "slipway feeds" shows what each updater takes.',
    );
    const nsis = 'b.bin,os=windows,arch=x64,format=nsis,name=Setup.exe';
    const beside = await run('publish', '1.0.0', nsis);
    expect(beside.stdout).toContain(
      'Note: no updater feed can serve msi for windows-x64; its updaters get the nsis.',
    );
    const dmg = 'c.bin,os=macos,arch=arm64,format=dmg,name=App.dmg';
    const { warnings } = json(await run('publish', '1.0.0', dmg, '--json'));
    expect(warnings).toEqual([
      expect.stringMatching(/^Warning: no updater feed can serve dmg for macos-arm64/),
    ]);
  });

  it('skipped files on one line, and the warning last', async () => {
    const dist = path.join(directory.path, 'dist');
    await mkdir(dist);
    const byProducts = [
      'builder-debug.yml',
      'builder-effective-config.yaml',
      'App.pdb',
      'a.sha256',
    ];
    for (const name of [
      ...byProducts,
      '.DS_Store',
      'App-7.0.0.exe',
      'App-7.0.0.exe.asc',
      'odd.xyz',
    ])
      await writeFile(path.join(dist, name), name);
    const words = ['publish', '7.0.0', 'dist', 'dist/App-7.0.0.exe,os=windows,arch=x64,format=msi'];
    const { stdout } = await run(...words, '--channel', 'one-line', '--create', '--dry-run');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => /\.pdb|\.sha256|odd\.xyz|DS_Store/.test(line))).toEqual([
      'Skipped 7 paths of the build: odd.xyz, .DS_Store, App-7.0.0.exe.asc, App.pdb and 3 more. The same command with --dry-run --json lists each with the reason.',
    ]);
    expect(lines.findIndex((line) => line.startsWith('Difference:'))).toBeGreaterThan(0);
    expect(lines.slice(-2)).toEqual([
      '',
      expect.stringMatching(/^Warning: no updater feed can serve msi for windows-x64/),
    ]);
    const { skipped } = json(await run(...words, '--channel', 'one-line', '--create', '--json'));
    expect(skipped).toHaveLength(7);
  });

  it('a delta that cannot be used as a warning, because clients miss it', async () => {
    const [, last] = await buildPackages('squirrel', directory.path, ['8.0.0', '8.1.0']);
    const folder = last?.directory ?? '';
    await rm(path.join(folder, 'RELEASES'));
    const full = `${path.join(folder, last?.full.name ?? '')},os=windows,arch=x64,format=squirrel`;
    const words = ['publish', '8.1.0', folder, full, '--channel', 'deltas', '--create'];
    const { stdout } = await run(...words);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^Warning: .*-delta\.nupkg is not published: a delta, and no RELEASES beside it/,
    );
  });

  it('a universal build as one for each architecture', async () => {
    const mac = (file: string, arch: string, format: string) =>
      `${file},os=macos,arch=${arch},format=${format},name=${arch}.${format}`;
    const besides = async (version: string, ...files: string[]) =>
      json(await run('publish', version, ...files, '--channel', 'universal', '--create', '--json'))
        .warnings;
    expect(
      await besides('3.0.0', mac('a.bin', 'arm64', 'dmg'), mac('b.bin', 'universal', 'zip')),
    ).toEqual(['Note: no updater feed can serve dmg for macos-arm64; its updaters get the zip.']);
    const dmg = mac('a.bin', 'universal', 'dmg');
    const x64 = mac('b.bin', 'x64', 'zip');
    const arm64 = mac('c.bin', 'arm64', 'zip');
    expect(await besides('3.0.1', dmg, x64, arm64)).toEqual([
      'Note: no updater feed can serve dmg for macos-universal; its updaters get the zip.',
    ]);
    expect(await besides('3.0.2', dmg, x64)).toEqual([
      expect.stringMatching(
        /^Warning: .* dmg for macos-universal, .* nothing else for macos-arm64\./,
      ),
    ]);
  });

  it('no warning where feeds serve all formats', async () => {
    const zip = 'd.bin,os=macos,arch=arm64,format=zip,name=App-arm64.zip';
    expect((await run('publish', '1.1.0', zip)).stdout).not.toMatch(/Warning|Note/);
  });

  it('a newer release that clients get instead', async () => {
    const zip = 'd.bin,os=macos,arch=arm64,format=zip,name=App-arm64.zip';
    expect((await run('publish', '1.0.5', zip)).stdout).toContain(
      'stable also offers 1.1.0, which is newer. Clients that get 1.1.0 are not offered 1.0.5.',
    );
  });

  it('a new channel with a name like another as a warning, and as a question on a terminal', async () => {
    const file = (version: string) =>
      `a.bin,os=linux,arch=x64,format=deb,name=app_${version}_amd64.deb`;
    const words = ['publish', '9.0.0', file('9.0.0'), '--channel', 'stabel', '--create'];
    const said = 'stabel is a new channel. Did you mean stable?';
    const options = { cwd: directory.path, isTerminal: true };
    const asked = await slipway(words, { ...options, stdin: 'n\n' });
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining(said)]);
    const { stdout } = await run(...words);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      `Warning: ${said} Only clients that ask for stabel are offered 9.0.0. If that is wrong, run slipway promote 9.0.0 --to CHANNEL, and then slipway channels remove stabel --force.`,
    );
    await run('promote', '9.0.0', '--to', 'stable');
    await run('channels', 'remove', 'stabel', '--force');
    const other = await run('publish', '9.1.0', file('9.1.0'), '--channel', 'internal', '--create');
    expect(other.stdout).not.toContain('Did you mean');
  });
});

describe('machines that a release leaves behind', () => {
  it('are named with the option that ends their native builds', async () => {
    const directory = await makeTemporaryDirectory();
    const publish = async (version: string, arches: readonly string[], ...options: string[]) => {
      const files = [];
      for (const arch of arches) {
        const name = `App-${version}-${arch}.exe`;
        await writeFile(path.join(directory.path, name), name);
        files.push(`${name},os=windows,arch=${arch},format=nsis`);
      }
      const words = ['publish', version, ...files, '--create', ...options];
      const { code, stdout, stderr } = await slipway(words, { cwd: directory.path });
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    try {
      expect(await publish('1.0.0', ['x64', 'arm64'])).not.toContain('older release');
      expect(await publish('1.1.0', ['x64'])).toContain(
        'Clients on windows-arm64 stay on an older release: it has native builds for them, and 1.1.0 has none.\nClients of an electron feed without "?arch=" on windows also stay on the older release.\nIf 1.1.0 will get no such builds, publish it again with --end-native windows-arm64.\n',
      );
      const promote = await slipway(['promote', '1.1.0', '--to', 'beta', '--create'], {
        cwd: directory.path,
      });
      expect(promote.stdout).toMatch(
        /beta .*\nClients on windows-arm64 stay on an older release: /,
      );
      expect(promote.stdout).toMatch(/publish it again with --end-native windows-arm64\.\n/);
      const ended = await publish('1.1.0', ['x64'], '--end-native', 'win32-aarch64', '--json');
      expect(JSON.parse(ended)).toMatchObject({ changed: true, left_behind: [] });
      const words = ['publish', '1.2.0', 'App-1.1.0-x64.exe', '--end-native', 'windows'];
      const { code, stderr } = await slipway(words, { cwd: directory.path });
      expect(code).toBe(2);
      expect(stderr).toContain(
        'is not a platform with an architecture. Write it like windows-arm64',
      );
    } finally {
      await directory.remove();
    }
  });
});

/** The tests build on each other. */
describe('a change after which new visitors get no release', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const file = (version: string, os = 'linux') =>
    `${version}.zip,os=${os},arch=x64,format=zip,name=${version}-${os}.zip`;
  const run = (words: readonly string[], typed?: string) =>
    slipway(words, {
      cwd: directory.path,
      ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
    });
  const NOTHING = 'After this change: No release is offered to everybody on stable: ';
  const uploads = async (): Promise<boolean> =>
    (await readdir(directory.path)).includes('data') &&
    (await readdir(path.join(directory.path, 'data/objects/apps'))).length > 0;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await writeFile(path.join(directory.path, `${version}.zip`), version);
    }
    await mkdir(path.join(directory.path, 'data/objects/apps'), { recursive: true });
  });
  afterAll(() => directory.remove());

  it('is asked about before the upload: a first release for a share of the clients', async () => {
    const words = ['publish', '1.0.0', file('1.0.0'), '--create', '--rollout', '5%'];
    const script = await run(words);
    expect([script.code, script.stdout]).toEqual([3, '']);
    expect(script.stderr).toContain(NOTHING);
    expect(script.stderr).toContain('add --yes.');
    const no = await run(words, 'n\n');
    expect([no.code, no.stderr.includes(NOTHING)]).toEqual([3, true]);
    expect(await uploads()).toBe(false);
    const dry = await run([...words, '--dry-run']);
    expect([dry.code, dry.stderr]).toEqual([0, '']);
    expect(dry.stdout).toContain('\nWarning: No release is offered to everybody on stable: ');
    const yes = await run(words, 'y\n');
    expect([yes.code, yes.stderr.match(/Continue\?/g)?.length]).toEqual([0, 1]);
    // The state before was no better.
    const more = await run(['publish', '1.1.0', file('1.1.0'), '--rollout', '5%']);
    expect([more.code, more.stderr]).toEqual([0, '']);
  });

  it('is asked about when a release is stopped, and a script only gets a warning', async () => {
    await run(['rollout', '1.0.0', '--complete']);
    const no = await run(['pause', '1.0.0'], 'n\n');
    expect([no.code, no.stdout]).toEqual([3, '']);
    expect(no.stderr).toContain(NOTHING);
    const dry = json(await run(['pause', '1.0.0', '--dry-run', '--json']));
    expect(dry.difference.warnings).toEqual([
      expect.stringMatching(/^No release is offered to everybody on stable: /),
    ]);
    expect(dry.difference.clients).toContainEqual(
      expect.objectContaining({
        installed: null,
        before: expect.objectContaining({ offered: '1.0.0' }),
        after: expect.objectContaining({ offered: null }),
      }),
    );
    const script = await run(['pause', '1.0.0']);
    expect([script.code, script.stderr.startsWith(`slipway: ${NOTHING}`)]).toEqual([0, true]);
    await run(['resume', '1.0.0']);
    expect((await run(['yank', '1.0.0', '--yes'], '')).stderr).toBe('');
  });

  it('is refused in a script when it stops nothing: retire', async () => {
    await run(['publish', '1.2.0', file('1.2.0')]);
    const refused = await run(['retire', '1.2.0']);
    expect([refused.code, refused.stderr.includes(NOTHING)]).toEqual([3, true]);
    expect((await run(['retire', '1.2.0', '--yes'])).code).toBe(0);
  });

  it('is only a warning in a script when visitors with other platforms get one', async () => {
    await run(['publish', '2.0.0', `${file('1.2.0').replace('1.2.0-', '2.0.0-')}`]);
    const mac = file('1.1.0', 'macos').replace('1.1.0-', '2.1.0-');
    const script = await run(['publish', '2.1.0', mac, '--rollout', '5%']);
    expect([script.code, script.stderr]).toEqual([
      0,
      'slipway: After this change: No release for macos is offered to everybody on stable: new visitors with macos get no file.\n',
    ]);
  });
});

/** The words for a person who pauses a release at night. */
describe('the difference of a pause', () => {
  it('has the clients on versions that the channel does not list, and weighs them by the counts', async () => {
    const directory = await makeTemporaryDirectory();
    const run = (...words: string[]) => slipway(words, { cwd: directory.path });
    try {
      await writeFile(path.join(directory.path, 'app.zip'), 'app');
      await run('publish', '1.5.0', 'app.zip,os=linux,arch=x64,format=zip', '--create');
      const counted = await createTestService({
        env: { DATA_DIR: path.join(directory.path, 'data') },
        start: false,
      });
      await counted.refresh();
      const check = (version: string | null) =>
        counted.app.usage.countCheck({
          application: 'desktop',
          channel: 'stable',
          platform: 'linux',
          version,
          offered: null,
        });
      for (const version of ['1.5.0', '1.5.0', '1.5.0', '1.1.0']) check(version);
      await counted.app.usage.refresh();
      await counted.close();
      const { stdout } = await run('pause', '1.5.0', '--dry-run');
      const lines = stdout.trimEnd().split('\n');
      expect(lines.slice(lines.indexOf('Difference:'))).toEqual([
        'Difference:',
        '  ~  stable  1.5.0  status active → paused',
        'Clients that are offered another release than before:',
        '  stable  linux-x64 zip  older than 1.5.0 (0.0% of checks)  1.5.0 → nothing (1.5.0 is paused)',
        '  stable  linux-x64 zip  new visitors                       1.5.0 → nothing',
        'Each line also covers versions that the channel never listed, up to its next newer version.',
        'On stable, 25.0% of the counted checks came from versions that no channel lists. No percentage includes them, because their versions are not known.',
        'Warning: No release is offered to everybody on stable: new visitors get no file, and the download page says "Nothing is released here".',
      ]);
    } finally {
      await directory.remove();
    }
  });
});
