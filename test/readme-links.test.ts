import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Every relative link of the documents leads to a file and a heading, and every path they name exists. */

const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'SKILL.md'],
  ...['src/README.md', 'manifests/README.md'],
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true })
    .map((file) => path.posix.join('docs', String(file).split(path.sep).join('/')))
    .filter((file) => file.endsWith('.md')),
];

const withoutCode = (page: string) => page.replace(/^```[\s\S]*?^```$/gm, '');

/** As GitHub makes them from headings. */
function anchorsOf(page: string): string[] {
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    `${heading}`
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

const linksOf = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => `${link}`)
    .filter((link) => !/^[a-z]+:/.test(link));

function problemOf(page: string, link: string): string | undefined {
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target);
  if (!existsSync(path.join(ROOT, file))) return `${page}: ${link} leads to no file`;
  if (anchor === undefined) return undefined;
  return anchorsOf(read(file)).includes(anchor) ? undefined : `${page}: ${link} has no heading`;
}

/** `src/domain/version.ts`, `test/server/`, `src/cli/*.ts`: what the documents say about the code. */
const PATH = /(?<![\w./-])(?:src|test|scripts|docs|manifests|deploy)\/[\w./*-]*/g;

/** Whether a file or folder is there; of a pattern, the folder. */
const isThere = (named: string) => {
  const file = named.replace(/[.,]$/, '').replace(/[^/]*\*.*$/, '');
  return existsSync(path.join(ROOT, file)) && (!file.endsWith('/') || isFolder(file));
};
const isFolder = (file: string) => statSync(path.join(ROOT, file)).isDirectory();

describe('the documents', () => {
  it.each(PAGES)('%s links to files and headings that exist', (page) => {
    const problems = linksOf(read(page)).map((link) => problemOf(page, link));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it.each(PAGES)('%s names files that exist', (page) => {
    const named = [...withoutCode(read(page)).matchAll(/`([^`]+)`/g)].flatMap(([, code]) =>
      [...`${code}`.matchAll(PATH)].map(([file]) => file),
    );
    expect(named.filter((file) => !isThere(file))).toEqual([]);
  });

  it('of the source name files relative to src', () => {
    const named = [...read('src/README.md').matchAll(/`([\w./-]+(?:\/|\.[jt]s))`/g)].map(
      ([, file]) => `${file}`,
    );
    expect(named.length).toBeGreaterThan(40);
    const missing = named.filter((file) => !isThere(`src/${file}`) && !isThere(file));
    expect(missing).toEqual([]);
  });

  it('are all reached from the index', () => {
    const index = linksOf(read('docs/README.md')).map((link) => path.posix.join('docs', link));
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    expect(pages.filter((page) => !index.includes(page))).toEqual([]);
  });

  it('are checked by a test that detects a violation', () => {
    expect(problemOf('README.md', 'docs/nothing.md')).toMatch(/no file/);
    expect(problemOf('README.md', 'docs/README.md#nothing')).toMatch(/no heading/);
    expect(isThere('src/nothing.ts')).toBe(false);
    expect(isThere('src/core/settings/*.ts')).toBe(true);
  });
});

/** Publishers have the command line in one file, without the documents. */
describe('messages that name a page', () => {
  const sources = ['src'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true })
      .map((file) => path.posix.join(folder, String(file).split(path.sep).join('/')))
      .filter((file) => file.endsWith('.ts')),
  );
  const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = sources.flatMap((file) =>
    [...withoutComments(read(file)).matchAll(/\b(docs\/[\w/-]+\.md)(#[\w-]+)?([^\n]{0,24})/g)].map(
      ([, page = '', anchor = '', after = '']) => ({ file, page, anchor, after }),
    ),
  );

  it('say where it is, and it exists', () => {
    expect(found.length).toBeGreaterThan(5);
    for (const { file, page, anchor, after } of found) {
      expect(after, file).toMatch(/^ in Slipway's repository/);
      expect(problemOf(file, path.posix.relative(path.posix.dirname(file), page) + anchor)).toBe(
        undefined,
      );
    }
  });
});
