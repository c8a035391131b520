import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The difference that a dry run prints. The tests build on each other. */
describe('the difference of a dry run', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = async (...words: string[]) => {
    const finished = await slipway(words, { cwd: directory.path });
    expect([finished.code, finished.stderr]).toEqual([0, '']);
    return finished;
  };
  /** The lines of the difference in a dry run. Then runs the command. */
  async function difference(...words: string[]): Promise<readonly string[]> {
    const { stdout } = await run(...words, '--dry-run');
    const real = (await run(...words)).stdout;
    expect(real).not.toContain('Difference');
    const [, ...parts] = stdout.trimEnd().split(/^(?=Difference)|\n\n/m);
    return parts[0]?.trimEnd().split('\n') ?? [];
  }
  const file = (version: string, as = 'os=linux,arch=x64,format=deb') => `${version}.bin,${as}`;
  const SAME = 'No client of these channels is offered another release than before.';
  const UNNAMED =
    'Each line also covers versions that the channel never listed, up to its next newer version.';
  const OTHER = 'Clients that are offered another release than before:';

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['1.0.0', '1.1.0', '1.2.0', 'mac']) {
      await writeFile(path.join(directory.path, `${name}.bin`), name);
    }
  });
  afterAll(() => directory.remove());

  it('of a publish: a new channel, a new offer, more builds, or nothing', async () => {
    expect(await difference('publish', '1.0.0', file('1.0.0'), '--create')).toEqual([
      'Difference:',
      '  +  stable  channel  new',
      '  +  stable  1.0.0    active, to every client: linux-x64 deb',
      OTHER,
      '  stable  linux-x64 deb  older than 1.0.0  nothing → 1.0.0',
      '  stable  linux-x64 deb  new visitors      nothing → 1.0.0',
      UNNAMED,
    ]);
    expect(
      await difference('publish', '1.1.0', file('1.1.0'), '--rollout', '5%@0h,100%@2d'),
    ).toEqual([
      'Difference:',
      '  +  stable  1.1.0  active, to 5% (5%@0h,100%@2d): linux-x64 deb',
      OTHER,
      '  stable  linux-x64 deb  1.0.0             nothing newer → 1.1.0 for 5%, nothing for others',
      '  stable  linux-x64 deb  older than 1.0.0  1.0.0 → 1.1.0 for 5%, 1.0.0 for others',
      UNNAMED,
    ]);
    const mac = file('mac', 'os=macos,arch=arm64,format=zip');
    expect(await difference('publish', '1.0.0', mac)).toEqual([
      'Difference:',
      '  ~  stable  1.0.0  builds +macos-arm64 zip',
      '  ~  stable  1.0.0  manifest 1 → 2',
      OTHER,
      '  stable  macos-arm64 zip  older than 1.0.0  nothing (1.1.0 has no build of this kind) → 1.0.0',
      '  stable  macos-arm64 zip  new visitors      nothing → 1.0.0',
      UNNAMED,
    ]);
    expect(await difference('publish', '1.0.0', mac)).toEqual(['Difference: none.']);
  });

  it('of a rollout: the share and the plan', async () => {
    expect(await difference('rollout', '1.1.0', '--freeze')).toEqual([
      'Difference:',
      '  ~  stable  1.1.0  rollout 5% (5%@0h,100%@2d) → 5% (5%@0h,100%@2d), frozen',
      SAME,
    ]);
    expect(await difference('rollout', '1.1.0', '25%')).toEqual([
      'Difference:',
      '  ~  stable  1.1.0  rollout 5% (5%@0h,100%@2d), frozen → 25%',
      OTHER,
      '  stable  linux-x64 deb  1.0.0             1.1.0 for 5%, nothing for others → 1.1.0 for 25%, nothing for others',
      '  stable  linux-x64 deb  older than 1.0.0  1.1.0 for 5%, 1.0.0 for others → 1.1.0 for 25%, 1.0.0 for others',
      UNNAMED,
    ]);
  });

  it('of a promotion to a channel that inherits', async () => {
    expect(await difference('promote', '1.0.0', '--to', 'beta', '--create')).toEqual([
      'Difference:',
      '  +  beta  channel   new',
      '  ~  beta  inherits  none → stable',
      '  +  beta  1.0.0     active, to every client: linux-x64 deb, macos-arm64 zip',
      OTHER,
      '  beta  linux-x64 deb    1.0.0             nothing → 1.1.0 for 25%, nothing for others',
      '  beta  linux-x64 deb    older than 1.0.0  nothing → 1.1.0 for 25%, 1.0.0 for others',
      '  beta  all targets      new visitors      nothing → 1.0.0',
      '  beta  macos-arm64 zip  older than 1.0.0  nothing → 1.0.0',
      UNNAMED,
    ]);
  });

  it('of a change of status: what was stopped, why, and who gets what instead', async () => {
    await run('rollout', '1.1.0', '--complete');
    expect(await difference('pause', '1.1.0', '--reason', 'slow')).toEqual([
      'Difference:',
      '  ~  stable  1.1.0  status active → paused (slow)',
      OTHER,
      '  stable  linux-x64 deb  1.0.0             1.1.0 → nothing (1.1.0 is paused)',
      '  stable  linux-x64 deb  older than 1.0.0  1.1.0 → 1.0.0',
      '  stable  linux-x64 deb  new visitors      1.1.0 → 1.0.0',
      '  beta    linux-x64 deb  1.0.0             1.1.0 → nothing (1.1.0 is paused)',
      '  beta    linux-x64 deb  older than 1.0.0  1.1.0 → 1.0.0',
      '  beta    linux-x64 deb  new visitors      1.1.0 → 1.0.0',
      UNNAMED,
    ]);
    expect(await difference('resume', '1.1.0')).toContain(
      '  ~  stable  1.1.0  status paused → active',
    );
    expect(await difference('yank', '1.1.0')).toContain(
      '  ~  stable  1.1.0  status active → yanked',
    );
    expect(await difference('retire', '1.1.0')).toEqual([
      'Difference:',
      '  -  stable  1.1.0  retired',
      SAME,
    ]);
  });

  it('is in the JSON of every change, dry or not', async () => {
    const words = ['publish', '1.2.0', file('1.2.0'), '--json'];
    const dry = json(await run(...words, '--dry-run'));
    const real = json(await run(...words));
    expect(dry.difference).toEqual(real.difference);
    expect(real.difference.changes).toMatchObject([{ kind: 'offer_added', version: '1.2.0' }]);
    const rollout = json(await run('rollout', '1.2.0', '5%', '--json'));
    expect(rollout.difference.changes[0].fields).toEqual([
      {
        field: 'rollout',
        before: { share: 10_000, plan: null, frozen: false },
        after: { share: 500, plan: '5%', frozen: false },
      },
    ]);
    const promoted = json(await run('promote', '1.2.0', '--to', 'beta', '--json'));
    expect(promoted.difference.clients[0]).toMatchObject({
      channel: 'beta',
      installed: { newest: expect.any(String) },
      before: { reached: [{ version: '1.2.0', share: 500 }] },
      after: { offered: '1.2.0' },
    });
  });
});
