import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** No option is ignored silently. The tests build on each other. */
describe('an option that has no effect in the present state', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (...words: string[]) => slipway(words, { cwd: directory.path });
  const output = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  const refusal = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...words);
    expect([code > 0, stdout]).toEqual([true, '']);
    return stderr;
  };
  const FILE = 'App.deb,os=linux,arch=x64,format=deb';
  const publish = ['publish', '1.5.0', FILE];
  const WINDOW = ['--freeze-window', 'Fri 16:00..Mon 08:00 Europe/Berlin'];

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(path.join(directory.path, 'App.deb'), 'bytes');
    await output('publish', '1.4.0', FILE, '--create');
    await output(...publish, '--rollout', '10%');
  });
  afterAll(() => directory.remove());

  it('--rollout of publish names the command that changes the rollout', async () => {
    expect((await output(...publish, '--rollout', '50%')).split('\n').slice(3)).toEqual([
      '',
      'Warning: --rollout 50% has no effect: 1.5.0 has a rollout on stable already, and keeps it (10%). To change it, run slipway rollout 1.5.0 50%.',
      '',
    ]);
    expect(await output(...publish, '--rollout', '5%@0h,100%@2d', ...WINDOW)).toContain(
      'run slipway rollout 1.5.0 --plan "5%@0h,100%@2d" --freeze-window "Fri 16:00..Mon 08:00 Europe/Berlin".',
    );
    expect(json(await run(...publish, '--rollout', '50%', '--json')).warnings).toEqual([
      expect.stringContaining('--rollout 50% has no effect'),
    ]);
    // The release has the rollout that the command asks for.
    for (const same of ['10%', ' 10% ']) {
      expect(await output(...publish, '--rollout', same)).not.toContain('no effect');
    }
    // The same without files.
    expect(await output('publish', '1.5.0', '--rollout', '50%')).toContain(
      'run slipway rollout 1.5.0 50%.',
    );
  });

  it('--rollout is read, wherever it stands', async () => {
    for (const wrong of ['5@', '101%', '5%@0h,1%@2h', 'soon']) {
      expect(await refusal(...publish, '--rollout', wrong)).toContain('slipway: ');
      expect(await refusal('publish', '1.5.0', '--rollout', wrong)).toContain('slipway: ');
      expect(await refusal('promote', '1.5.0', '--to', 'stable', '--rollout', wrong)).toContain(
        'slipway: ',
      );
    }
    const words = [...publish, '--rollout', '5%@0h,100%@2d', '--freeze-window', 'weekends'];
    expect(await refusal(...words)).toContain('"weekends" is not a freeze window');
  });

  it('--freeze-window is refused for a percentage, which does not change over time', async () => {
    const needed = '--freeze-window needs a plan';
    expect(await refusal(...publish, '--rollout', '10%', ...WINDOW)).toContain(needed);
    expect(await refusal('rollout', '1.5.0', '--plan', '10%', ...WINDOW)).toContain(needed);
  });

  it('--rollout of promote says the share, or names the command', async () => {
    const promote = ['promote', '1.5.0', '--to', 'beta', '--create'];
    const promoted = await output(...promote, '--rollout', '20%');
    expect(promoted).toMatch(/^Promoted desktop 1\.5\.0 to beta /);
    expect(promoted).toContain(
      'desktop 1.5.0 is offered to 20% of the installations of beta. To offer it to every client, run slipway rollout 1.5.0 --channel beta --complete.',
    );
    expect(await output(...promote, '--rollout', '30%')).toContain(
      'Warning: --rollout 30% has no effect: 1.5.0 has a rollout on beta already, and keeps it (20%). To change it, run slipway rollout 1.5.0 30% --channel beta.',
    );
    expect(json(await run(...promote, '--rollout', '30%', '--json')).warnings).toHaveLength(1);
  });

  it('--draft of a release that is offered with these files', async () => {
    expect(await output(...publish, '--draft')).toContain(
      'Warning: --draft has no effect: stable offers 1.5.0 with these files already. It holds back only a release that is not offered yet. To stop offering it, run slipway pause 1.5.0.',
    );
  });

  it('--deltas without a Velopack package', async () => {
    expect(await output(...publish, '--deltas', '5')).toContain(
      'Warning: --deltas 5 has no effect: no Velopack package is among the files.',
    );
    expect(await output(...publish)).not.toContain('--deltas');
    expect(await output(...publish, '--deltas', '0')).not.toContain('Warning');
    expect(await refusal('publish', '1.5.0', '--deltas', '5')).toContain('--deltas needs files');
  });

  it('--key where nothing is signed', async () => {
    const { code, stderr } = await run(...publish, '--key', 'ci.key');
    expect([code, stderr]).toEqual([
      0,
      'slipway: --key has no effect: TRUST_ROOT has no root of trust for desktop, so the command signs nothing.\n',
    ]);
  });

  it('--reason of a command that changes nothing, or only shows', async () => {
    const unrecorded = 'The history gets no entry with the --reason, because nothing changed.\n';
    await output('rollout', '1.5.0', '--freeze');
    for (const words of [
      ['resume', '1.5.0'],
      ['rollout', '1.5.0', '--freeze'],
      ['channels', 'set', 'stable', '--keep', 'all'],
      ['apps', 'set', '--display-name', 'none'],
    ]) {
      expect(await output(...words, '--reason', 'why')).toContain(unrecorded);
      expect(await output(...words)).not.toContain('--reason');
    }
    expect(await refusal('rollout', '1.5.0', '--reason', 'why')).toContain(
      '--reason is for a change, and this command only shows the rollout.',
    );
  });
});
