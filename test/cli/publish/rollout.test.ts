import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { slipway } from '../support.ts';

/** The output of the command line about rollouts. The tests build on each other. */
describe('slipway rollout', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const lines = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };
  const refusal = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code > 0, stdout]).toEqual([true, '']);
    return stderr;
  };
  const FILE = 'App.AppImage,os=linux,arch=x64,format=appimage';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.AppImage'), 'bytes');
    await lines('publish', '1.0.0', FILE, '--create');
  });
  afterAll(() => directory.remove());

  it('publishes to a share, shows it, and changes it', async () => {
    const published = await lines('publish', '1.1.0', FILE, '--rollout', '5%');
    expect(published).toContain(
      'desktop 1.1.0 is offered to 5% of the installations of stable. To offer it to every client, run slipway rollout 1.1.0 --complete.',
    );
    expect(await lines('rollout', '1.1.0')).toEqual([
      'Rollout of desktop 1.1.0 in ./data:',
      'CHANNEL  STATUS  OFFERED TO  PLANNED',
      'stable   active  5%          -',
    ]);
    const changed = await lines('rollout', '1.1.0', '25%', '--reason', 'quiet');
    expect(changed.slice(0, 3)).toEqual([
      'Changed the rollout of desktop 1.1.0 in ./data (catalog revision 3).',
      'CHANNEL  BEFORE  NOW  PLANNED',
      'stable   5%      25%  -',
    ]);
    expect((await lines('releases'))[2]).toMatch(/^1\.1\.0 +stable +active +25% /);
    expect((await lines('releases'))[3]).toMatch(/^1\.0\.0 +stable +active +every client /);
    expect((await lines('show', '1.1.0')).join('\n')).toMatch(
      /channels +stable \(active, to 25%\)/,
    );
    expect((await lines('history'))[2]).toMatch(/ rollout 25% +1\.1\.0 +stable +linux-x64 +quiet$/);
    const lowered = await lines('rollout', '1.1.0', '5%');
    expect(lowered).toContain(
      'Clients that have the release keep it. To withdraw it: slipway yank 1.1.0.',
    );
    expect(lowered.join('\n')).not.toContain('No release is offered to every client');
    expect(await lines('rollout', '1.0.0', '5%', '--dry-run')).toContain(
      'No release is offered to every client of stable now: visitors of a website and clients without an installation id get none. To change that: slipway rollout 1.0.0 --complete.',
    );
  });

  it('shows the times of a plan, and freezes it', async () => {
    const [, , row] = await lines('rollout', '1.1.0', '--plan', '1%@0h,10%@6h,100%@2d');
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;
    expect(row).toMatch(new RegExp(`^stable +5% +1% +10% from ${time}, 100% from ${time}$`));
    expect(await lines('rollout', '1.1.0', '--plan', '1%@0h,10%@6h,100%@2d')).toContain(
      'Nothing to do for desktop 1.1.0 in ./data (catalog revision 5).',
    );
    expect((await lines('rollout', '1.1.0', '--freeze'))[2]).toMatch(/^stable +1% +1% +frozen$/);
    expect((await lines('rollout', '1.1.0', '--unfreeze'))[2]).toMatch(/10% from/);
    expect((await lines('rollout', '1.1.0', '--complete'))[2]).toMatch(
      /^stable +1% +every client +-$/,
    );
    const { stdout } = await run('rollout', '1.1.0', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      version: '1.1.0',
      channels: [{ channel: 'stable', status: 'active', rollout: { steps: [{ share: 10_000 }] } }],
    });
  });

  it('takes the rollout from the feed of electron-builder', async () => {
    const sha512 = createHash('sha512').update('bytes').digest('base64');
    const build = path.join(directory.path, 'dist');
    await mkdir(build);
    await writeFile(path.join(build, 'App-1.0.5-x86_64.AppImage'), 'bytes');
    await writeFile(
      path.join(build, 'latest-linux.yml'),
      `version: 1.0.5\nfiles:\n  - url: App-1.0.5-x86_64.AppImage\n    sha512: ${sha512}\nstagingPercentage: 12.5\n`,
    );
    const published = (await lines('publish', '1.0.5', 'dist')).join('\n');
    expect(published).toMatch(
      /latest-linux\.yml states the stagingPercentage 12\.5\. Slipway uses it only for a new release/,
    );
    expect(published).toContain(
      'desktop 1.0.5 is offered to 12.5% of the installations of stable.',
    );
  });

  it('writes nothing in a dry run', async () => {
    const dry = await lines('rollout', '1.1.0', '5%', '--dry-run');
    expect(dry[1]).toMatch(/^Changed the rollout of desktop 1\.1\.0/);
    expect((await lines('rollout', '1.1.0'))[2]).toMatch(/every client/);
  });

  it('refuses what it cannot read, and says what to write', async () => {
    expect(await refusal('rollout', '1.1.0', '5')).toMatch(/"5" is not a percentage: write 0 to/);
    expect(await refusal('rollout', '1.1.0', '5%', '--complete')).toMatch(/Give one of these/);
    const window = ['--freeze-window', 'Fri 16:00..Mon 08:00 Europe/Berlin'];
    expect(await refusal('rollout', '1.1.0', ...window)).toMatch(/needs a plan: add --plan/);
    expect(await refusal('publish', '1.2.0', FILE, ...window)).toMatch(
      /needs a plan: add --rollout/,
    );
    expect(await refusal('rollout', '9.9.9', '5%')).toMatch(/No channel of desktop lists 9\.9\.9/);
    await lines('yank', '1.1.0');
    expect(await refusal('rollout', '1.1.0', '5%')).toMatch(/1\.1\.0 is yanked on stable/);
  });
});
