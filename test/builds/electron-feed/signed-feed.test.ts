import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { describeContent, signFeed } from '../../support/signed-feed.ts';
import { blockmap, temporaryDirectory } from '../materialize.ts';

/** Signed update documents in the output of a build. */

const version = '1.0.0';
const EXE = 'the installer';

async function read(contents: Record<string, string | Buffer>, options = '') {
  const root = await temporaryDirectory();
  for (const [name, content] of Object.entries(contents))
    await writeFile(join(root, name), content);
  const paths = options === '' ? [root] : [root, `${join(root, 'App Setup 1.0.0.exe')}${options}`];
  return readBuildOutput({ paths, version });
}

const signed = (url: string, more: object = {}) =>
  signFeed({ version, files: [describeContent(url, EXE)], ...more });

const build = (document: string, more: Record<string, string | Buffer> = {}) => ({
  'App Setup 1.0.0.exe': EXE,
  'App Setup 1.0.0.exe.blockmap': blockmap(EXE.length),
  'latest.yml': document,
  ...more,
});

it('is kept byte for byte, and its files are published under the names in its addresses', async () => {
  const document = signed('App-Setup-1.0.0.exe');
  const { artifacts, signed: kept, skipped } = await read(build(document));
  expect(kept).toMatchObject([{ name: 'latest.yml', size: Buffer.byteLength(document) }]);
  expect(Buffer.from(kept[0]?.bytes ?? []).toString()).toBe(document);
  expect(artifacts).toMatchObject([
    {
      filename: 'App-Setup-1.0.0.exe',
      companions: [{ filename: 'App-Setup-1.0.0.exe.blockmap' }],
      stated: [{ algorithm: 'sha512' }],
    },
  ]);
  expect(skipped).toEqual([]);
});

it.each([
  ['a space, as a client resolves it', 'App Setup 1.0.0.exe'],
  ['an encoded space', 'App%20Setup%201.0.0.exe'],
  ['its version as a folder', '1.0.0/App Setup 1.0.0.exe'],
])('may name a file with %s', async (_what, url) => {
  const { artifacts } = await read(build(signed(url)));
  expect(artifacts).toMatchObject([{ filename: 'App Setup 1.0.0.exe' }]);
});

it('may name a file without its version below the version', async () => {
  const name = 'App-Setup.exe';
  const { artifacts } = await read({ [name]: EXE, 'latest.yml': signed(`1.0.0/${name}`) });
  expect(artifacts).toMatchObject([{ filename: name }]);
});

it('starts no rollout of the service: its clients apply the percentage themselves', async () => {
  const { staged, signed: kept } = await read(
    build(signed('App-Setup-1.0.0.exe', { stagingPercentage: 5 })),
  );
  expect(staged).toBeNull();
  expect(kept).toHaveLength(1);
});

it('may name files on other servers, which the publisher is told of', async () => {
  const elsewhere = 'https://cdn.example/App-1.0.0-full.exe';
  const files = [describeContent('App-Setup-1.0.0.exe', EXE), describeContent(elsewhere, 'other')];
  const { signed: kept } = await read(build(signFeed({ version, files })));
  expect(kept).toMatchObject([{ elsewhere: [{ address: elsewhere, name: 'App-1.0.0-full.exe' }] }]);
});

it('keeps the names of the packages of a web installer', async () => {
  const content = 'the payload';
  const { url: file, ...stated } = describeContent('app-1.0.0-x64.nsis.7z', content);
  const info = { version, files: [describeContent('App Web Setup 1.0.0.exe', EXE)] };
  const document = signFeed({ ...info, packages: { x64: { path: file, ...stated } } });
  const output = await read({
    'App Web Setup 1.0.0.exe': EXE,
    [file]: content,
    'latest.yml': document,
  });
  expect(output.signed).toHaveLength(1);
  expect(output.artifacts).toMatchObject([{ companions: [{ filename: file }] }]);
});

it('is an ordinary feed when its signatures are blank', async () => {
  const info = parse(signed('App-Setup-1.0.0.exe')) as object;
  const { signed: kept, skipped } = await read(
    build(stringify({ ...info, signature: '', signatures: [] })),
  );
  expect(kept).toEqual([]);
  expect(skipped).toMatchObject([{ reason: expect.stringContaining('read for the sizes') }]);
});

describe('is refused', () => {
  const refused = (contents: Record<string, string | Buffer>, options?: string) =>
    expect(read(contents, options)).rejects;

  it.each([
    ['without the version in a name', 'App-Setup.exe', /does not contain the version 1.0.0/],
    ['in a folder', 'win/App-Setup-1.0.0.exe', /is not a file name/],
    ['above the feed', '../App-Setup-1.0.0.exe', /is not a file name/],
    ['of another root', '/App-Setup-1.0.0.exe', /is not a file name/],
    ['with a query', 'App-Setup-1.0.0.exe?a=b', /which is not there/],
    ['that is not published', 'Other-2-1.0.0.dmg', /which is not there|which is not published/],
  ])('with an address %s', async (_what, url, message) => {
    await refused(build(signed(url), { 'App-Setup.exe': EXE })).toThrow(message);
  });

  it.each([
    ['with a malformed escape', '100%-1.0.0.exe', '100%-1.0.0.exe'],
    ['that no client can resolve', '[App-1.0.0.exe', '\\\\[App-1.0.0.exe'],
    ['of an empty folder', 'App-1.0.0.exe', '1.0.0//App-1.0.0.exe'],
  ])('with an address %s', async (_what, name, url) => {
    const document = signFeed({ version, files: [describeContent(url, EXE)] });
    await refused({ [name]: EXE, 'latest.yml': document }).toThrow(/is not a file name/);
  });

  it('with an address on a server that no client can resolve', async () => {
    const names = ['App-Setup-1.0.0.exe', 'https://[/App-1.0.0.exe'];
    const files = names.map((name) => describeContent(name, EXE));
    await refused(build(signFeed({ version, files }))).toThrow(/is not a file name/);
  });

  it.each([
    ['3.0.0+5', 'App-Setup-3.0.0.exe'],
    ['3.0.0-beta', 'App-Setup-3.0.0~beta.exe'],
    ['3.0.0-beta', 'App-Setup-3.0.0-BETA.exe'],
  ])(
    'for version %s with the name %s, by which the service does not find it',
    async (other, name) => {
      const root = await temporaryDirectory();
      await writeFile(join(root, name), EXE);
      const document = signFeed({ version: other, files: [describeContent(name, EXE)] });
      await writeFile(join(root, 'latest.yml'), document);
      await expect(readBuildOutput({ paths: [root], version: other })).rejects.toThrow(
        `does not contain the version ${other} in this spelling`,
      );
    },
  );

  it('with a name that contradicts the publisher', async () => {
    const contents = build(signed('App-Setup-1.0.0.exe'));
    await refused(contents, ',name=Other-1.0.0.exe').toThrow(/name=Other-1.0.0.exe contradicts/);
  });

  it.each(['custom.YAML', 'latest-linux-mips.yml', 'latest 2.yml'])(
    'under the name %s, which no client asks for',
    async (name) => {
      const { 'latest.yml': document = '', ...rest } = build(signed('App-Setup-1.0.0.exe'));
      await refused({ ...rest, [name]: document }).toThrow(/no client asks for its name/);
    },
  );

  it('for another platform than its name says', async () => {
    const { 'latest.yml': document = '', ...rest } = build(signed('App-Setup-1.0.0.exe'));
    await refused({ ...rest, 'latest-mac.yml': document }).toThrow(/clients on macos ask for/);
  });

  it('for other bytes than the files have', async () => {
    const files = [{ ...describeContent('App-Setup-1.0.0.exe', EXE), size: 1 }];
    await refused(build(signFeed({ version, files }))).toThrow(/states 1 bytes/);
  });

  it.each([
    [
      'signature',
      { signature: 'short', signatures: [{ keyId: 'a', signature: '' }] },
      /no signature/,
    ],
    ['kind of signature', { signature: 7 }, /signature/],
    ['percentage', { stagingPercentage: '5' }, /stagingPercentage/],
    ['list of files', { files: [], path: 'App-Setup-1.0.0.exe' }, /files/],
    ['character', { minimumSystemVersion: '10\u0001' }, /control character/],
  ])('with a %s that the client refuses', async (_what, change, message) => {
    const info = parse(signed('App-Setup-1.0.0.exe')) as object;
    await refused(build(stringify({ ...info, ...change }))).toThrow(message);
  });

  it('when it has more bytes than a service keeps in memory', async () => {
    const document = signed('App-Setup-1.0.0.exe');
    await refused(build(`${document}#${' '.repeat(256 * 1024)}`)).toThrow(/may have 262144/);
  });
});
