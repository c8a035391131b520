import { describe, expect, it } from 'vitest';
import { SHELLS } from '../../../src/cli/completion/shells.ts';
import { ROOT, slipway } from '../support.ts';

const scriptFor = async (shell: string) => slipway(['completion', shell], { cwd: ROOT });

describe('a completion', () => {
  it.each(SHELLS)('%s: names every command, option and fixed value', async (shell) => {
    const { code, stdout, stderr } = await scriptFor(shell);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of ['publish', 'set-password', 'notes-file', 'electron-release-server']) {
      expect(stdout).toContain(word);
    }
    expect(stdout).toContain(`Written by "slipway completion ${shell}".`);
    // Tab must not start Node.
    expect(stdout).not.toMatch(/\$\(slipway|`slipway|& slipway|\(slipway /);
  });

  it('of another shell is refused with the list', async () => {
    const { code, stderr } = await scriptFor('tcsh');
    expect(code).toBe(2);
    expect(stderr).toMatch(/Allowed choices are bash, zsh, fish, powershell/);
  });
});

describe('the completion of PowerShell, which no test runs', () => {
  it('registers itself, and closes what it opens', async () => {
    const { stdout } = await scriptFor('powershell');
    expect(stdout).toMatch(
      /^Register-ArgumentCompleter -Native -CommandName slipway -ScriptBlock/m,
    );
    // A quotation mark in a text is written twice; what is left outside of texts must be balanced.
    const code = stdout.replace(/^#.*$/gm, '').replace(/'(?:[^'\n]|'')*'/g, '');
    expect(code).not.toContain("'");
    for (const [open, close] of ['{}', '()', '[]'].map((pair) => pair.split(''))) {
      const count = (sign = '') => code.split(sign).length - 1;
      expect([open, count(open)]).toEqual([open, count(close)]);
    }
  });

  it('has an entry for each command, with its options and values', async () => {
    const { stdout } = await scriptFor('powershell');
    const entry = (name: string) =>
      stdout.split(`\n        '${name}' = @{\n`)[1]?.split('\n        }')[0] ?? '';
    expect(entry('')).toContain("'publish' = 'publish build output as a release");
    expect(entry('publish')).toContain("Valued = @('--app', '--channel'");
    expect(entry('import')).toContain("'--from' = [ordered]@{ 'electron-builder' = ");
    expect(entry('explain')).toContain("'--platform' = [ordered]@{ 'windows' = ");
    expect(entry('accounts')).toContain("'set-password' = ");
    expect(entry('completion')).toContain("Arguments = @([ordered]@{ 'bash' = 'bash'");
  });
});
