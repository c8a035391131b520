import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { slipway } from '../support.ts';

/** The output of commands about the state of a release. The tests build on each other. */
describe('the sentences that commands print about a release', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = async (command: string) => {
    const { code, stdout, stderr } = await slipway(command.split(' '), { cwd: directory.path });
    return { code, first: stdout.split('\n')[0], stdout, stderr };
  };
  const file = 'os=linux,arch=x64,format=appimage';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const version of ['1.5.0', '1.6.0', '1.7.0']) {
      await writeFile(path.join(directory.path, `${version}.AppImage`), version);
    }
    await run(`publish 1.5.0 1.5.0.AppImage,${file} --create`);
    await run(`publish 1.6.0 1.6.0.AppImage,${file}`);
    await run(`publish 1.7.0 1.7.0.AppImage,${file} --channel beta --create`);
  });
  afterAll(() => directory.remove());

  it.each(['yank', 'pause', 'resume', 'retire'])(
    '%s of a version that the channel does not list names the channels that list it',
    async (verb) => {
      const { code, stdout, stderr } = await run(`${verb} 1.6.0 --channel beta`);
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toBe(
        'slipway: The channel beta of desktop does not list 1.6.0. It is listed on stable.\nThe store is ./data.\n',
      );
    },
  );

  it('unknown names are answered with similar names', async () => {
    expect((await run('yank 1.6.1')).stderr).toMatch(
      /No channel of desktop lists 1\.6\.1\. Did you mean 1\.6\.0\? "slipway releases" lists/,
    );
    expect((await run('promote 1.6.9 --to beta')).stderr).toMatch(/Did you mean 1\.6\.0\?/);
    expect((await run('show 1.6.9')).stderr).toMatch(/Did you mean 1\.6\.0\?/);
    expect((await run('yank 1.6.0 --channel bta')).stderr).toMatch(
      /No channel "bta" in desktop\. Did you mean beta\? Channels: stable, beta\./,
    );
    expect((await run('promote 1.6.0 --to bta')).stderr).toMatch(/Did you mean beta\?/);
    for (const command of ['yank 1.6.0', 'releases', 'show 1.6.0', 'promote 1.6.0 --to beta']) {
      const { code, stderr } = await run(`${command} --app dektop`);
      expect(code).toBe(3);
      expect(stderr).toMatch(
        /No application "dektop" in this store\. Did you mean desktop\? Applications/,
      );
    }
    expect((await run(`publish 1.7.0 1.7.0.AppImage,${file} --app dektop`)).stderr).toMatch(
      /No application "dektop" in this store\. Did you mean desktop\? .* Add --create/,
    );
  });

  it('a release that has the status already is reported with it', async () => {
    expect(await run('resume 1.6.0')).toMatchObject({
      code: 0,
      stdout: 'Nothing to do: desktop 1.6.0 is active on stable in ./data (catalog revision 3).\n',
    });
    await run('pause 1.6.0 --reason slow');
    for (const again of ['pause 1.6.0', 'pause 1.6.0 --reason slow']) {
      expect((await run(again)).stdout).toBe(
        'Nothing to do: desktop 1.6.0 is paused on stable in ./data (catalog revision 4).\n',
      );
    }
  });

  it('a paused release gets its reason later, and clients get the same as before', async () => {
    expect((await run('pause 1.6.0 --reason slower')).stdout).toBe(
      'Recorded the reason: desktop 1.6.0 is paused on stable in ./data (catalog revision 5). Clients get the same as before.\n',
    );
    expect((await run('history')).stdout).toMatch(/\n5 .* pause reason only +1\.6\.0 .* slower\n/);
    expect((await run('releases')).stdout).toMatch(/1\.6\.0 +stable +paused .* slower\n/);
  });

  it('a paused release is reported as paused by publish and promote', async () => {
    const again = await run(`publish 1.6.0 1.6.0.AppImage,${file}`);
    expect(again.first).toBe(
      'Nothing to do: desktop 1.6.0 is paused on stable in ./data with these files (catalog revision 5).',
    );
    await writeFile(path.join(directory.path, '1.6.0.deb'), 'another');
    const more = await run('publish 1.6.0 1.6.0.deb,os=linux,arch=x64,format=deb');
    expect(more.stdout).toContain(
      'It stays paused on stable: clients get it after "slipway resume 1.6.0".',
    );
    expect((await run('promote 1.6.0 --to stable')).first).toBe(
      'Nothing to do: desktop 1.6.0 is paused on stable in ./data (catalog revision 6).',
    );
  });

  it('a change on some channels reports the status on the others', async () => {
    await run('resume 1.6.0');
    await run('promote 1.6.0 --to internal --create');
    await run('pause 1.6.0 --channel internal');
    const both = await run('pause 1.6.0');
    expect(both.stdout).toMatch(
      /^Paused desktop 1\.6\.0 on stable in .*\nIt was paused on internal before\.\n/,
    );
    await run('resume 1.6.0');
  });

  it('a withdrawal reports what clients get now', async () => {
    const { stdout } = await run('yank 1.6.0');
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'Yanked desktop 1.6.0 on stable, internal in ./data (catalog revision 12).',
      'Running services answer with it within 5 seconds.',
      'Clients on 1.6.0 and older versions now get:',
      'CHANNEL   TARGET              INSTALLED         GETS',
    ]);
    expect(stdout).toMatch(/stable +all targets +1\.6\.0 +nothing newer: stays on 1\.6\.0/);
    expect(stdout).toMatch(/beta +linux-x64 appimage +1\.5\.0 and older +1\.7\.0/);
    expect(stdout).toMatch(
      /Publish a newer release to move clients off 1\.6\.0\.\nAppImages that update with zsync report an error on stable, internal from now on,/,
    );
  });

  it('a withdrawn stepping stone is reported with the release that it led to', async () => {
    for (const version of ['3.0.0', '3.1.0', '4.0.0']) {
      await writeFile(path.join(directory.path, `${version}.AppImage`), version);
    }
    await run(`publish 3.0.0 3.0.0.AppImage,${file} --app gated --create`);
    await run(`publish 3.1.0 3.1.0.AppImage,${file} --app gated`);
    await run(`publish 4.0.0 4.0.0.AppImage,${file} --app gated --requires >=3.1.0`);
    const sentence = (start: string) =>
      `Without 3.1.0, older clients on stable cannot reach 4.0.0, which requires a release in between. ${start} a release that they can install and that 4.0.0 accepts.\n`;
    const paused = await run('pause 3.1.0 --app gated');
    expect(paused.stdout).toContain(sentence('Resume 3.1.0, or publish'));
    expect((await run('resume 3.1.0 --app gated')).stdout).not.toContain('Without 3.1.0');
    const yanked = await run('yank 3.1.0 --app gated');
    expect(yanked.stdout).toMatch(/ 3\.0\.0 +nothing \(4\.0\.0 requires a release in between\)\n/);
    expect(yanked.stdout).toContain(sentence('Publish'));
  });

  it('a change is live after two polls of the interval in the settings', async () => {
    const env = { CATALOG_POLL_INTERVAL: '30s' };
    const words = ['resume', '3.0.0', '--app', 'gated'];
    await slipway(['pause', ...words.slice(1)], { cwd: directory.path, env });
    const { stdout } = await slipway(words, { cwd: directory.path, env });
    expect(stdout).toContain('Running services answer with it within 61 seconds.\n');
  });

  it('a retired release is reported as retired, not as unknown', async () => {
    await run('retire 1.6.0');
    expect((await run('retire 1.6.0')).first).toMatch(
      /^Nothing to do: desktop 1\.6\.0 is retired from stable, internal in \.\/data /,
    );
    for (const command of [
      'yank 1.6.0',
      'pause 1.6.0',
      'resume 1.6.0',
      'promote 1.6.0 --to beta',
    ]) {
      const { code, stderr } = await run(command);
      expect(code, command).toBe(3);
      expect(stderr, command).toMatch(/1\.6\.0.* was retired/);
    }
  });
});
