import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOURCE_KINDS } from '../../../src/features/import/sources/source.ts';
import { hasProgram } from '../../support/programs.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { slipway } from '../support.ts';
import { afterTab, bash, fishWords, type InteractiveShell, wordsAfter, zsh } from './shell.ts';

/** The completions in the shells themselves. */

const hasScript = await hasProgram('script');
const hasBash = await hasProgram('bash');
const hasZsh = await hasProgram('zsh');
const hasFish = await hasProgram('fish');
const hasShellcheck = await hasProgram('shellcheck');

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await slipway(['completion', shell], { cwd: directory.path });
    await writeFile(scriptOf(shell), stdout);
  }
  await mkdir(path.join(directory.path, 'work/build'), { recursive: true });
  await writeFile(path.join(directory.path, 'work/notes of 1.4.md'), '');
});
afterAll(() => directory.remove());

const scriptOf = (shell: string) => path.join(directory.path, `slipway.${shell}`);
const work = () => path.join(directory.path, 'work');

const ACCOUNTS = [
  ...['erase', 'help', 'invitations', 'invite', 'list', 'lock', 'set-password', 'set-tier'],
  ...['show', 'unlock', 'withdraw'],
];

/** A line, and the line after Tab. */
const COMPLETED: readonly (readonly [string, string])[] = [
  ['slipway pub', 'slipway publish'],
  ['slipway publish --ex', 'slipway publish --expect'],
  ['slipway publish 1.4.0 bui', 'slipway publish 1.4.0 build'],
  [
    'slipway publish 1.4.0 --draft --expect linux-x64 bui',
    'slipway publish 1.4.0 --draft --expect linux-x64 build',
  ],
  [
    'slipway publish 1.4.0 --notes-file not',
    'slipway publish 1.4.0 --notes-file notes\\ of\\ 1.4.md',
  ],
  ['slipway import ./old --from gi', 'slipway import ./old --from github'],
  ['slipway import --from=gi', 'slipway import --from=github'],
  ['slipway accounts set-p', 'slipway accounts set-password'],
  ['slipway channels set beta --early-access o', 'slipway channels set beta --early-access o'],
  ['slipway help roll', 'slipway help roll'],
  // A version is what only the user knows.
  ['slipway publish bui', 'slipway publish bui'],
  ['slipway yank 1.4.0 bui', 'slipway yank 1.4.0 bui'],
];

function describeShell(name: string, open: () => InteractiveShell): void {
  describe(name, () => {
    it.each(COMPLETED)('%s', async (line, expected) => {
      expect(await afterTab(open(), line, work())).toBe(expected);
    });

    it('offers the commands of a group, and the values of an option', async () => {
      expect(await wordsAfter(open(), 'slipway accounts ', work())).toEqual(ACCOUNTS);
      expect(await wordsAfter(open(), 'slipway import --from ', work())).toEqual(
        [...SOURCE_KINDS].sort(),
      );
      expect(await wordsAfter(open(), 'slipway explain --platform ', work())).toEqual([
        ...['linux', 'macos', 'windows'],
      ]);
      expect(await wordsAfter(open(), 'slipway completion ', work())).toEqual([
        'bash',
        'fish',
        'powershell',
        'zsh',
      ]);
    });

    it('offers the options of the command only', async () => {
      expect(await wordsAfter(open(), 'slipway accounts erase --', work())).toEqual([
        ...['--dry-run', '--help', '--json', '--yes'],
      ]);
    });
  });
}

describe.skipIf(!hasScript || !hasBash)('in bash', () => {
  describeShell('after Tab', () => bash(scriptOf('bash')));

  it.skipIf(!hasShellcheck)('is a script that shellcheck accepts', async () => {
    const { stdout } = await promisify(execFile)('shellcheck', [scriptOf('bash')]);
    expect(stdout).toBe('');
  });
});

describe.skipIf(!hasScript || !hasZsh)('in zsh', () => {
  describeShell('after Tab', () => zsh(scriptOf('zsh')));
});

describe.skipIf(!hasFish)('in fish', () => {
  const words = (line: string) => fishWords(scriptOf('fish'), line, work());

  it.each<readonly [string, readonly string[]]>([
    ['slipway pub', ['publish']],
    ['slipway publish --ex', ['--expect']],
    ['slipway accounts ', ACCOUNTS],
    ['slipway accounts erase --y', ['--yes']],
    ['slipway import ./old --from ', [...SOURCE_KINDS].sort()],
    ['slipway import --from=gi', ['--from=github']],
    ['slipway channels set beta --early-access ', ['off', 'on']],
    ['slipway publish 1.4.0 bui', ['build/']],
    ['slipway publish 1.4.0 --draft --expect linux-x64 bui', ['build/']],
    ['slipway publish 1.4.0 --notes-file not', ['notes of 1.4.md']],
    ['slipway help roll', ['rollback', 'rollout']],
    ['slipway publish bui', []],
    ['slipway yank 1.4.0 bui', []],
  ])('%s', async (line, expected) => {
    expect(await words(line)).toEqual(expected);
  });
});
