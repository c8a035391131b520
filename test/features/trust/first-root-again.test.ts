import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../../src/core/check.ts';
import { json, slipway } from '../../cli/support.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../support/release.ts';

/** An admin deletes the first root, and a person makes another one. The tests build on each other. */
describe('a first root that is made again', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let env: Record<string, string> = {};
  const at = (name: string): string => path.join(directory.path, name);
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const stored = (key: string): string => at(`data/objects/apps/desktop/${key}`);
  /** Looks at the releases that the key would sign, and then makes the root. */
  const init = async (key: string, out: string) => {
    const command = [
      ...['trust', 'init', '--root', `${key}.pub`, '--channel', `stable=${key}.pub`],
      ...['--key', `${key}.key`, '--out', out],
    ];
    const seen = /--releases (\w{64})/.exec((await run(...command, '--dry-run')).stdout)?.[1];
    return run(...command, ...(seen === undefined ? [] : ['--releases', seen]));
  };
  const deleteRoot = async (): Promise<void> => {
    for (const role of ['root', 'targets']) await rm(stored(`trust/${role}/1.json`));
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const key of ['k1', 'k2']) await run('trust', 'new-key', `${key}.key`, '--no-passphrase');
    await makeArtifact(directory.path, { filename: 'App-1.0.0-x86_64.AppImage' });
    await run('publish', '1.0.0', 'App-1.0.0-x86_64.AppImage', '--create');
  });
  afterAll(() => directory.remove());

  it('after an attempt that stopped half way, of which every command tells', async () => {
    expect(await init('k1', 'half.json')).toMatchObject({ code: 0 });
    // The first signed revision, its hint and its timestamp were not stored.
    await rm(stored('catalog/0000000002.json'));
    await rm(stored('trust/timestamp'), { recursive: true });
    await rm(at('data/objects/changes/2.json'));
    const refused = await run('releases');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('If "slipway trust init" stopped half way, run it again.');
    const doctor = await run('doctor', '--json');
    expect(doctor.code).toBe(1);
    const failed = json(doctor).checks.filter((check: Check) => check.outcome === 'failed');
    expect(failed).toMatchObject([{ name: 'signatures' }]);
    expect(failed[0].detail).toContain('apps/desktop/trust/root/1.json');
    await deleteRoot();
    expect(await init('k1', 'root.json')).toMatchObject({ code: 0, stderr: '' });
  });

  it('after the people have lost all keys of the first one', async () => {
    expect((await init('k2', 'new.json')).stderr).toContain('has a root of trust already');
    await deleteRoot();
    const made = await init('k2', 'new.json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('sign these releases: 1.0.0 on stable.');
    env = { TRUST_ROOT: 'new.json', TRUST_KEY: 'k2.key' };
    expect(await run('trust', 'check')).toMatchObject({ code: 0 });
    expect(await run('yank', '1.0.0', '--yes')).toMatchObject({ code: 0 });
  });
});
