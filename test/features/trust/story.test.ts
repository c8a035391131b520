import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, manifestOption, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/** The story of the documentation, from the first key to a removed one. The tests build on each other. */
describe('the command line, from new keys to a removed key', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const at = (name: string): string => path.join(directory.path, name);
  let env: Record<string, string> = {};
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const build = async (version: string) => {
    await rm(at('dist'), { recursive: true, force: true });
    await mkdir(at('dist'));
    await writeFile(at(`dist/App-${version}-x86_64.AppImage`), version);
  };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
  });
  afterAll(() => directory.remove());

  const ROOT = ['--root', 'k1.pub,k2.pub,k3.pub:2'];
  const INIT = [
    ...['trust', 'init', ...ROOT, '--channel', 'stable=k1.pub,k2.pub,k3.pub:2'],
    ...['--channel', 'beta=ci.pub:1', '--operators', 'ci.pub,k1.pub'],
  ];

  it('makes keys, and overwrites none', async () => {
    for (const name of ['k1', 'k2', 'k3']) {
      const made = await run('trust', 'new-key', `${name}.key`, '--no-passphrase');
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toMatch(
        /^Made the Ed25519 key [0-9a-f]{12}:\n {2}k\d\.key {2}the private/,
      );
    }
    env = { TRUST_KEY_PASSPHRASE: 'correct horse' };
    expect((await run('trust', 'new-key', 'ci.key', '--p256')).stdout).toContain('P-256');
    expect(await readFile(at('ci.key'), 'utf8')).toContain('BEGIN ENCRYPTED PRIVATE KEY');
    expect(await run('trust', 'new-key', 'k1.key', '--no-passphrase')).toMatchObject({ code: 3 });
    env = { TRUST_KEY_PASSPHRASE: 'short' };
    expect(await run('trust', 'new-key', 'k4.key')).toMatchObject({ code: 2 });
    env = {};
  });

  it.each<[string, readonly string[], number, string]>([
    ['a threshold of 0', ['--root', 'k1.pub:0', '--key', 'k1.key'], 2, 'at least 1'],
    [
      'a threshold above the number of keys',
      ['--root', 'k1.pub:2'],
      2,
      'at most the number of keys',
    ],
    ['one key twice', ['--root', 'k1.pub,k1.pub:2'], 2, 'are the same key'],
    ['a private key as a public one', ['--root', 'k1.key'], 2, 'is a private key'],
    ['no such file', ['--root', 'k9.pub'], 2, 'The key file k9.pub does not exist.'],
    ['too few keys', [...ROOT, '--key', 'k1.key'], 3, 'needs signatures by 2 of'],
    [
      'no operator',
      [...ROOT, '--operators', 'ci.pub', '--key', 'k1.key', '--key', 'k2.key'],
      3,
      'needs the signature of an operator',
    ],
    [
      'a channel without keys',
      [...ROOT, '--channel', 'stable', '--key', 'k1.key'],
      2,
      'names no keys',
    ],
    ['a public key to sign', [...ROOT, '--key', 'k1.pub'], 2, 'is a public key'],
    ['one key twice to sign', [...ROOT, '--key', 'k1.key', '--key', 'k1.key'], 2, 'is given twice'],
  ])('refuses %s, and changes nothing', async (_name, options, code, message) => {
    const refused = await run('trust', 'init', ...options);
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toContain(message);
    expect(await readdir(directory.path)).not.toContain('root.json');
  });

  it('makes the root, and commits the first signed revision', async () => {
    const keys = ['--key', 'k1.key', '--key', 'k2.key'];
    const tried = await run(...INIT, ...keys, '--dry-run');
    expect(tried.stdout).toContain('Root 1 of desktop is in use since catalog revision 1:');
    expect(tried.stdout).not.toContain('Next:');
    expect(await readdir(directory.path)).not.toContain('root.json');
    const made = await run(...INIT, ...keys);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(/offer on stable +2 of k1 \(\w{12}\), k2 \(\w{12}\), k3/);
    expect(made.stdout).toContain('set TRUST_ROOT to it');
    expect((await run(...INIT, ...keys, '--out', 'other.json')).stderr).toContain(
      'has a root of trust already',
    );
  });

  it('refuses commands without the root, and without a key', async () => {
    await build('1.4.0');
    const publish = ['publish', '1.4.0', 'dist', '--create'];
    const rootless = await run(...publish, '--key', 'k1.key');
    expect(rootless).toMatchObject({ code: 2, stdout: '' });
    expect(rootless.stderr).toContain('Set TRUST_ROOT to the root file of desktop');
    env = { TRUST_ROOT: 'root.json' };
    const keyless = await run(...publish);
    expect(keyless).toMatchObject({ code: 3, stdout: '' });
    expect(keyless.stderr).toMatch(
      /Give the key of an operator: --key FILE, or the setting TRUST_KEY\. Operators: ci/,
    );
    const asking = await run(...publish, '--key', 'ci.key');
    expect(asking.stderr).toContain('ci.key has a passphrase. Set TRUST_KEY_PASSPHRASE');
    env = { TRUST_ROOT: 'missing' };
    expect((await run('releases')).stderr).toContain('which does not exist');
  });

  it('publishes to stable as a draft, and to beta at once', async () => {
    env = { TRUST_ROOT: 'root.json', TRUST_KEY: 'ci.key', TRUST_KEY_PASSPHRASE: 'correct horse' };
    const draft = await run('publish', '1.4.0', 'dist', '--create');
    expect(draft).toMatchObject({ code: 0, stderr: '' });
    expect(draft.stdout).toContain(
      'To offer it, people with keys of stable sign it: slipway sign 1.4.0',
    );
    await build('2.0.0-beta.1');
    const beta = await run('publish', '2.0.0-beta.1', 'dist', '--channel', 'beta', '--create');
    expect(beta.stdout).toMatch(/^Published desktop 2\.0\.0-beta\.1 to beta/);
  });

  it('signs: the first signature waits, the second offers', async () => {
    const named = await manifestOption(run, '1.4.0');
    const wrong = await run('sign', '1.4.0', '--key', 'ci.key', ...named);
    expect(wrong).toMatchObject({ code: 3 });
    expect(wrong.stderr).toContain('is no key of stable. Its keys: k1');
    const tried = await run('sign', '1.4.0', '--key', 'k1.key', '--dry-run');
    expect(tried.stdout).toMatch(/signatures +0 of 2/);
    const first = await run('sign', '1.4.0', '--key', 'k1.key', ...named);
    expect(first.stdout).toMatch(
      / 1\. App-1\.4\.0-x86_64\.AppImage\n +linux-x64 appimage, 5 B\n +[0-9a-f]{64}\n/,
    );
    expect(first.stdout).toMatch(
      /Signed desktop 1\.4\.0 for stable: 1 of 2, by k1 \(\w{12}\)\. 1 more of: k2/,
    );
    const again = json(await run('sign', '1.4.0', '--key', 'k1.key', '--json', ...named));
    expect(again).toMatchObject({
      offered: false,
      threshold: 2,
      signed_by: [expect.stringMatching(/^k1/)],
    });
    const second = await run('sign', '1.4.0', '--key', 'k3.key', ...named);
    expect(second.stdout).toMatch(/stable offers desktop 1\.4\.0 now \(catalog revision 4\)/);
    expect((await run('sign', '1.4.0', '--key', 'k2.key')).stdout).toContain('Nothing to do');
    expect((await run('sign', '9.9.9', '--key', 'k2.key')).stderr).toContain(
      'has no draft of 9.9.9',
    );
    expect((await run('sign', '2.0.0-beta.1', '--channel', 'nightly')).stderr).toContain(
      'names no keys for nightly',
    );
  });

  it('promotes to stable as a draft', async () => {
    const promoted = await run('promote', '2.0.0-beta.1', '--to', 'stable', '--allow-prerelease');
    expect(promoted.stdout).toMatch(/^Made a draft of desktop 2\.0\.0-beta\.1 on stable/);
    const named = await manifestOption(run, '2.0.0-beta.1');
    const keys = ['--key', 'k1.key', '--key', 'k2.key'];
    const both = await run('sign', '2.0.0-beta.1', ...keys, ...named);
    expect(both.stdout).toContain('stable offers desktop 2.0.0-beta.1 now');
  });

  it('gives stable other settings only with its own keys', async () => {
    const refused = await run('channels', 'set', 'stable', '--allow-downgrade', 'on');
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.stderr).toContain('A change of the settings of stable needs signatures by 2 of');
    const keys = ['--key', 'k1.key', '--key', 'k2.key', '--yes'];
    expect(
      await run('channels', 'set', 'stable', '--allow-downgrade', 'on', ...keys),
    ).toMatchObject({ code: 0 });
  });

  it('holds notes and builds of an offered release back until people have signed them', async () => {
    await writeFile(at('notes.md'), 'Better.');
    const offeredManifest = async () =>
      json(await run('show', '1.4.0', '--json')).offers[0].manifest.number;
    const before = await offeredManifest();
    const noted = await run('notes', '1.4.0', '--file', 'notes.md');
    expect(noted).toMatchObject({ code: 0, stderr: '' });
    expect(noted.stdout).toContain('clients see the notes once people with its keys have signed');
    expect(await run('notes', '1.4.0', '--file', 'notes.md')).toMatchObject({ code: 0 });
    expect(await offeredManifest()).toBe(before);
    const seen = await manifestOption(run, '1.4.0');
    const shown = (await run('sign', '1.4.0', '--key', 'k1.key', ...seen)).stdout;
    expect(shown).toContain('\n| Better.\n');
    expect(shown).toContain('1 of 2');
    // Another build makes another manifest, so the first signature does not count for it.
    await rm(at('dist'), { recursive: true });
    await mkdir(at('dist'));
    await writeFile(at('dist/App-1.4.0-arm64.AppImage'), 'for ARM');
    const added = await run('publish', '1.4.0', 'dist');
    expect(added.stdout).toContain('Added 1 file to the draft 1.4.0 of stable');
    expect((await run('sign', '1.4.0', '--key', 'k2.key', ...seen)).stderr).toContain(
      'Nothing was signed.',
    );
    const named = await manifestOption(run, '1.4.0');
    expect((await run('sign', '1.4.0', '--key', 'k2.key', ...named)).stdout).toContain('1 of 2');
    expect(await offeredManifest()).toBe(before);
    const signed = await run('sign', '1.4.0', '--key', 'k3.key', ...named);
    expect(signed.stdout).toContain('stable offers desktop 1.4.0 now');
    expect(await offeredManifest()).toBeGreaterThan(before);
    const { release } = json(await run('show', '1.4.0', '--json'));
    expect(release.notes).toEqual({ und: 'Better.' });
    expect((await run('releases')).stdout).not.toContain('draft');
  });

  it('yanks with the key of one operator', async () => {
    expect(await run('yank', '2.0.0-beta.1', '--yes')).toMatchObject({ code: 0 });
  });

  it('declares no state new before an operator has looked at it', async () => {
    await rm(at('data/objects/apps/desktop/trust/timestamp'), { recursive: true });
    const refused = await run('trust', 'renew', '--yes');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    const [, newest = ''] = /add --revision (\d+)/.exec(refused.stderr) ?? [];
    const other = await run('trust', 'renew', '--yes', '--revision', String(Number(newest) - 1));
    expect(other.stderr).toContain(`The newest revision of desktop is ${newest}, not`);
    expect((await run('pause', '1.4.0', '--yes')).stderr).toContain('no valid timestamp');
    const renewed = await run('trust', 'renew', '--yes', '--revision', newest);
    expect(renewed.stdout).toContain('Signed. The timestamp expires on');
  });

  it('renews, rotates, adds and removes keys; a removed key signs nothing more', async () => {
    expect((await run('trust', 'renew', '--yes')).stdout).toContain(
      'Signed. The timestamp expires on',
    );
    const keys = ['--key', 'k1.key', '--key', 'k2.key'];
    expect(await run('trust', 'rotate', ...keys)).toMatchObject({ code: 0 });
    const added = await run('trust', 'add', '--channel', 'nightly=ci.pub:1', ...keys);
    expect(added.stdout).toMatch(/offer on nightly +1 of ci/);
    const unreachable = await run('trust', 'remove', 'ci.pub', ...keys);
    expect(unreachable).toMatchObject({ code: 2 });
    expect(unreachable.stderr).toContain('Without these keys, beta would have no key.');
    const moved = await run(
      'trust',
      'add',
      '--channel',
      'beta=k1.pub:1',
      '--channel',
      'nightly=k1.pub:1',
      ...keys,
    );
    expect(moved).toMatchObject({ code: 0 });
    const tried = await run('trust', 'remove', 'ci', ...keys, '--dry-run', '--json');
    expect(json(tried)).toMatchObject({ root: 5, lost: [] });
    // The keys sign again what the removed key signed, and a script names what it has seen.
    const { signs, releases } = json(tried);
    expect(signs).toMatchObject([{ channel: 'beta', releases: [{ version: '2.0.0-beta.1' }] }]);
    const removing = ['trust', 'remove', 'ci', ...keys];
    expect(await run(...removing, '--yes')).toMatchObject({ code: 3 });
    expect(await run(...removing, '--releases', releases)).toMatchObject({ code: 0 });
    const refused = await run('yank', '1.4.0', '--yes');
    expect(refused.stderr).toMatch(
      /Key \w{12} \(ci\.key\) is no operator of desktop\. Operators: k1/,
    );
    expect(await run('trust', 'show', '--out', 'root-5.json')).toMatchObject({ code: 0 });
    env = { ...env, TRUST_ROOT: 'root-5.json' };
    expect(await run('yank', '1.4.0', '--yes', '--key', 'k3.key')).toMatchObject({ code: 0 });
    const checked = await run('trust', 'check');
    expect(checked).toMatchObject({ code: 0 });
    expect(checked.stdout).toContain('All signatures are valid.');
  });
});
