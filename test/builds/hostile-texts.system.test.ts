import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readAppcastOrUndefined } from '../../src/builds/appcast/appcast.ts';
import { readFeed } from '../../src/builds/electron/feed.ts';
import { inferFromName } from '../../src/builds/infer.ts';
import { readConfiguration, withoutComments } from '../../src/builds/project/project-files.ts';
import { readProject } from '../../src/builds/project/read-project.ts';
import { parseYaml } from '../../src/builds/yaml.ts';
import { isAppError } from '../../src/core/errors.ts';
import { nameInAddress } from '../../src/features/import/sources/files.ts';
import { parseJsonValues } from '../../src/features/import/sources/json-index.ts';
import { readImportSource } from '../../src/features/import/sources/read-source.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/** Texts from outside that would take a reader quadratic time: at these sizes, from ten seconds to hours. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let count = 0;
beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());

type Files = Readonly<Record<string, string>>;
type Reader = (text: string) => unknown;

function inFile(
  name: string,
  read: (directory: string, file: string) => Promise<unknown>,
  others: Files = {},
): Reader {
  return async (text) => {
    const folder = path.join(directory.path, String(++count));
    for (const [file, content] of Object.entries({ ...others, [name]: text })) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), content);
    }
    // A refusal is an answer.
    await read(folder, path.join(folder, name)).catch((error: unknown) => {
      if (!isAppError(error)) throw error;
    });
  };
}

const PACKAGES = '{"devDependencies":{"electron-builder":"1","@electron-forge/cli":"1"}}';
const inProject = (name: string): Reader => inFile(name, readProject, { 'package.json': PACKAGES });
const asFeed = (name: string): Reader =>
  inFile(name, (_folder, file) => readFeed(file, name, '1.0.0'));
const asIndex = (name: string): Reader =>
  inFile(name, (_folder, file) => readImportSource({ path: file }));

const READERS: Readonly<Record<string, Reader>> = {
  'electron-builder.json5': inProject('electron-builder.json5'),
  'electron-builder.config.js': inProject('electron-builder.config.js'),
  'electron-builder.toml': inProject('electron-builder.toml'),
  'forge.config.js': inProject('forge.config.js'),
  'build.sh': inProject('build.sh'),
  'CMakeLists.txt': inProject('CMakeLists.txt'),
  'App.csproj': inProject('App.csproj'),
  'Info.plist': inProject('Info.plist'),
  '.git/config': inProject('.git/config'),
  RELEASES: asFeed('RELEASES'),
  'releases.win.json': asFeed('releases.win.json'),
  'import RELEASES': asIndex('RELEASES'),
  'import releases.json': asIndex('releases.json'),
  'a tag': (tag) =>
    asIndex('releases.json')(JSON.stringify([{ tag_name: tag, assets: [{ name: 'a' }] }])),
  'import appcast.xml': asIndex('appcast.xml'),
  appcast: readAppcastOrUndefined,
  comments: withoutComments,
  TOML: inFile('Tauri.toml', (folder) => readConfiguration(folder, 'Tauri.toml')),
  JSON: parseJsonValues,
  'a name': inferFromName,
  'an address': nameInAddress,
};

const LINE = '0'.repeat(40);
/** Texts that open something without closing it, or that a reader could search again from every position. */
const REPEATED = [
  ...[
    '\\"',
    "\\'",
    '\\`',
    '/*',
    '//',
    '"',
    "'",
    '`',
    '[',
    '{',
    '(',
    '<a>',
    '<a ',
    '<!--',
    '<![CDATA[',
  ],
  ...[
    '\n',
    '\r',
    ' ',
    '\t',
    '\u2028',
    '#',
    '?',
    ':',
    '=',
    '&',
    '-',
    '.',
    '/',
    '0',
    '0.0',
    'a',
    'é',
  ],
  ...[
    'maker-',
    "maker-a'",
    'new MakerA(',
    'directories:{',
    'packagerConfig ',
    'vpk pack -u ',
    '<key>',
  ],
  ...[
    '\nurl = ',
    '\n"a"="',
    '.websetup',
    '-osx',
    '<releaseNotes>',
    '-0.0',
    `${LINE} a 1\n`,
    'a=1\n',
  ],
];
const BEFORE = ['', 'a = ', 'a = [', '{"a":', '"', '<rss><a b="', '[remote "a"]\n', `${LINE} a`];
const LENGTH = 100_000;
/** The slowest reader takes a tenth of a second, on its own. */
const CPU_MS_MAX = 3_000;

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

it('no text takes quadratic time', { timeout: 120_000 }, async () => {
  const hostile = fc.record({
    reader: fc.constantFrom(...Object.keys(READERS)),
    before: fc.constantFrom(...BEFORE),
    repeated: fc.constantFrom(...REPEATED),
    after: fc.constantFrom('', 'x', '\n', '"', '\\'),
  });
  await fc.assert(
    fc.asyncProperty(hostile, async ({ reader, before, repeated, after }) => {
      const text = before + repeated.repeat(LENGTH / repeated.length) + after;
      expect(await cpuMs(() => READERS[reader]?.(text)), reader).toBeLessThan(CPU_MS_MAX);
    }),
    { numRuns: 15, endOnFailure: true },
  );
});

/** Readers once took more than ten seconds for each. */
const FOUND: readonly (readonly [
  reader: string,
  before: string,
  repeated: string,
  after: string,
])[] = [
  ['electron-builder.json5', '{ a: ', "\\'", ''],
  ['electron-builder.json5', '{ a: "', '\\"', '\\'],
  ['electron-builder.config.js', '', 'directories:{', ''],
  ['forge.config.js', '', 'maker-', ''],
  ['forge.config.js', '', 'packagerConfig ', ''],
  ['comments', '', '/*', ''],
  ['comments', '', '\\`', ''],
  ['TOML', 'a = [', '\\"', ''],
  ['TOML', 'a = ', '\t', 'x\u2028x'],
  ['.git/config', '[remote "a"]\n', '\n', 'x'],
  ['JSON', '', '\\"', ''],
  ['RELEASES', `${LINE} a`, ' ', 'x'],
  ['import RELEASES', '', '#', '\rx'],
  ['an address', '', '?', '\nx'],
  ['a tag', '', '1', ''],
  ['a name', '', '.websetup', 'x'],
];
it.each(FOUND)(
  '%s in linear time: %j, %j, %j',
  { timeout: 120_000 },
  async (reader, before, repeated, after) => {
    const text = before + repeated.repeat(400_000 / repeated.length) + after;
    expect(await cpuMs(() => READERS[reader]?.(text))).toBeLessThan(CPU_MS_MAX);
  },
);

/** The library itself takes some microseconds for each character. */
it('YAML takes linear time: keys, aliases, errors', { timeout: 120_000 }, async () => {
  const SHAPES: readonly ((length: number) => string)[] = [
    (length) => Array.from({ length: length / 8 }, (_, at) => `k${at}: 1`).join('\n'),
    (length) => Array.from({ length: length / 20 }, (_, at) => `- &a${at} 1\n- *a${at}`).join('\n'),
    (length) => `[${','.repeat(length / 4)}]`,
  ];
  for (const shape of SHAPES) {
    const short = await cpuMs(() => parseYaml(shape(20_000)));
    const long = await cpuMs(() => parseYaml(shape(120_000)));
    // Six times as long: quadratic time would be 36 times as long.
    expect(long).toBeLessThan(20 * (short + 10));
  }
});

it('YAML refuses what it did before: a key twice, too many aliases, what nests too deep', () => {
  expect(parseYaml('a: 1\nb: 2\n"a": 3')).toMatchObject({
    problem: expect.stringMatching(/line 3.* twice/),
  });
  expect(parseYaml('- {a: 1, a: 2}')).toMatchObject({ problem: expect.stringMatching(/twice/) });
  expect(parseYaml(`- &a 1\n${'- *a\n'.repeat(101)}`)).toMatchObject({
    problem: expect.stringMatching(/aliases/),
  });
  expect(parseYaml('[*a]')).toMatchObject({ problem: 'it is not valid YAML' });
  for (const open of ['[', '{a: ', '- ', '? ', '[[']) {
    expect(parseYaml(open.repeat(5_000))).toHaveProperty('problem');
  }
  expect(parseYaml('['.repeat(300) + ']'.repeat(300))).toMatchObject({
    problem: expect.stringMatching(/too deep/),
  });
  expect(parseYaml('x'.repeat(600 * 1024))).toMatchObject({
    problem: expect.stringMatching(/characters/),
  });
  expect(parseYaml('a: &x [1]\nb: *x')).toEqual({ value: { a: [1], b: [1] } });
});
