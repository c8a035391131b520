import { describe, expect, it } from 'vitest';
import { hasEarlyNotes, removeEarlyNotes } from '../../scripts/maintaining/before-first.ts';
import {
  newestHeading,
  notesOf,
  releaseChanges,
  withAbsoluteLinks,
} from '../../scripts/maintaining/changelog.ts';
import { findObstacles, type ReleaseSources } from '../../scripts/maintaining/check-release.ts';
import { readDocuments, readProjectFile } from '../../scripts/maintaining/project-files.ts';

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0 - 2026-12-01\n\n- The first.\n';
const NOTE = '<!-- before the first release -->\nNot on npm yet.\n<!-- end -->\n\n';

const sources = (change: Partial<ReleaseSources> = {}): ReleaseSources => ({
  tag: 'v0.2.0',
  packageJson: JSON.stringify({
    version: '0.2.0',
    repository: { url: 'git+https://github.com/acme/slipway.git' },
  }),
  packageLock: JSON.stringify({ version: '0.2.0' }),
  changelog: releaseChanges(CHANGELOG, '0.2.0', '2027-01-31'),
  documents: new Map([['README.md', '# Slipway\n']]),
  ...change,
});

describe('the sources of a release', () => {
  it('have no obstacle when they agree', () => {
    expect(findObstacles(sources())).toEqual([]);
    expect(findObstacles(sources({ tag: undefined }))).toEqual([]);
  });

  it('of a pre-release may say that there is no release', () => {
    const prerelease = sources({
      tag: 'v0.2.0-rc.1',
      packageJson: sources().packageJson.replace('0.2.0', '0.2.0-rc.1'),
      packageLock: '{"version":"0.2.0-rc.1"}',
      changelog: releaseChanges(CHANGELOG, '0.2.0-rc.1', '2027-01-31'),
      documents: new Map([['README.md', NOTE]]),
    });
    expect(findObstacles(prerelease)).toEqual([]);
  });

  it.each<[string, Partial<ReleaseSources>, RegExp]>([
    ['another tag', { tag: 'v0.2.1' }, /The tag is v0\.2\.1/],
    ['a tag without v', { tag: '0.2.0' }, /The tag is 0\.2\.0/],
    ['another locked version', { packageLock: '{"version":"0.1.0"}' }, /package-lock\.json has/],
    ['changes without a version', { changelog: CHANGELOG }, /newest heading .* "Unreleased"/],
    ['no changes', { changelog: '# Changelog\n' }, /newest heading/],
    [
      'changes of a version that only begins like it',
      { changelog: releaseChanges(CHANGELOG, '0.2.0-rc.1', '2027-01-31') },
      /newest heading/,
    ],
    [
      'no account',
      {
        packageJson:
          '{"version":"0.2.0","repository":{"url":"git+https://github.com/OWNER/slipway.git"}}',
      },
      /npm run owner/,
    ],
    ['an early note', { documents: new Map([['README.md', NOTE]]) }, /README\.md says/],
  ])('with %s are refused', (_, change, message) => {
    const obstacles = findObstacles(sources(change));
    expect(obstacles).toHaveLength(1);
    expect(obstacles[0]).toMatch(message);
  });
});

describe('the changelog', () => {
  it('gives the waiting changes a version, and keeps the others', () => {
    const released = releaseChanges(CHANGELOG, '0.2.0', '2027-01-31');
    expect(newestHeading(released)).toBe('0.2.0 - 2027-01-31');
    expect(notesOf(released, '0.2.0')).toBe('- Something new.\n');
    expect(notesOf(released, '0.1.0')).toBe('- The first.\n');
    expect(() => releaseChanges(released, '0.3.0', '2027-02-01')).toThrow(/no heading/);
    expect(() => releaseChanges(CHANGELOG, '0.1.0', '2027-02-01')).toThrow(/already/);
    expect(() => notesOf(CHANGELOG, '0.2.0')).toThrow(/no changes/);
    expect(() => notesOf('## 0.1.0 - 2026-12-01\n\n## 0.0.1 - 2026-11-01\n', '0.1.0')).toThrow();
  });

  it('has links that work on the page of a release', () => {
    const text = 'See [the page](docs/a.md#b), [a site](https://example.com) and [above](#c).';
    expect(withAbsoluteLinks(text, 'https://example.org/v1/')).toBe(
      'See [the page](https://example.org/v1/docs/a.md#b), [a site](https://example.com) and [above](#c).',
    );
  });

  it('of this project can be released', () => {
    const text = readProjectFile('CHANGELOG.md');
    const { version } = JSON.parse(readProjectFile('package.json'));
    const isReleased = newestHeading(text)?.startsWith(`${version} - `) === true;
    const notes = notesOf(isReleased ? text : releaseChanges(text, version, '2027-01-31'), version);
    // GitHub takes notes of 125,000 characters.
    expect(notes.length).toBeLessThan(125_000);
  });
});

describe('notes for the time before the first release', () => {
  it('are removed with the empty line behind them', () => {
    expect(removeEarlyNotes(`before\n\n${NOTE}after\n`)).toBe('before\n\nafter\n');
    expect(removeEarlyNotes(`${NOTE}${NOTE}`)).toBe('');
  });

  it('leave documents that contradict nothing, and exist as long as no version is released', () => {
    const documents = [...readDocuments()];
    const noted = documents.filter(([, text]) => hasEarlyNotes(text)).map(([file]) => file);
    const changelog = readProjectFile('CHANGELOG.md');
    if (/^## \d+\.\d+\.\d+ /m.test(changelog)) expect(noted).toEqual([]);
    else expect(noted).toContain('README.md');
    for (const [file, text] of documents) {
      expect(removeEarlyNotes(text), file).not.toMatch(
        /before the first release -->|no version .*(on npm|released) yet/i,
      );
    }
  });
});
