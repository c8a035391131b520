import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, manifestOption, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** An application with releases gets a root of trust, at first with too few keys. The tests build on each other. */
describe('switching trust on for an application with releases', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const at = (name: string): string => path.join(directory.path, name);
  let env: Record<string, string> = {};
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const build = async (version: string) => {
    await rm(at('dist'), { recursive: true, force: true });
    await mkdir(at('dist'));
    await writeFile(at(`dist/App-${version}-x86_64.AppImage`), version);
  };
  const INIT = ['trust', 'init', '--root', 'k1.pub', '--channel', 'stable=k1.pub,k2.pub:2'];
  /** Looks at the releases that the keys would sign, and then makes the change. */
  const runSeen = async (...given: string[]) => {
    const [, digest = ''] =
      /--releases (\w{64})/.exec((await run(...given, '--dry-run')).stdout) ?? [];
    return run(...given, '--releases', digest);
  };
  const lost = async () =>
    (await run('releases')).stdout.match(/^\S+ +stable +active +no client/gm);

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['k1', 'k2', 'k3'])
      await run('trust', 'new-key', `${name}.key`, '--no-passphrase');
    for (const version of ['1.0.0', '1.1.0']) {
      await build(version);
      await run('publish', version, 'dist', '--create');
    }
  });
  afterAll(() => directory.remove());

  it('names the releases that would not be offered, and a script has to agree', async () => {
    const tried = await run(...INIT, '--key', 'k1.key', '--dry-run');
    expect(tried.stdout).toMatch(
      /are not offered from then on.*1\.0\.0 on stable, 1\.1\.0 on stable/,
    );
    const both = await run(...INIT, '--key', 'k1.key', '--key', 'k2.key', '--dry-run');
    expect(both.stdout).toContain(
      'the keys that you give sign these releases: 1.0.0 on stable, 1.1.0 on stable.',
    );
    expect(both.stdout).toMatch(/stable {2}1\.0\.0 {2}manifest 1 {2}[0-9a-f]{64}\n/);
    const refused = await run(...INIT, '--key', 'k1.key');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('To make the change all the same, add --yes.');
    const done = json(await run(...INIT, '--key', 'k1.key', '--yes', '--json'));
    expect(done).toMatchObject({ root: 1, lost: [{ channel: 'stable' }, { channel: 'stable' }] });
    env = { TRUST_ROOT: 'root.json', TRUST_KEY: 'k1.key' };
    expect(await lost()).toHaveLength(2);
    const checked = await run('trust', 'check');
    expect(checked).toMatchObject({ code: 1 });
    expect(checked.stdout).toContain(
      '1.0.0 is not offered on stable: too few keys signed it. Sign it',
    );
  });

  it('offers a release again once people have signed it, one after the other', async () => {
    const named = await manifestOption(run, '1.0.0');
    expect((await run('sign', '1.0.0', ...named)).stdout).toContain('1 of 2, by k1');
    expect((await run('sign', '1.0.0', '--key', 'k2.key', ...named)).stdout).toContain(
      'stable offers',
    );
    expect(await lost()).toEqual([expect.stringMatching(/^1\.1\.0/)]);
  });

  it('offers a release again once it is published with enough keys', async () => {
    const again = await run('publish', '1.1.0', 'dist', '--key', 'k1.key', '--key', 'k2.key');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(await lost()).toBeNull();
    expect(await run('trust', 'check')).toMatchObject({ code: 0 });
  });

  it('keeps the threshold when a key is added without one', async () => {
    const added = await run('trust', 'add', '--channel', 'stable=k3.pub');
    expect(added.stdout).toMatch(/offer on stable +2 of k1 \(\w{12}\), k2 \(\w{12}\), k3/);
    expect(added.stdout).toContain('Next: slipway trust show --out root-2.json');
    const raised = ['trust', 'add', '--channel', 'stable=k3.pub:3'];
    expect((await run(...raised)).stderr).toContain('1.0.0 on stable');
    const all = ['--key', 'k1.key', '--key', 'k2.key', '--key', 'k3.key'];
    const unseen = await run(...raised, ...all);
    expect(unseen).toMatchObject({ code: 3 });
    expect(unseen.stderr).toContain('add the option --releases that it prints');
    const other = await run(...raised, ...all, '--releases', '0'.repeat(64));
    expect(other.stderr).toContain('--releases names another list');
    expect((await runSeen(...raised, ...all)).stdout).toContain('3 of k1');
    expect(await lost()).toBeNull();
    const unreachable = await run('trust', 'add', '--root', 'k3.pub:3');
    expect(unreachable.stderr).toContain('The root would have 2 keys and the threshold 3.');
  });

  it('says that a channel without keys offers nothing, and how it gets keys', async () => {
    await build('2.0.0');
    const refused = await run('publish', '2.0.0', 'dist', '--channel', 'internal', '--create');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('slipway trust add --channel internal=NAME.pub:1');
    await run('trust', 'add', '--channel', 'internal=k1.pub:1');
    const published = await run('publish', '2.0.0', 'dist', '--channel', 'internal', '--create');
    expect(published.stdout).toMatch(/^Published desktop 2\.0\.0 to internal/);
  });

  it('removes a key that signed: what it signed alone is signed again, or not offered', async () => {
    await run('trust', 'add', '--root', 'k2.pub');
    // All three keys signed what stable offers, so two of them are left. Only k1 signed on internal.
    const internal = ['--channel', 'internal=k2.pub'];
    expect((await run('trust', 'add', ...internal, '--key', 'k1.key')).code).toBe(0);
    const removed = await runSeen('trust', 'remove', 'k1', '--threshold', '2', '--key', 'k2.key');
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).toMatch(/internal +2\.0\.0 +manifest 1 +[0-9a-f]{64}\n/);
    expect(removed.stdout).not.toContain('not offered from then on');
    env = { TRUST_ROOT: 'root.json', TRUST_KEY: 'k2.key' };
    expect(await run('yank', '1.0.0', '--yes')).toMatchObject({ code: 0 });
    expect(await lost()).toBeNull();
  });
});
