import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/progress.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { slipway } from './support.ts';

const FILE = 'one.AppImage,os=linux,arch=x64,format=appimage';

/** Wrong commands, their exit codes and messages. */
const MISTAKES: readonly (readonly [string, number, RegExp])[] = [
  ['', 2, /^Usage: slipway/],
  ['publsh 1.0.0 dist', 2, /unknown command 'publsh'[\s\S]*Did you mean publish\?/],
  ['release', 2, /Did you mean releases\?/],
  ['help ynak', 2, /unknown command 'ynak'\. Commands: init, publish, .*yank/],
  ['accounts lst', 2, /unknown command 'lst'[\s\S]*Did you mean list\?/],
  ['yank', 2, /missing required argument 'version'/],
  ['yank 1.0.0 --chanel beta', 2, /Did you mean --channel\?/],
  ['yank 1.0.0 --dryrun', 2, /Did you mean --dry-run\?/],
  ['yank 1.0', 2, /^slipway: "1\.0" is not a semantic version; write it like/],
  [`publish 01.1.0 ${FILE}`, 2, /^slipway: "01\.1\.0" is not a semantic version; .*beta\.1\.\s+$/],
  ['yank 1.0.0 --skip-corrupt 9007199254740992', 2, /a whole number from 1 to 9007199254740991/],
  ['yank latest', 2, /"latest" is not a semantic version/],
  ['yank beta 1.0.0', 2, /too many arguments[\s\S]*Names are options: --channel NAME/],
  ['yank 1.0.0 beta', 2, /too many arguments[\s\S]*Names are options: --channel NAME/],
  ['releases 1.0.0', 2, /For one release: slipway show VERSION/],
  [`publish ${FILE} 1.0.0`, 2, /The version comes first: slipway publish 1\.0\.0 …/],
  ['promote beta --to 1.0.0', 2, /The version comes first: slipway promote 1\.0\.0 …/],
  ['promote 1.0.0 beta', 2, /required option '--to <channel>' not specified/],
  ['promote 1.0.0 --to', 2, /option '--to <channel>' argument missing/],
  ['promote 1.0.0 --to Beta', 2, /"Beta" is not a usable channel name; use 1 to 64 of a-z/],
  [
    'publish 1.1.0',
    3,
    /^slipway: stable has no draft of 1\.1\.0\. To publish files, name them: slipway publish 1\.1\.0 dist\./,
  ],
  [
    'publish 1.1.0 --draft',
    2,
    /--draft needs files to publish\. Name the files before it: slipway publish 1\.1\.0/,
  ],
  ['publish 1.1.0 --create', 2, /--create needs files to publish/],
  ['publish 1.1.0 --app dektop', 3, /No application "dektop" in this store\. Did you mean desktop/],
  [`publish 1.1.0 ${FILE} --draft --release-partial`, 2, /Give --draft .* or --release-partial/],
  [`publish 1.1.0 ${FILE} --expect windows`, 2, /"windows" is not a platform with an architecture/],
  [
    `publish 1.1.0 ${FILE} --expect windows-x46`,
    2,
    /^slipway: "x46" is not a known architecture; use one of x64, arm64/,
  ],
  [`publish 1.1.0 ${FILE} --expect windows-x64,`, 2, /"" is not a known platform/],
  [`publish 1.1.0 ${FILE} --draft --rollout 5`, 2, /"5" is not a percentage/],
  [`publish 1.1.0 ${FILE} --draft --rollout 5%,25%`, 2, /"5%,25%" is not a plan: .*SHARE@TIME/],
  ['publish d14', 2, /The version comes first, and then the files: slipway publish VERSION d14$/m],
  ['publish 1.1.0 nowhere', 2, /nowhere: there is no such file/],
  ['publish 1.1.0 empty', 3, /There is nothing to publish: the command looked at empty/],
  ['publish 1.1.0 zero.AppImage,os=linux,arch=x64,format=appimage', 3, /it is empty/],
  ['publish 1.1.0 loop', 2, /loop: it cannot be read \(too many symbolic links, ELOOP\)\./],
  ['publish 1.1.0 one.AppImage os=linux', 2, /"os=linux" belongs to the file before it/],
  ['publish 1.1.0 one.AppImage,os=lnux', 2, /"lnux" is not a known platform; use one of/],
  ['publish 1.1.0 one.AppImage,arhc=x64', 2, /"arhc" is not a known key; use os, arch/],
  ['publish 1.1.0 bad\ufffdname', 2, /is not valid UTF-8.*Rename it/],
  [`publish 1.0.0 ${FILE}`, 0, /^$/],
  [
    `publish 1.1.0 ${FILE} --channel stabel`,
    3,
    /No channel "stabel" in desktop\. Did you mean stable\? Channels: stable\. Add --create/,
  ],
  [`publish 1.1.0-beta.1 ${FILE}`, 3, /every client of stable would get it/],
  [
    `publish 1.1.0 ${FILE} --requires 2`,
    2,
    /The range "2" has no version older than 1\.1\.0, so it fits no client\. Correct the range/,
  ],
  [`publish 1.1.0 ${FILE} --requires nonsense`, 2, /not a range of versions; write it like/],
  [`publish 1.1.0 ${FILE} --notes-file no.md`, 2, /The notes file no\.md cannot be read/],
  [`publish 1.1.0 ${FILE} --notes-file empty`, 2, /empty: it is a directory, and only plain files/],
  [
    `publish 1.1.0 ${FILE} --notes-file de_DE=n.md`,
    2,
    /write the locale with a hyphen, de-DE=n\.md/,
  ],
  [
    `publish 1.1.0 ${FILE} --notes-file en=one.AppImage --notes-file EN=one.AppImage`,
    2,
    /--notes-file for EN is given twice; give it once/,
  ],
  [
    `publish 1.1.0 ${FILE} --notes-file one.AppImage --notes-file one.AppImage`,
    2,
    /--notes-file without a locale is given twice/,
  ],
  ['history --limit -5', 2, /It must be a whole number from 1/],
  ['history --limit 0', 2, /It must be a whole number from 1/],
  ['history --limit', 2, /argument missing/],
  ['releases --at 1.0.0', 2, /number of a catalog revision; "slipway history" lists them/],
  ['releases --at -1', 2, /number of a catalog revision/],
  ['releases --at 99', 3, /desktop has no catalog revision 99\. "slipway history" lists/],
  ['releases --app Desktop', 2, /"Desktop" is not a usable application name/],
  ['gc --app dektop', 3, /No application "dektop" in this store\. Did you mean desktop\?/],
  [
    'verify --app nope',
    3,
    /^slipway: No application "nope" in this store\. Applications: desktop\./,
  ],
  ['keys --add', 2, /--add needs the current keys\. Set ACCESS_TOKEN_KEYS .*"slipway keys" prints/],
  ['keys --add --switch', 2, /Give one step at a time/],
  ['yank 1.0.1', 3, /Did you mean 1\.0\.0\?/],
];

describe('mistakes', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    slipway(words, { cwd: directory.path, env });

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const at = (name: string) => path.join(directory.path, name);
    await writeFile(at('one.AppImage'), 'one');
    await writeFile(at('zero.AppImage'), '');
    await mkdir(at('empty'));
    await symlink('loop', at('loop'));
    await run(['publish', '1.0.0', FILE, '--create']);
  });
  afterAll(() => directory.remove());

  it.each(MISTAKES)('%s', async (line, code, expected) => {
    const finished = await run(line.split(' ').filter((word) => word !== ''));
    expect(finished.stderr).toMatch(expected);
    expect(finished.code).toBe(code);
    expect(finished.stderr).not.toMatch(/^\s+at /m);
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ OBJECT_STORE: 'S3' }, /OBJECT_STORE: must be one of filesystem, s3/],
    [{ OBJECT_STORE: 's3' }, /S3_BUCKET: is required when OBJECT_STORE is s3/],
    [{ S3_ENDPOINT: 'localhost:9000' }, /S3_ENDPOINT: must be an http:\/\/ or https:\/\/ address/],
    [{ DATA_DIR: 'one.AppImage' }, /There is no store in \.\/one\.AppImage: /],
    [{ DATA_DIR: 'data/objects' }, /in \.\/data\/objects: .* Did you mean DATA_DIR=\.\/data\?/],
  ])('settings %j', async (env, expected) => {
    const finished = await run(['releases'], env);
    expect(finished).toMatchObject({ code: 2, stdout: '' });
    expect(finished.stderr).toMatch(expected);
  });
});

describe('the progress bar', () => {
  const draw = (env: Record<string, string>, isTTY: boolean, quiet = false): string => {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 40 });
    const terminal = {
      environment: () => env,
      stdin: process.stdin,
      stdout: stream,
      stderr: stream,
    };
    const progress = createProgress(terminal, quiet);
    progress.show('hashing App', 0, 2_000_000, 'bytes');
    progress.show('hashing App', 1_000_000, 2_000_000, 'bytes');
    progress.stop();
    // Since Node 26, a read without a size returns one piece of what was written, and not all of it.
    return String(stream.read(stream.readableLength) ?? '');
  };

  it('starts with the sizes', () => {
    expect(draw({ TERM: 'xterm' }, true)).toContain('0%  0 B of 2.0 MB  hashing App');
  });

  it('is not drawn without a terminal that can draw it, nor with --json', () => {
    expect(draw({ TERM: 'dumb' }, true)).toBe('');
    expect(draw({ TERM: 'xterm' }, false)).toBe('');
    expect(draw({ TERM: 'xterm' }, true, true)).toBe('');
  });
});
