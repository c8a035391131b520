import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The output of the command line about channels. The tests build on each other. */
describe('slipway channels', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (words: readonly string[], typed?: string) =>
    slipway(words, {
      cwd: directory.path,
      ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
    });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const refusal = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(words);
    expect(stdout).toBe('');
    return `${code} ${stderr.split('\n')[0]}`;
  };
  const publish = (version: string, ...options: string[]) =>
    lines(
      'publish',
      version,
      `App.bin,os=linux,arch=x64,format=deb,name=App-${version}.deb`,
      ...options,
    );
  const LIVE = 'Running services answer with it within 5 seconds.';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.bin'), 'bytes');
  });
  afterAll(() => directory.remove());

  it('creates an application with its channels before the first release', async () => {
    expect(await refusal('channels', 'create', 'stable')).toMatch(
      /^2 slipway: There is no store in/,
    );
    expect(await lines('channels', 'create', 'stable', '--create', '--dry-run')).toEqual([
      expect.stringMatching(/^Dry run: nothing is written to \.\/data\./),
      'Created the channel stable of desktop in ./data (catalog revision 1).',
      LIVE,
      'Difference:',
      '  +  stable  channel  new',
      'No client of these channels is offered another release than before.',
    ]);
    await lines('channels', 'create', 'stable', '--create');
    expect(await refusal('channels', 'create', 'stable', '--app', 'dekstop')).toMatch(
      /^3 slipway: No application "dekstop" in this store\. Did you mean desktop\? .* Add --create/,
    );
    const beta = ['channels', 'create', 'beta', '--keep', '2', '--early-access', 'on'];
    expect(await lines(...beta)).toEqual([
      'Created the channel beta of desktop in ./data (catalog revision 2).',
      'SETTING       NOW',
      'inherits      stable',
      'keep          2',
      'early access  on',
      'Its clients also get the releases of stable.',
      LIVE,
    ]);
    expect(await lines(...beta)).toEqual([
      'Nothing to do: the channel beta of desktop in ./data has these settings (catalog revision 2).',
    ]);
  });

  it('lists the settings in columns that fit into a terminal', async () => {
    const targets = 'win32-x64,windows-arm64,macos-arm64,linux-x64,linux-arm64';
    await lines('channels', 'set', 'beta', '--expect', targets, '--reason', 'whole releases');
    const listed = await lines('channels');
    expect(listed).toEqual([
      'Channels of desktop in ./data (catalog revision 3):',
      'CHANNEL  NEWEST  OFFERS  RETIRED  INHERITS  KEEP  EXPECT  EARLY ACCESS  DOWNGRADE',
      'stable   -       0       0        none      all   none    off           off',
      'beta     -       0       0        stable    2     5       on            off',
      'A release on beta must have linux-arm64, linux-x64, macos-arm64, windows-arm64, windows-x64.',
    ]);
    expect(Math.max(...listed.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(json(await run(['channels', 'list', '--json'])).channels[1]).toEqual({
      name: 'beta',
      restricted: false,
      newest: null,
      offers: 0,
      retired: 0,
      inherits: 'stable',
      keep: 2,
      expect: ['linux-arm64', 'linux-x64', 'macos-arm64', 'windows-arm64', 'windows-x64'],
      early_access: true,
      allow_downgrade: false,
    });
    expect((await lines('history'))[2]).toMatch(
      / channel set expect \S+ +- +beta +- +whole releases$/,
    );
    expect(await lines('channels', '--at', '1')).toHaveLength(4);
  });

  it('says what a channel dropped, and asks before it does', async () => {
    await lines('channels', 'set', 'beta', '--expect', 'none');
    await publish('1.0.0');
    for (const version of ['2.0.0-beta.1', '2.0.0-beta.2'])
      await publish(version, '--channel', 'beta');
    expect(await publish('2.0.0-beta.3', '--channel', 'beta')).toContain(
      'beta keeps only its newest releases, and dropped 1 release (2.0.0-beta.1).',
    );
    const words = ['channels', 'set', 'beta', '--keep', '1'];
    const loss =
      '1 release (2.0.0-beta.2), which no client is offered. Downloads by version answer 410. This cannot be undone.';
    const no = await run(words, 'n\n');
    expect([no.code, no.stderr]).toEqual([
      3,
      expect.stringContaining(`beta drops ${loss}\nContinue? [y/N] `),
    ]);
    expect(json(await run(['channels', '--json'])).channels[1].keep).toBe(2);
    const yes = await run(words, 'y\n');
    expect([yes.code, yes.stdout.split('\n').slice(1, 4)]).toEqual([
      0,
      ['SETTING  BEFORE  NOW', 'keep     2       1', `beta dropped ${loss}`],
    ]);
    expect(
      json(
        await run([
          'publish',
          '1.0.0',
          'App.bin,os=linux,arch=x64,format=deb,name=App-1.0.0.deb',
          '--json',
        ]),
      ),
    ).toMatchObject({ dropped: [] });
    const again = ['publish', '2.0.0-beta.1', 'App.bin,os=linux,arch=x64,format=deb'];
    expect(await refusal(...again, '--channel', 'beta')).toMatch(
      /2\.0\.0-beta\.1 was retired from beta/,
    );
  });

  it('asks before clients get something else, and not otherwise', async () => {
    const words = ['channels', 'set', 'beta', '--inherits', 'none'];
    // Nothing changes for clients: the newest release is the channel's own.
    expect((await run(words, '')).code).toBe(0);
    await lines('channels', 'create', 'alpha');
    const move = ['channels', 'set', 'alpha', '--inherits', 'beta'];
    const { code, stderr } = await run(move, '\n');
    expect([code, stderr.split('\n').slice(0, 3)]).toEqual([
      3,
      [
        'The newest release for new clients:',
        'CHANNEL  TARGET         BEFORE  AFTER',
        'alpha    linux-x64 deb  1.0.0   2.0.0-beta.3',
      ],
    ]);
    expect(json(await run([...move, '--json'], 'n\n'))).toMatchObject({
      changed: true,
      settings: { inherits: 'beta' },
      settings_before: { inherits: 'stable' },
      clients: [{ channel: 'alpha', before: '1.0.0', after: '2.0.0-beta.3' }],
    });
    const { stderr: question } = await run(
      ['channels', 'set', 'alpha', '--allow-downgrade', 'on'],
      '',
    );
    expect(question).toMatch(
      /^Clients of alpha that send "allow_downgrade" may go back to an older/,
    );
    expect((await run(['channels', 'set', 'alpha', '--keep', '9'], '')).code).toBe(0);
  });

  it('removes a channel', async () => {
    expect(await refusal('channels', 'remove', 'beta')).toMatch(
      /^3 slipway: alpha inherits from beta,/,
    );
    const { code, stderr } = await run(['channels', 'remove', 'alpha'], 'n\n');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(
        /^Clients that ask for alpha get the error unknown_channel, and no updates\.\n/,
      ),
    ]);
    await lines('channels', 'remove', 'alpha', '--reason', 'unused');
    expect(await refusal('channels', 'remove', 'beta')).toMatch(
      /beta still lists 1 release: .* --force/,
    );
    expect((await lines('channels', 'remove', 'beta', '--force')).slice(0, 3)).toEqual([
      expect.stringMatching(
        /^Removed the channel beta of desktop in \.\/data \(catalog revision \d+\)\.$/,
      ),
      'Clients that ask for beta get the error unknown_channel, and no updates.',
      'It listed 1 release (2.0.0-beta.3), which cannot be published again.',
    ]);
    expect(await lines('channels')).toHaveLength(3);
    expect(await refusal('channels', 'remove', 'stable', '--force')).toMatch(
      /^3 slipway: stable is the only channel/,
    );
  });

  it.each([
    [['set', 'stable'], /^2 slipway: Say what to change on stable: --inherits, --keep, --expect,/],
    [['set', 'stable', '--keep', '0'], /^2 error: .* It must be a whole number from 1, or "all"\./],
    [['set', 'stable', '--keep', 'some'], /^2 error: .* whole number from 1, or "all"\./],
    [
      ['set', 'stable', '--expect', 'windows'],
      /^2 slipway: "windows" is not a platform with an arch/,
    ],
    [['set', 'stable', '--expect', ''], /^2 slipway: /],
    [['set', 'stable', '--early-access', 'yes'], /^2 error: .* It must be on or off\./],
    [['set', 'stable', '--inherits', 'Be ta'], /^2 slipway: "Be ta" is not a usable channel name/],
    [
      ['set', 'stabel', '--keep', '1'],
      /^3 slipway: No channel "stabel" in desktop\. Did you mean stable/,
    ],
    [['remove', 'nightly'], /^3 slipway: No channel "nightly" in desktop\. Channels: stable\./],
    [['create', 'a/b'], /^2 slipway: "a\/b" is not a usable channel name/],
    [['crate', 'beta'], /^2 error: too many arguments/],
    [['rm', 'stable'], /^2 error: too many arguments/],
  ])('refuses %j', async (words, message) => {
    expect(await refusal('channels', ...words)).toMatch(message);
  });

  it('says where the commands of a group are listed', async () => {
    const { stderr } = await run(['channels', 'rm', 'stable']);
    expect(stderr).toContain('A list takes no names. "slipway help channels" and');
  });

  it('says with releases and channels which ones are restricted to a tier', async () => {
    await publish('77.0.0', '--channel', 'insider', '--create');
    const env = { TIERS: '{"free":[],"pro":["channel:desktop/insider"]}' };
    const sentence =
      'insider is restricted by TIERS: only accounts of the tier pro are offered its releases.';
    for (const command of ['channels', 'releases']) {
      const { stdout } = await slipway([command], { cwd: directory.path, env });
      const said = stdout.split('\n').filter((line) => line.includes('restricted'));
      expect(said, command).toEqual([sentence]);
    }
    const { channels } = json(await slipway(['channels', '--json'], { cwd: directory.path, env }));
    const restricted = channels.map((each: { name: string; restricted: boolean }) => [
      each.name,
      each.restricted,
    ]);
    expect(restricted).toContainEqual(['insider', true]);
    expect(restricted).toContainEqual(['stable', false]);
  });
});
