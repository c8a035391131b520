import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateInfo } from '../../builds/materialize.ts';
import { json, type SlipwayOptions, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { type GithubRelease, githubFolder, writeSource } from './sources/fixtures.ts';

describe('slipway import', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
  });
  afterEach(() => directory.remove());

  const run = (words: readonly string[], options: Partial<SlipwayOptions> = {}) =>
    slipway(['import', ...words], { cwd: directory.path, ...options });
  const releases = async () =>
    json(await slipway(['releases', '--json'], { cwd: directory.path })).releases;
  const of = (version: string, month: string, more: Partial<GithubRelease> = {}) => ({
    tag: `v${version}`,
    date: `2020-${month}-01T00:00:00Z`,
    files: [`App-${version}-x64.AppImage`],
    ...more,
  });
  const good = () => writeSource(githubFolder([of('1.1.0', '02'), of('1.0.0', '01')]));

  it('imports, and says that it is done when it is run again', async () => {
    const root = await good();
    const first = await run([root, '--create']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain(
      `Imported 2 releases with 2 files from ${path.join(root, 'releases.json')} (github) into desktop in ./data: 2 on stable.`,
    );
    expect((await releases()).map((each: { version: string }) => each.version)).toEqual([
      '1.1.0',
      '1.0.0',
    ]);
    const again = await run([root]);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain('2 releases were there already.');
  });

  it('prints the plan with --dry-run, and writes nothing', async () => {
    const planned = await run([await good(), '--create', '--dry-run']);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain('Dry run: nothing is written');
    expect(planned.stdout).toContain('  1.0.0 to stable, released 2020-01-01, 1 file\n');
    expect(planned.stdout).toContain('Difference:');
    expect(await readdir(directory.path)).toEqual([]);
  });

  it('ends with 1 and says why when something was refused or is unknown, and imports the others', async () => {
    const contents = githubFolder([
      of('1.0.0', '01', { files: ['App-1.0.0-x64.AppImage', 'App.txt'] }),
      { ...of('1.2.0', '02', { files: [] }), more: { assets: [{ name: 'App-1.2.0.dmg' }] } },
      of('1.3.0', '03', { more: { draft: true } }),
    ]);
    const root = await writeSource(contents);
    const result = await run([root, '--create', '--json']);
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(json(result)).toMatchObject({
      app: 'desktop',
      source: { kind: 'github', path: path.join(root, 'releases.json') },
      imported: 1,
      present: 0,
      releases: [
        {
          version: '1.0.0',
          outcome: 'imported',
          released_at: '2020-01-01T00:00:00.000Z',
          catalog_revision: 1,
          unknown_files: [{ reason: 'not a known package' }],
        },
      ],
      refused: [{ label: 'v1.2.0', reason: expect.stringMatching(/App-1\.2\.0\.dmg is missing/) }],
      left_out: [{ label: 'v1.3.0', reason: 'it is a draft' }],
      created_channels: ['stable'],
    });
    const text = await run([root]);
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/Left out:\n {2}v1\.3\.0: it is a draft\n/);
    expect(text.stdout).toMatch(/Refused:\n {2}v1\.2\.0: App-1\.2\.0\.dmg is missing/);
    expect(text.stdout).toMatch(/v1\.0\.0: .*App\.txt is not imported: not a known package/);
  });

  it('ends with 1 and a reason when there is nothing to import', async () => {
    const drafts = await writeSource(githubFolder([of('1.0.0', '01', { more: { draft: true } })]));
    const result = await run([drafts, '--create']);
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(result.stdout).toMatch(
      /Nothing was imported .*\nLeft out:\n {2}v1\.0\.0: it is a draft/,
    );
    expect(result.stdout).toContain('has no release that can be imported.');
    const none = await run([await writeSource({ 'appcast.xml': '<rss/>' }), '--create']);
    expect(none).toMatchObject({ code: 1, stderr: '' });
    expect(none.stdout).toMatch(/appcast\.xml lists no release\. Check that it is complete/);
  });

  it('says to copy a broken file again: nothing of an import is built', async () => {
    const info = updateInfo('1.0.0', [['App-1.0.0.exe', Buffer.from('as it was')]]);
    const changed = { 'App-1.0.0.exe': 'as it is!', 'latest.yml': info };
    const cut = {
      'App-2.0.0.exe': '',
    };
    const { code, stdout } = await run([await writeSource({ ...changed, ...cut }), '--create']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /App-1\.0\.0\.exe is not the file .* Copy it again from the other server\./,
    );
    expect(stdout).toMatch(/App-2\.0\.0\.exe: it is empty\. Copy it again from the other server\./);
    expect(stdout).not.toMatch(/build again/i);
  });

  it('prints no control sequences of a tag', async () => {
    const root = await writeSource(
      githubFolder([{ tag: 'v1\u001b[2J', files: ['App-1.0.0.exe'] }]),
    );
    const { stdout } = await run([root, '--create']);
    expect(stdout).toContain('v1<U+001B>[2J: ');
    expect(stdout).not.toMatch('\u001b');
  });

  it('needs --create, and refuses what is no source', async () => {
    const root = await good();
    expect(await run([root])).toMatchObject({ code: 3, stderr: expect.stringMatching(/--create/) });
    expect((await run([directory.path, '--create'])).stderr).toMatch(
      /No files of a known update server/,
    );
    expect((await run([root, '--from', 'nuts'])).code).toBe(2);
    expect((await run([root, '--from', 'velopack', '--create'])).stderr).toMatch(/releases/);
  });

  it('asks at a terminal only where clients are offered releases already', async () => {
    const root = await good();
    expect((await run([root, '--create'], { isTerminal: true })).stderr).not.toContain('Continue?');
    const more = await writeSource(githubFolder([of('1.2.0', '03'), of('1.3.0', '04')]));
    const refused = await run([more], { isTerminal: true, stdin: 'n\n' });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('Importing adds 2 releases to stable, up to 1.3.0.');
    expect(refused.stderr).toContain('stable offers up to 1.1.0');
    expect(await releases()).toHaveLength(2);
    expect((await run([more], { isTerminal: true, stdin: 'y\n' })).code).toBe(0);
    expect(await releases()).toHaveLength(4);
  });
});
