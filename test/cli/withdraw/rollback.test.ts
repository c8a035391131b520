import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The output and the questions of `slipway rollback`. The tests build on each other. */
describe('slipway rollback', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (words: readonly string[], typed?: string) =>
    slipway(words, {
      cwd: directory.path,
      ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
    });
  const publish = async (version: string, ...options: string[]) => {
    await writeFile(path.join(directory.path, `${version}.AppImage`), version);
    const file = `${version}.AppImage,os=linux,arch=x64,format=appimage`;
    const { code, stderr } = await run(['publish', version, file, '--create', ...options]);
    expect([code, stderr]).toEqual([0, '']);
  };
  const statuses = async (): Promise<readonly string[]> =>
    json(await run(['releases', '--json'])).releases.map(
      ({ channel, version, status }: Record<string, string>) => `${channel} ${version} ${status}`,
    );
  const WORDS = ['rollback', '--to', '1.4.0', '--reason', 'loses settings'];

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const version of ['1.3.0', '1.4.0', '1.5.0', '1.5.1']) await publish(version);
    await run(['promote', '1.5.0', '--to', 'beta', '--create', '--allow-older']);
  });
  afterAll(() => directory.remove());

  it('shows in a dry run what it would yank and what clients get, once, with the difference', async () => {
    const before = await statuses();
    const { code, stdout, stderr } = await run([...WORDS, '--dry-run'], '');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      'Dry run: nothing is written to ./data. Without --dry-run, the command does this:',
      'Rolled back desktop to 1.4.0 on stable in ./data (catalog revision 6): yanked 1.5.1, 1.5.0.',
      'Clients on a yanked release keep it until they are offered a newer one. No client goes back to 1.4.0 by itself unless its application allows downgrades, and no release gets another version number.',
      "To move these clients to the old code, build its source again under a version above 1.5.1, and publish that. Clients that send allow_downgrade go back to 1.4.0 where the channel allows it; see docs/clients/own-updater.md in Slipway's repository.",
      'Running services answer with it within 5 seconds.',
      'Difference:',
      '  ~  stable  1.5.1  status active → yanked (loses settings)',
      '  ~  stable  1.5.0  status active → yanked (loses settings)',
      '  ~  beta    1.5.0  status active → yanked (loses settings)',
      'Clients that are offered another release than before:',
      '  stable  linux-x64 appimage  1.5.0 to 1.4.0   1.5.1 → nothing newer',
      '  stable  linux-x64 appimage  1.3.0 and older  1.5.1 → 1.4.0',
      '  stable  linux-x64 appimage  new visitors     1.5.1 → 1.4.0',
      '  beta    linux-x64 appimage  1.5.0 to 1.4.0   1.5.1 → nothing newer',
      '  beta    linux-x64 appimage  1.3.0 and older  1.5.1 → 1.4.0',
      '  beta    linux-x64 appimage  new visitors     1.5.1 → 1.4.0',
      'Each line also covers versions that the channel never listed, up to its next newer version.',
      'AppImages that update with zsync report an error on stable, beta from now on, and stay as they are: they state no version, and would install an older release over a newer one. This ends with the next release that they can be offered.',
      '',
    ]);
    expect(await statuses()).toEqual(before);
  });

  it('asks on a terminal after it has shown the plan; any answer but yes changes nothing', async () => {
    const before = await statuses();
    for (const typed of ['n\n', '\n', '']) {
      const { code, stdout, stderr } = await run(WORDS, typed);
      expect([typed, code]).toEqual([typed, 3]);
      expect(stdout).toContain('Afterwards, clients get:');
      expect(stdout).not.toContain('Rolled back');
      expect(stderr).toBe(
        'This yanks 2 releases of desktop permanently: 1.5.1, 1.5.0.\nContinue? [y/N] slipway: You did not answer "y": nothing was changed.\nThe store is ./data.\n',
      );
    }
    expect(await statuses()).toEqual(before);
  });

  it('yanks after a yes, without a second difference', async () => {
    const { code, stdout } = await run(WORDS, 'y\n');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nRolled back desktop to 1\.4\.0 on stable in \.\/data /);
    expect(stdout).not.toContain('Difference');
    expect(await statuses()).toEqual([
      ...['stable 1.5.1 yanked', 'beta 1.5.0 yanked', 'stable 1.5.0 yanked'],
      ...['stable 1.4.0 active', 'stable 1.3.0 active'],
    ]);
    const [, , row] = (await run(['history', '--limit', '1'])).stdout.split('\n');
    expect(row).toMatch(/ada@build-7 +rollback/);
  });

  it('is refused when nothing is newer, with exit code 3', async () => {
    const { code, stdout, stderr } = await run(WORDS, 'y\n');
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^slipway: There is nothing to roll back on stable: /);
    expect(stderr).toContain('1.5.1, 1.5.0 are yanked already.');
  });

  it('asks nothing with --yes, without a terminal, or with --json', async () => {
    await publish('1.6.0');
    expect((await run([...WORDS, '--yes'], '')).stderr).toBe('');
    await publish('1.7.0');
    expect((await run(WORDS)).stderr).toBe('');
    await publish('1.8.0');
    const done = await run([...WORDS, '--json'], 'n\n');
    expect(json(done)).toMatchObject({
      app: 'desktop',
      to: '1.4.0',
      channel: 'stable',
      changed: true,
      dry_run: false,
      yanked: [{ version: '1.8.0', channels: ['stable'] }],
      inherited: [],
      clients: expect.arrayContaining([
        expect.objectContaining({ offered: '1.4.0', installed: expect.any(Object) }),
      ]),
      difference: { changes: [{ kind: 'offer_changed', version: '1.8.0' }] },
    });
  });

  it('says which newer releases a channel still shows, and how to withdraw them', async () => {
    await publish('1.9.0');
    await publish('1.9.1-beta.1', '--channel', 'beta');
    await publish('1.4.1-beta.1', '--channel', 'beta');
    const { stdout } = await run(['rollback', '--to', '1.4.1-beta.1', '--channel', 'beta']);
    expect(stdout).toContain(
      'Clients of beta also see newer releases of the channels that it inherits: 1.9.0 (stable). These stay. To withdraw them as well: slipway rollback --to 1.4.1-beta.1 --channel stable.',
    );
  });
});
