import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { countChecks, createProcess } from '../../usage/support.ts';

/** The whole command, on a directory store with releases and counts. */
describe('slipway simulate', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let service: TestService;
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    slipway(['simulate', ...words], { cwd: directory.path, env });
  const file = (name: string) => path.join(directory.path, name);
  const WINDOWS = 'App.exe,os=windows,arch=x64,format=nsis';
  const LINUX = 'App.AppImage,os=linux,arch=x64,format=appimage';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(file('App.exe'), 'bytes');
    await writeFile(file('App.AppImage'), 'bytes');
    const publish = async (version: string, ...words: string[]) => {
      const { code, stderr } = await slipway(
        ['publish', version, WINDOWS, LINUX, '--create', ...words],
        { cwd: directory.path },
      );
      expect([code, stderr]).toEqual([0, '']);
    };
    await publish('1.0.0');
    await publish('1.1.0');
    await publish('1.2.0', '--requires', '>=1.1.0');
    await publish('1.3.0', '--rollout', '5%@0h,50%@6h,100%@24h');
    service = await createTestService({ env: { DATA_DIR: file('data') } });
    const usage = createProcess(service.app.privateStore, service.clock);
    countChecks(usage, 30, { version: '1.0.0' });
    countChecks(usage, 10, { version: '1.1.0', platform: 'linux' });
    await usage.refresh();
  });
  afterAll(() => Promise.all([service.close(), directory.remove()]));

  /** Every object with its size and time. */
  async function storeSnapshot(): Promise<readonly string[]> {
    const root = file('data');
    const names = (await readdir(root, { recursive: true })).map(String).sort();
    return Promise.all(
      names.map(async (name) => {
        const { size, mtimeNs, ino } = await lstat(path.join(root, name), { bigint: true });
        return `${name} ${ino} ${size} ${mtimeNs}`;
      }),
    );
  }

  it('prints who gets what now and at each step, and the picture', async () => {
    const { code, stdout, stderr } = await run(['--fleet', '8000']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'Simulated 8,000 installations of desktop on stable in ./data (catalog revision 4, seed 1).',
      'The fleet is made up: its installations are spread evenly over 3 versions of stable and the targets of each, and over versions that it never listed: 0.0.0-0. The last one stands for all older versions. A client that is newer than all releases is offered nothing, so there is none.',
      '',
    ]);
    expect(stdout).toContain('No installation is stranded.');
    // A minute may pass before the command runs.
    expect(stdout).toMatch(/^VERSION +INSTALLED +NOW +\+(6h|5h 59m) +\+(1d|23h 59m)$/m);
    expect(stdout).toMatch(
      /^1\.3\.0 +- +[3-5]\d\d \(\d\.?\d?%\) +[34],\d{3} \(\d\d\.?\d?%\) +8,000 \(100%\)$/m,
    );
    expect(stdout).toMatch(/^1\.2\.0 +linux-x64, windows-x64 +2,000 +1\.3\.0 /m);
    expect(stdout).toMatch(/^ +keeps its own +1,\d{3} \(9\d\.?\d?%\) /m);
    expect(stdout).toContain('Versions over time:\n100% ┤');
    expect(lines.at(-2)).toBe('      █ 1.3.0   ▓ 1.2.0');
  });

  it('prints the same for the same seed', async () => {
    const words = ['--fleet', '500', '--with', 'rollout 1.2.0 40%', '--with', 'pause 1.3.0'];
    const shares = async (...seed: string[]) =>
      json(await run([...words, ...seed, '--json'])).proposed;
    expect(await shares()).toEqual(await shares());
    expect(await shares('--seed', '2')).not.toEqual(await shares());
  });

  it('compares the state with a proposed change, made by the command itself', async () => {
    const before = await storeSnapshot();
    const { code, stdout, stderr } = await run([
      '--fleet',
      '8000',
      '--with',
      'pause 1.1.0 --reason "it is slow"',
      '--with',
      'pause 1.3.0',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Proposed, and not made: slipway pause 1.1.0 --reason "it is slow"');
    expect(stdout).toMatch(
      /^STRANDED: no updates lead 4,000 installations to the newest release that they could run\. Without the change, 0 are stranded.\nINSTALLED +TARGET +COUNT +STAYS ON +MISSES +STOPPED BY\n1\.0\.0 +linux-x64, windows-x64 +2,000 +1\.0\.0 +1\.2\.0 +1\.2\.0 requires >=1\.1\.0; 1\.1\.0 is paused\n0\.0\.0-0 +linux-x64, windows-x64 +2,000 +1\.0\.0 /m,
    );
    expect(stdout).toMatch(/^1\.0\.0 +present +2,000 \(25%\) +-/m);
    expect(stdout).toMatch(/^1\.0\.0 +proposed +2,000 \(25%\) +4,000 \(50%\)/m);
    expect(stdout).toContain(
      'When all plans have ended, these do not have the newest release with the proposed change:',
    );
    expect(await storeSnapshot()).toEqual(before);
  });

  it('makes several changes in order, and says when nothing differs', async () => {
    const undone = json(
      await run(['--with', 'pause 1.3.0', '--with', 'resume 1.3.0', '--fleet', '100', '--json']),
    );
    expect(undone.changed).toBe(true);
    expect(undone.proposed.versions).toHaveLength(undone.present.versions.length);
    const { stdout } = await run(['--fleet', '100', '--with', 'resume 1.3.0']);
    expect(stdout).toContain('In the present state, this changes nothing.');
    expect(stdout).toMatch(/^1\.3\.0 +both +- /m);
    const published = await run([
      '--with',
      `publish 1.4.0 ${WINDOWS} --rollout 30%`,
      '--fleet',
      '100',
      '--json',
    ]);
    expect(json(published).proposed.versions[0].version).toBe('1.4.0');
  });

  it.each([
    ['pause 9.9.9', 3, /--with "pause 9\.9\.9" is refused: No channel of desktop lists 9\.9\.9\./],
    ['rollout 1.3.0 25', 2, /"25" is not a percentage: write 0 to 100/],
    ['publish 1.3.0 Missing.exe', 2, /is refused: .*Missing\.exe/],
    ['rolout 1.3.0 25%', 2, /cannot be simulated: unknown command 'rolout'/],
    [
      '',
      2,
      /--with "" cannot be simulated: .* Give --with a command such as "rollout 1\.5\.0 25%"/,
    ],
    ['pause', 2, /cannot be simulated: missing required argument 'version'/],
    ['--help', 2, /cannot be simulated: it is not a command that changes releases/],
    ['releases', 2, /"releases" changes no release\. Give --with a command such as/],
    ['simulate', 2, /"simulate" changes no release/],
    ['gc', 2, /"gc" changes no release/],
    ['pause 1.3.0 --app other', 2, /changes other, and the simulation is about desktop/],
    ['pause "1.3.0', 2, /quotation mark that is not closed/],
  ])(
    'refuses the change %s with its own message, and changes nothing',
    async (line, exit, message) => {
      const before = await storeSnapshot();
      const { code, stdout, stderr } = await run(['--with', 'yank 1.1.0', '--with', line]);
      expect([code, stdout]).toEqual([exit, '']);
      expect(stderr).toMatch(message);
      expect(await storeSnapshot()).toEqual(before);
    },
  );

  it('takes the fleet from a file', async () => {
    await writeFile(
      file('fleet.csv'),
      'version,platform,arch,count\n1.0.0,windows,x64,7\n1.2.0,linux,arm64,3\n',
    );
    const { present, installations } = json(await run(['--csv', 'fleet.csv', '--json']));
    expect(installations).toBe(10);
    expect(present.groups).toMatchObject([
      { version: '1.0.0', target: 'windows-x64', count: 7 },
      { version: '1.2.0', target: 'linux-arm64', count: 3 },
    ]);
    expect(present.waiting).toEqual([
      {
        channel: 'stable',
        version: '1.2.0',
        reason: 'unsupported_platform',
        withheld: '1.3.0',
        count: 3,
      },
    ]);
    await writeFile(file('fleet.csv'), 'version,platform,arch,count\n1.0.0,windows,x64,many\n');
    const bad = await run(['--csv', 'fleet.csv']);
    expect([bad.code, bad.stdout]).toEqual([2, '']);
    expect(bad.stderr).toContain(
      'fleet.csv has 1 row that cannot be read; nothing was simulated.\nLine 2: "many"',
    );
    expect((await run(['--csv', 'none.csv'])).stderr).toMatch(
      /none\.csv failed on stat: no such file/,
    );
  });

  it('names a withdrawn version once, whichever newer release its installations cannot have', async () => {
    await writeFile(
      file('withdrawn.csv'),
      'version,platform,arch,count\n1.2.0,windows,x64,7\n1.2.0,linux,arm64,3\n',
    );
    const changes = ['yank 1.2.0', 'pause 1.3.0', `publish 1.4.0 ${LINUX}`];
    const words = ['--csv', 'withdrawn.csv', ...changes.flatMap((each) => ['--with', each])];
    const { stdout } = await run(words);
    expect(stdout).toMatch(
      /^RUN +COUNT +BECAUSE\n1\.2\.0 +10 +their version was withdrawn, and they are not offered a newer release\n\n/m,
    );
    const { waiting } = json(await run([...words, '--json'])).proposed;
    const of = (withheld: string, count: number) => ({
      ...{ channel: 'stable', version: '1.2.0', reason: 'withdrawn', withheld, count },
    });
    expect(waiting).toEqual([of('1.3.0', 7), of('1.4.0', 3)]);
  });

  it('takes the shares of the fleet from the counted checks', async () => {
    const seen = json(await run(['--seen', '--fleet', '100', '--json']));
    expect(seen.present.groups).toMatchObject([
      { version: '1.0.0', target: 'windows-x64', count: 75 },
      { version: '1.1.0', target: 'linux-x64', count: 25 },
    ]);
    expect(seen.fleet).toContain('in proportion to 40 counted checks');
    const other = await run(['--seen', '--channel', 'beta']);
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(other.stderr).toContain('have no checks with a version in this time');
  });

  it('writes an SVG, and never over a file', async () => {
    expect((await run(['--svg', 'ramp.svg', '--fleet', '100'])).stdout).toMatch(
      /\nWrote ramp\.svg\.\n$/,
    );
    const svg = await readFile(file('ramp.svg'), 'utf8');
    expect(svg).toContain('Versions of desktop on stable over time');
    const again = await run(['--svg', 'ramp.svg']);
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toMatch(
      /ramp\.svg exists already\. Remove it, or give --svg another name\./,
    );
    expect(await readFile(file('ramp.svg'), 'utf8')).toBe(svg);
    await rm(file('ramp.svg'));
  });

  it('has every number as JSON', async () => {
    const { times, present, proposed } = json(await run(['--fleet', '1000', '--json']));
    expect(proposed).toBeNull();
    expect(times).toHaveLength(3);
    for (const { running, count } of present.groups) {
      const sums = [0, 1, 2].map((index) =>
        running.reduce(
          (sum: number, each: { counts: number[] }) => sum + (each.counts[index] ?? 0),
          0,
        ),
      );
      expect(sums).toEqual([count, count, count]);
    }
    const sum = (index: number) =>
      present.versions.reduce(
        (total: number, each: { counts: number[] }) => total + (each.counts[index] ?? 0),
        0,
      );
    expect([sum(0), sum(1), sum(2)]).toEqual([1000, 1000, 1000]);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['two fleets', ['--csv', 'fleet.csv', '--seen'], /Give --csv or --seen, not both/],
    ['a size of a file', ['--csv', 'fleet.csv', '--fleet', '5'], /leave out --fleet/],
    ['days of no counts', ['--days', '5'], /--days needs --seen/],
    [
      'a change of the past',
      ['--at', '2', '--with', 'pause 1.1.0'],
      /give --at or --with, not both/,
    ],
    ['a huge fleet', ['--fleet', '9999999999'], /At most 100000000 installations/],
    ['an unknown channel', ['--channel', 'beta'], /No channel "beta" in desktop/],
    ['an unknown application', ['--app', 'other'], /No application "other"/],
  ])('refuses %s', async (_what, words, message) => {
    const { code, stdout, stderr } = await run(words);
    expect([code > 1, stdout]).toEqual([true, '']);
    expect(stderr).toMatch(message);
  });

  it('draws with ASCII where the locale has no block characters', async () => {
    const { stdout } = await run(['--fleet', '100'], { LANG: 'C' });
    expect(stdout).toContain('Versions over time:\n100% |');
    expect(stdout).toMatch(/^[ -~\n]+$/);
  });
});
