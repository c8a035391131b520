import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { splitWords } from '../../../src/cli/try-change.ts';
import { json, type SlipwayOptions, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

/**
 * An attacker with the key of an operator wrote the notes of a draft. People sign it on a terminal, and scripts sign what
 * they name. The tests build on each other.
 */
describe('slipway sign', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let manifest = '';
  const digests: Record<string, string> = {};
  const at = (name: string): string => path.join(directory.path, name);
  const env = {
    TRUST_ROOT: 'root.json',
    TRUST_KEY: 'k1.key',
    GITHUB_SHA: `${'a'.repeat(40)}${' '.repeat(300)}SHA-256 ${'f'.repeat(64)}`,
  };
  const run = (...given: string[]) => slipway(given, { cwd: directory.path, env });
  const onTerminal = (typed: string, options: Partial<SlipwayOptions>, ...given: string[]) =>
    slipway(given, { cwd: directory.path, env, stdin: typed, isTerminal: true, ...options });
  const signatures = async () =>
    (await run('sign', '1.4.0', '--dry-run')).stdout.match(/signatures +(\d of \d)/)?.[1];

  const FALSE_BLOCK = `Manifest 1, with its SHA-256:\n  ${'f'.repeat(64)}`;
  const NOTES = `بهتر\u200cشد 👩\u200d🚀 \u202e\u2028${' '.repeat(5_000)}${'\n'.repeat(60)}${FALSE_BLOCK}`;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const quick = (...given: string[]) => slipway(given, { cwd: directory.path });
    for (const name of ['k1', 'k2']) {
      await quick('trust', 'new-key', `${name}.key`, '--no-passphrase');
    }
    const keys = ['--key', 'k1.key', '--key', 'k2.key'];
    const stable = ['--channel', 'stable=k1.pub,k2.pub:2'];
    await quick('trust', 'init', '--root', 'k1.pub', ...stable, '--operators', 'k1.pub', ...keys);
    await mkdir(at('dist'));
    await writeFile(at('dist/App-1.4.0-x86_64.AppImage'), 'for Intel');
    await writeFile(at('dist/App-1.4.0-arm64.AppImage'), 'for ARM');
    await writeFile(at('notes.md'), NOTES);
    const draft = ['publish', '1.4.0', 'dist', '--create', '--notes-file', 'notes.md'];
    expect(await run(...draft)).toMatchObject({ code: 0 });
    const tried = json(await run('sign', '1.4.0', '--dry-run', '--json'));
    manifest = tried.manifest.digest;
    for (const { name, sha256 } of tried.files) digests[name] = sha256;
  });
  afterAll(() => directory.remove());

  const files = () =>
    Object.entries(digests).flatMap(([name, hex]) => ['--sha256', `${name}=${hex}`]);

  it.each([80, 40])('shows the facts after the notes, on %i columns', async (columns) => {
    const { code, stdout, stderr } = await onTerminal('n\n', { columns }, 'sign', '1.4.0');
    expect(code).toBe(3);
    const rows = stdout.split('\n');
    const first = rows.findIndex((row) => row.startsWith('| '));
    const heading = rows.lastIndexOf('desktop 1.4.0 on stable in ./data:');
    expect(rows.slice(first, heading - 1).every((row) => row.startsWith('| '))).toBe(true);
    expect(heading - first).toBeLessThanOrEqual(41);
    expect(rows[first]).toMatch(/^\| بهتر<U\+200C>شد 👩<U\+200D>/);
    expect(rows.slice(heading).join('\n')).not.toContain('f'.repeat(64));
    expect(rows.slice(heading).filter((row) => row.trim().startsWith('commit'))).toHaveLength(1);
    expect(rows.slice(-3)).toEqual(['Manifest 1, with its SHA-256:', `  ${manifest}`, '']);
    for (const row of rows.filter((each) => !/[0-9a-f]{64}$/.test(each)).slice(1)) {
      expect([...row].length).toBeLessThanOrEqual(columns);
    }
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    // The question is right below the facts, and repeats what they say.
    expect(stderr).toContain(
      `You sign ${Object.keys(digests).length} files with manifest 1, SHA-256 ${manifest.slice(0, 12)}….\nContinue? [y/N] `,
    );
  });

  it('leaves the stored notes and JSON as they are', async () => {
    expect(json(await run('show', '1.4.0', '--json')).release.notes).toEqual({ und: NOTES });
    const shown = await run('show', '1.4.0');
    expect(shown.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it('gives a program the digests to compare, and a person the command for a script', async () => {
    expect(json(await run('sign', '1.4.0', '--dry-run', '--json'))).toMatchObject({
      manifest: { number: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      made_by: expect.stringMatching(/^\w+ \([0-9a-f]{12}\)$/),
      files: expect.arrayContaining([
        {
          name: 'App-1.4.0-arm64.AppImage',
          kind: 'artifact',
          of: null,
          target: 'linux-arm64',
          format: 'appimage',
          size: 7,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ]),
    });
    const tried = await run('sign', '1.4.0', '--dry-run');
    expect(tried.stdout).toContain(
      `To sign exactly this in a script: slipway sign 1.4.0 --manifest ${manifest} --key FILE\n`,
    );
  });

  it.each<[string, readonly string[], string]>([
    ['nothing', [], 'so name what you sign: --sha256 NAME=HEX'],
    ['--yes alone', ['--yes'], 'so name what you sign'],
    ['--json alone', ['--json'], 'so name what you sign'],
    ['another manifest', ['--manifest', 'f'.repeat(64)], 'and --manifest names ffff'],
    ['another manifest, and --yes', ['--manifest', 'f'.repeat(64), '--yes'], 'and --manifest'],
    ['one file', ['--sha256', `App.exe=${'f'.repeat(64)}`], 'The draft has no file App.exe'],
    ['a dry run of another manifest', ['--manifest', 'f'.repeat(64), '--dry-run'], '--manifest'],
  ])('signs nothing in a script that names %s', async (_name, options, message) => {
    const refused = await run('sign', '1.4.0', ...options);
    expect(refused.code).toBe(3);
    expect(refused.stdout).not.toContain('Signed');
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).toContain('Nothing was signed.');
  });

  it.each([
    ['--manifest', 'f'.repeat(12)],
    ['--manifest', 'g'.repeat(64)],
    ['--sha256', 'f'.repeat(64)],
    ['--sha256', `App.exe=${'f'.repeat(63)}`],
    ['--sha256', `=${'f'.repeat(64)}`],
  ])('refuses %s %s', async (...option) => {
    expect(await run('sign', '1.4.0', ...option)).toMatchObject({ code: 2, stdout: '' });
  });

  it('signs nothing when one file is not named, or has another digest', async () => {
    const [, named = '', ...others] = files();
    const without = await run('sign', '1.4.0', ...others);
    expect(without.stderr).toContain(`which no --sha256 names: ${named.split('=')[0]}.`);
    const other = `${named.slice(0, -64)}${'0'.repeat(64)}`;
    const wrong = await run('sign', '1.4.0', ...others, '--sha256', other);
    expect(wrong.stderr).toContain(`${named.split('=')[0]} in the draft has the SHA-256`);
    expect([without.code, wrong.code]).toEqual([3, 3]);
  });

  it('checks what is named on a terminal too, and --yes answers only with a name', async () => {
    const wrong = await onTerminal('y\n', {}, 'sign', '1.4.0', '--manifest', 'f'.repeat(64));
    expect(wrong).toMatchObject({ code: 3, stdout: '' });
    const unread = await onTerminal('', {}, 'sign', '1.4.0', '--yes');
    expect(unread).toMatchObject({ code: 3, stdout: '' });
    const asked = await onTerminal('n\n', {}, 'sign', '1.4.0', '--manifest', manifest);
    expect(asked.stderr).toContain('Continue? [y/N]');
    expect([asked.code, await signatures()]).toEqual([3, '0 of 2']);
  });

  it('signs what a person agreed to, and what a script names', async () => {
    const upper = files().map((word) => word.replace(/[0-9a-f]{64}$/, (hex) => hex.toUpperCase()));
    expect((await run('sign', '1.4.0', ...upper)).stdout).toContain('1 of 2, by k1');
    const person = await onTerminal('y\n', {}, 'sign', '1.4.0', '--key', 'k2.key');
    expect(person.stdout).toContain('stable offers desktop 1.4.0 now');
  });

  it('prints a command that works when typed, for another application and channel', async () => {
    const stable = ['--channel', 'beta=k1.pub:1'];
    const init = ['trust', 'init', '--app', 'tool', '--root', 'k1.pub', ...stable];
    await mkdir(at('roots'));
    await slipway([...init, '--key', 'k1.key', '--out', 'roots/tool.json'], {
      cwd: directory.path,
    });
    const other = (...given: string[]) =>
      slipway(given, {
        cwd: directory.path,
        env: { TRUST_ROOT: 'roots/tool.json', TRUST_KEY: 'k1.key' },
      });
    const words = ['1.4.0', 'dist/App-1.4.0-arm64.AppImage', '--app', 'tool', '--channel', 'beta'];
    expect(await other('publish', ...words, '--create', '--draft')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const tried = await other('sign', '1.4.0', '--app', 'tool', '--channel', 'beta', '--dry-run');
    const [, line = ''] = /script: slipway (.*) --key FILE\n/.exec(tried.stdout) ?? [];
    expect(line).toMatch(/^sign 1\.4\.0 --channel beta --app tool --manifest [0-9a-f]{64}$/);
    expect((await other(...splitWords(line))).stdout).toContain('beta offers tool 1.4.0 now');
  });
});
