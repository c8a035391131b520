import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isOwner,
  NO_OWNER,
  ownersIn,
  readOwner,
  replaceOwner,
} from '../../scripts/maintaining/owner-text.ts';
import { readProjectFile, readTextFiles } from '../../scripts/maintaining/project-files.ts';

const OWNER = readOwner(readProjectFile('package.json'));

/** Every way in which the files name the account. */
const TEXT = [
  'https://github.com/OWNER/slipway/issues',
  'docker pull ghcr.io/OWNER/slipway:0.1.0',
  '- uses: OWNER/slipway@v0',
  'https://OWNER.github.io/slipway/guide',
  'gh attestation verify slipway.mjs --repo OWNER/slipway',
  'gh api repos/OWNER/slipway/pages',
  '--signer-workflow OWNER/slipway/.github/workflows/release.yml',
].join('\n');

describe('the account of the repository', () => {
  it('is the same in all files', () => {
    const files = [...readTextFiles()];
    expect(files.length).toBeGreaterThan(1000);
    const others = files.flatMap(([file, text]) =>
      ownersIn(text)
        .filter((name) => name.toLowerCase() !== OWNER.toLowerCase())
        .map((name) => `${file}: ${name}`),
    );
    expect(others).toEqual([]);
    const naming = files.filter(([, text]) => ownersIn(text).length > 0).map(([file]) => file);
    expect(naming).toEqual(
      expect.arrayContaining(['README.md', 'security-insights.yml', 'docs/publishing/ci.md']),
    );
    // A form that the script does not know stays behind.
    const left = files.filter(
      ([, text]) => OWNER !== NO_OWNER && /\bOWNER(?:\/slipway|\.github)/.test(text),
    );
    expect(left).toEqual([]);
  });

  it('is replaced wherever it stands, and nothing else is', () => {
    const account = fc.stringMatching(/^[A-Za-z\d](?:-?[A-Za-z\d]){0,18}$/);
    fc.assert(
      fc.property(account, account, (first, second) => {
        const named = replaceOwner(TEXT, NO_OWNER, first);
        expect(named).not.toContain(NO_OWNER);
        expect(new Set(ownersIn(named).map((name) => name.toLowerCase())).size).toBe(1);
        const moved = replaceOwner(named, first, second);
        expect(moved).toContain(`github.com/${second}/slipway/`);
        expect(moved).toContain(`ghcr.io/${second.toLowerCase()}/slipway:`);
        expect(moved).toContain(`//${second.toLowerCase()}.github.io/`);
        expect(
          replaceOwner(
            moved,
            first.toLowerCase() === second.toLowerCase() ? NO_OWNER : first,
            'other',
          ),
        ).toBe(moved);
      }),
    );
    const others =
      'deploy/nginx/slipway /etc/slipway gh api repos/OWNER/REPO https://github.com/pgsty/silo';
    expect(replaceOwner(others, NO_OWNER, 'acme')).toBe(others);
  });

  it.each(['acme', 'Acme-2', 'a', 'x'.repeat(39)])('may be %s', (name) => {
    expect(isOwner(name)).toBe(true);
  });

  it.each(['', '-a', 'a-', 'a--b', 'a/b', 'a.b', 'x'.repeat(40)])('cannot be %j', (name) => {
    expect(isOwner(name)).toBe(false);
  });
});
