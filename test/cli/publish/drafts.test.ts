import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The output of the command line about drafts. The tests build on each other. */
describe('drafts on the command line', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const refusal = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stdout]).toEqual([3, '']);
    return stderr;
  };
  const WINDOWS = 'App.exe,os=windows,arch=x64,format=nsis';
  const MACOS = 'App.zip,os=macos,arch=arm64,format=zip';
  const EXPECT = ['--expect', 'windows-x64', '--expect', 'darwin-aarch64, windows-x64'];
  const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.exe'), 'program');
    await writeFile(path.join(directory.path, 'App.zip'), 'archive');
  });
  afterAll(() => directory.remove());

  it('holds a release back, and says for what it waits; a dry run says the same', async () => {
    const words = ['publish', '1.5.0', WINDOWS, ...EXPECT, '--create'];
    const waits = new RegExp(
      String.raw`^Added 1 file to the draft 1\.5\.0 of stable in \./data \(catalog revision 1\); it waits for macos-arm64 since ${TIME}\. Clients see nothing of it yet\.$`,
    );
    const [dry, ...planned] = await lines(...words, '--dry-run');
    expect(dry).toMatch(/^Dry run: nothing is written/);
    expect(planned[0]).toMatch(waits);
    expect((await run('releases')).code).toBe(2);
    const done = await lines(...words);
    expect(done[0]).toMatch(waits);
    expect(done.slice(2)).toEqual([
      'Created the store in ./data.',
      'Created the channel stable.',
      'Clients see it when it offers its first release.',
      'The publish that adds the last missing build offers it to clients. To offer it without them, run slipway publish 1.5.0 --release-partial.',
    ]);
    const again = json(await run(...words, '--json'));
    expect(again).toMatchObject({
      status: 'draft',
      changed: false,
      draft: { channel: 'stable', version: '1.5.0', missing: [{ os: 'macos', arch: 'arm64' }] },
    });
  });

  it('shows it in releases and show, with what is missing', async () => {
    const row = (await lines('releases'))[2];
    expect(row).toMatch(
      new RegExp(
        String.raw`^1\.5\.0 +stable +draft +no client +- +windows-x64 +waits for macos-arm64 since ${TIME}$`,
      ),
    );
    expect(json(await run('releases', '--json'))).toMatchObject({
      releases: [],
      drafts: [
        {
          channel: 'stable',
          version: '1.5.0',
          opens: 'when_complete',
          expect: [
            { os: 'macos', arch: 'arm64' },
            { os: 'windows', arch: 'x64' },
          ],
          missing: [{ os: 'macos', arch: 'arm64' }],
        },
      ],
    });
    expect((await lines('show', '1.5.0'))[1]).toMatch(/^ +draft +stable: it waits for macos-arm64/);
    expect(json(await run('show', '1.5.0', '--json'))).toMatchObject({
      offers: [],
      drafts: [{ channel: 'stable', missing: [{ os: 'macos' }] }],
    });
    expect(await refusal('rollout', '1.5.0')).toMatch(/1\.5\.0 is a draft on stable: no client/);
    expect(await refusal('pause', '1.5.0')).toMatch(/To offer it, run slipway publish 1\.5\.0\./);
  });

  it('offers it with the last build, in a dry run too, and says how long it was a draft', async () => {
    expect(await refusal('publish', '1.5.0')).toMatch(
      /no build for these .*: macos-arm64\. .*partial/,
    );
    const words = ['publish', '1.5.0', MACOS, ...EXPECT, '--rollout', '5%', '--yes'];
    const [, planned] = await lines(...words, '--dry-run');
    const done = await lines(...words);
    expect(planned).toBe(done[0]);
    expect(done[0]).toBe('Published desktop 1.5.0 to stable in ./data (catalog revision 2).');
    expect(done[2]).toMatch(
      new RegExp(`^It was a draft since ${TIME}, and has builds for macos-arm64, windows-x64\\.$`),
    );
    expect(done[3]).toMatch(/offered to 5% of the installations/);
    const kinds = (await lines('history')).slice(2).map((line) => line.split(/ {2,}/)[3]);
    expect(kinds).toEqual(['publish 5%', 'draft']);
  });

  it('opens a draft on command, and says what is offered', async () => {
    const added = await lines(
      'publish',
      '1.6.0',
      WINDOWS,
      '--draft',
      '--channel',
      'beta',
      '--create',
    );
    expect(added[0]).toMatch(/it waits for "slipway publish 1\.6\.0 --channel beta" since/);
    expect(added.at(-1)).toBe('To offer it, run slipway publish 1.6.0 --channel beta.');
    expect(await refusal('publish', '1.6.0')).toMatch(/It is a draft on beta: .* --channel beta\./);
    const opened = await lines('publish', '1.6.0', '--channel', 'beta', '--yes');
    expect(opened.slice(0, 2)).toEqual([
      'Published desktop 1.6.0 to beta in ./data (catalog revision 4).',
      '  windows  x64  nsis  App.exe  7 B  offered',
    ]);
    expect((await lines('publish', '1.6.0', '--channel', 'beta'))[0]).toBe(
      'Nothing to do: desktop 1.6.0 is active on beta in ./data (catalog revision 4).',
    );
    const late = await lines('publish', '1.6.0', WINDOWS, '--channel', 'beta', ...EXPECT);
    expect(late).toContain(
      'It has no build for macos-arm64. --expect holds back only a release that is not offered yet.',
    );
  });

  it('asks on a terminal before it offers less than is expected', async () => {
    await lines('publish', '1.7.0', WINDOWS, ...EXPECT);
    const options = { cwd: directory.path, isTerminal: true };
    const no = await slipway(['publish', '1.7.0'], { ...options, stdin: 'n\n' });
    expect(no).toMatchObject({ code: 3, stdout: '' });
    expect(no.stderr).toMatch(
      /no build for these expected targets on stable: macos-arm64[\s\S]*Continue\?/,
    );
    const yes = await slipway(['publish', '1.7.0'], { ...options, stdin: 'y\n' });
    expect(yes.stdout).toMatch(/^Published desktop 1\.7\.0 to stable/);
  });

  it('discards a draft, and says that the version is free', async () => {
    await lines('publish', '1.8.0', WINDOWS, '--draft');
    const discarded = await lines('retire', '1.8.0');
    expect(discarded).toEqual([
      'Discarded the draft 1.8.0 of stable in ./data (catalog revision 8). No client saw it. The version is free: slipway publish 1.8.0 can begin it again.',
    ]);
    // Pasted as it is, a command would work on the default application.
    const tool = ['--app', 'tool'];
    await lines('publish', '1.0.0', WINDOWS, '--create', ...tool);
    expect((await lines('publish', '1.8.0', WINDOWS, '--draft', ...tool)).slice(-2)).toEqual([
      'To offer it, run slipway publish 1.8.0.',
      'Add --app tool to the commands that are named here.',
    ]);
    const wrong = await run('rollout', '1.8.0', '5%', ...tool);
    expect(wrong.stderr).toMatch(/Add --app tool to the commands that are named here\.\n$/);
    expect((await run('rollout', '1.0.0', ...tool)).stdout).not.toContain('--app');
    await lines('publish', '1.8.0', MACOS, '--draft');
    expect(json(await run('retire', '1.8.0', '--json'))).toMatchObject({
      changed: true,
      discarded: ['stable'],
      listed: [],
    });
    expect((await run('verify')).code).toBe(0);
  });
});
