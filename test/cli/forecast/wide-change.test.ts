import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { type Finished, json, slipway } from '../support.ts';

const UNNAMED =
  'Each line also covers versions that the channel never listed, up to its next newer version.';

/** Questions before a change that reaches many clients. The tests build on each other. */
describe('on a terminal', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (words: readonly string[], typed?: string) =>
    slipway(words, {
      cwd: directory.path,
      ...(typed === undefined ? {} : { stdin: typed, isTerminal: true }),
    });
  const file = (version: string) => `${version}.AppImage,os=linux,arch=x64,format=appimage`;
  const publish = (version: string, ...options: string[]) => [
    ...['publish', version, file(version), ...options],
  ];
  const revision = async (): Promise<number> =>
    json(await run(['releases', '--json'])).catalog_revision;
  const uploads = async (): Promise<number> =>
    (await readdir(path.join(directory.path, 'data/objects/apps/desktop/artifacts'))).length;

  /** Runs the command with the answer no, and with no answer; returns the question. */
  async function question(words: readonly string[]): Promise<string> {
    const before = await revision();
    const uploaded = await uploads();
    const answers: Finished[] = [];
    for (const typed of ['n\n', '']) answers.push(await run(words, typed));
    for (const { code, stdout, stderr } of answers) {
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toContain('Continue? [y/N] ');
      expect(stderr).toContain('You did not answer "y": nothing was changed.');
    }
    expect([await revision(), await uploads()]).toEqual([before, uploaded]);
    // Progress bars are drawn on the same stream.
    const text = answers[0]?.stderr.split('\nContinue?')[0] ?? '';
    return text.slice(
      Math.max(0, text.search(/(Resuming|Raising|Promoting|Publishing|Opening the draft) \d/)),
    );
  }

  /** Runs the command where the terminal gives no answer, which must not be needed. */
  async function withoutQuestion(words: readonly string[]): Promise<Finished> {
    const finished = await run(words, '');
    expect([finished.code, finished.stderr.includes('Continue?')]).toEqual([0, false]);
    return finished;
  }

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await mkdir(path.join(directory.path, 'data'), { recursive: true });
    for (const version of [
      '1.0.0',
      '1.1.0',
      '1.2.0',
      '1.3.0',
      '1.4.0-beta.1',
      '1.5.0',
      '1.6.0',
      '1.7.0',
      '1.8.0',
      '1.9.0',
    ]) {
      await writeFile(path.join(directory.path, `${version}.AppImage`), version);
    }
  });
  afterAll(() => directory.remove());

  it('publish asks nothing for a new application or channel, or with a rollout', async () => {
    await withoutQuestion(publish('1.0.0', '--create'));
    await withoutQuestion(publish('1.4.0-beta.1', '--channel', 'beta', '--create'));
    await withoutQuestion(publish('1.1.0', '--rollout', '5%'));
    // Another run of the same command, and another platform of a release that is offered.
    await withoutQuestion(publish('1.0.0'));
    const deb = `${file('1.0.0').split(',')[0]},os=linux,arch=arm64,format=appimage,name=arm.AppImage`;
    await withoutQuestion(['publish', '1.0.0', deb]);
  });

  it('publish asks before the upload when every client of a channel gets the release', async () => {
    expect((await question(publish('1.2.0'))).split('\n')).toEqual([
      'Publishing 1.2.0 offers it to every client of stable.',
      'Clients that are offered another release than before:',
      '  stable  linux-x64 appimage  1.1.0             nothing newer → 1.2.0',
      '  stable  linux-x64 appimage  1.0.0             1.1.0 for 5%, nothing for others → 1.2.0',
      '  stable  linux-x64 appimage  older than 1.0.0  1.1.0 for 5%, 1.0.0 for others → 1.2.0',
      '  stable  linux-x64 appimage  new visitors      1.0.0 → 1.2.0',
      UNNAMED,
      'To offer it to a share of the installations first, answer no and add --rollout 5%.',
    ]);
    const { code, stdout } = await run(publish('1.2.0'), 'y\n');
    expect([code, stdout.split('\n')[0]]).toEqual([
      0,
      'Published desktop 1.2.0 to stable in ./data (catalog revision 5).',
    ]);
  });

  it('publish asks nothing with --yes, --json or --dry-run, or without a terminal', async () => {
    await withoutQuestion(publish('1.3.0', '--dry-run'));
    await withoutQuestion(publish('1.3.0', '--dry-run', '--json'));
    expect((await run(publish('1.3.0', '--dry-run'))).stderr).toBe('');
    await withoutQuestion(publish('1.3.0', '--yes'));
  });

  it('stopping asks nothing, and resume does', async () => {
    await withoutQuestion(['pause', '1.3.0']);
    expect(await question(['resume', '1.3.0'])).toBe(
      [
        'Resuming 1.3.0 offers it to every client of stable.',
        'Clients that are offered another release than before:',
        '  stable  linux-x64 appimage  1.2.0            nothing (1.3.0 is paused) → 1.3.0',
        '  stable  linux-x64 appimage  1.1.0 and older  1.2.0 → 1.3.0',
        '  stable  linux-x64 appimage  new visitors     1.2.0 → 1.3.0',
        UNNAMED,
      ].join('\n'),
    );
    expect((await run(['resume', '1.3.0'], 'yes\n')).stdout).toMatch(/^Resumed desktop 1\.3\.0/);
    // Nothing to do.
    await withoutQuestion(['resume', '1.3.0']);
    await withoutQuestion(['pause', '1.3.0']);
    await withoutQuestion(['resume', '1.3.0', '--yes']);
  });

  it('rollout asks for a raise by 50 points, and to complete; a smaller one or a lower share needs no answer', async () => {
    await run(publish('1.5.0', '--rollout', '5%'));
    await withoutQuestion(['rollout', '1.5.0', '54.99%']);
    await withoutQuestion(['rollout', '1.5.0', '5%']);
    expect((await question(['rollout', '1.5.0', '55%'])).split('\n')).toEqual([
      'Raising the rollout of 1.5.0 from 5% offers it to 55% of the installations of stable.',
      'Clients that are offered another release than before:',
      expect.stringMatching(/^ {2}stable +linux-x64 appimage +1\.3\.0 /),
      expect.stringContaining('1.5.0 for 5%, 1.3.0 for others → 1.5.0 for 55%, 1.3.0 for others'),
      expect.stringMatching(/^ {2}beta /),
      expect.stringMatching(/^ {2}beta .* and older /),
      UNNAMED,
    ]);
    await withoutQuestion(['rollout', '1.5.0', '--plan', '1%@0h,100%@2d']);
    await withoutQuestion(['rollout', '1.5.0', '--freeze']);
    await withoutQuestion(['rollout', '1.5.0', '--unfreeze']);
    expect(await question(['rollout', '1.5.0', '--complete'])).toMatch(
      /^Raising the rollout of 1\.5\.0 from 1% offers it to every client of stable\./,
    );
    expect((await run(['rollout', '1.5.0', '--complete', '--yes'], '')).code).toBe(0);
    await withoutQuestion(['rollout', '1.5.0', '--complete']);
  });

  it('promote asks, unless the channel is new; one answer is enough for two reasons', async () => {
    await withoutQuestion(['promote', '1.2.0', '--to', 'internal', '--create']);
    expect(await question(['promote', '1.5.0', '--to', 'internal'])).toMatch(
      /^Promoting 1\.5\.0 offers it to every client of internal\./,
    );
    // To a channel with a newer release: the refusal is the question.
    await run(['promote', '1.5.0', '--to', 'internal', '--yes']);
    const older = await run(['promote', '1.0.0', '--to', 'internal'], 'y\n');
    expect([older.code, older.stderr.match(/Continue\?/g)?.length]).toEqual([0, 1]);
    // --yes overrules no refusal.
    const refused = await run(['promote', '1.1.0', '--to', 'internal', '--yes'], 'n\n');
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('--allow-older')]);
  });

  it('a refusal comes before the question', async () => {
    await run(['yank', '1.3.0']);
    const { code, stderr } = await run(['resume', '1.3.0'], 'y\n');
    expect([code, stderr]).toEqual([3, expect.stringContaining('a yank is permanent')]);
    expect(stderr).not.toContain('Continue?');
  });

  it('publish asks for a rollout that every client has reached from the start, and for no other', async () => {
    expect(await question(publish('1.6.0', '--rollout', '100%'))).toMatch(
      /^Publishing 1\.6\.0 offers it to every client of stable\./,
    );
    await withoutQuestion(publish('1.6.0', '--rollout', '5%'));
    expect((await run(publish('1.7.0', '--rollout', '100%'), 'y\n')).stdout).toMatch(
      /^Published desktop 1\.7\.0 to stable/m,
    );
  });

  it('opening a draft asks, unless the draft has a rollout that few clients have reached', async () => {
    await withoutQuestion(publish('1.8.0', '--draft', '--rollout', '5%'));
    expect((await withoutQuestion(['publish', '1.8.0'])).stdout).toMatch(
      /^Published desktop 1\.8\.0 to stable/m,
    );
    await withoutQuestion(publish('1.9.0', '--draft'));
    expect(await question(['publish', '1.9.0'])).toMatch(
      /^Opening the draft 1\.9\.0 offers it to every client of stable\./,
    );
    expect(await question(['publish', '1.9.0', '--rollout', '100%'])).toMatch(
      /^Opening the draft 1\.9\.0 offers it to every client of stable\./,
    );
    await withoutQuestion(['publish', '1.9.0', '--rollout', '5%']);
  });
});
