import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** A promotion to a channel that needs two keys, with both keys in one command. The tests build on each other. */
describe('a promotion with the keys of two people', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const env = { TRUST_ROOT: 'root.json', TRUST_KEY: 'ci.key' };
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const onTerminal = (typed: string, ...given: string[]) =>
    slipway(given, { cwd: directory.path, env, stdin: typed, isTerminal: true });
  const BOTH = ['--key', 'k1.key', '--key', 'k2.key'];
  const promote = (version: string, to: string) =>
    ['promote', version, '--to', to, '--create', ...BOTH] as const;
  const offeredOn = async (channel: string): Promise<readonly string[]> => {
    const rows = (await run('releases')).stdout.split('\n').map((row) => row.split(/ +/));
    return rows.flatMap(([version = '', on, status]) =>
      on === channel && status === 'active' ? [version] : [],
    );
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    for (const name of ['k1', 'k2', 'ci']) {
      await slipway(['trust', 'new-key', `${name}.key`, '--no-passphrase'], {
        cwd: directory.path,
      });
    }
    const channels = ['stable=k1.pub,k2.pub:2', 'beta=ci.pub', 'canary=k1.pub'];
    const made = await slipway(
      [
        ...['trust', 'init', '--root', 'k1.pub', '--operators', 'ci.pub', ...BOTH],
        ...channels.flatMap((channel) => ['--channel', channel]),
      ],
      { cwd: directory.path },
    );
    expect(made).toMatchObject({ code: 0 });
    for (const version of ['1.0.0', '1.1.0']) {
      const file = path.join(directory.path, `App-${version}-x86_64.AppImage`);
      await writeFile(file, version);
      const published = await run('publish', version, file, '--channel', 'beta', '--create');
      expect(published).toMatchObject({ code: 0 });
    }
  });
  afterAll(() => directory.remove());

  it('is a draft in a script, which signs nothing that no person has seen', async () => {
    const promoted = await run(...promote('1.0.0', 'stable'));
    expect(promoted).toMatchObject({ code: 0 });
    expect(promoted.stdout).toMatch(/^Made a draft of desktop 1\.0\.0 on stable/);
    expect(await offeredOn('stable')).toEqual([]);
  });

  it('shows the release on a terminal, asks, and offers it', async () => {
    const refused = await onTerminal('n\n', ...promote('1.1.0', 'stable'));
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.stdout).toMatch(/App-1\.1\.0-x86_64\.AppImage\n.*\n +[0-9a-f]{64}\n/);
    expect(refused.stderr).toMatch(/You sign 2 files with manifest 1, SHA-256 [0-9a-f]{12}…/);
    expect(await offeredOn('stable')).toEqual([]);
    const signed = await onTerminal('y\n', 'sign', '1.1.0', ...BOTH);
    expect(signed.stdout).toContain('stable offers desktop 1.1.0 now');
    expect(await offeredOn('stable')).toEqual(['1.1.0']);
  });

  it('names files and digests where one key is enough', async () => {
    const promoted = await run(...promote('1.1.0', 'canary'));
    expect(promoted.stdout).toMatch(
      /The keys signed manifest 1, SHA-256 [0-9a-f]{64}, with:\n {2}App-1\.1\.0-x86_64\.AppImage {2}[0-9a-f]{64}\n/,
    );
    expect(await offeredOn('canary')).toEqual(['1.1.0']);
  });
});
