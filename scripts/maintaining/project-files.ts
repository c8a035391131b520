import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const PROJECT = path.resolve(import.meta.dirname, '../..');

/** Files that name other accounts: addresses of packages, and the tests of these scripts. */
const NAMES_OTHERS = /^(?:package-lock\.json$|test\/maintaining\/)/;

export const readProjectFile = (file: string): string =>
  readFileSync(path.join(PROJECT, file), 'utf8');

/**
 * The text files of the project, by their paths relative to its root: what Git has and will have, without what it
 * ignores. Git itself is not asked, because a downloaded archive has no repository.
 */
export function readTextFiles(): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const file of [...filesBelow('', readIgnoreRules())].sort()) {
    if (NAMES_OTHERS.test(file)) continue;
    const bytes = readFileSync(path.join(PROJECT, file));
    // Git's own rule: a file with a zero byte at its beginning is binary.
    if (!bytes.subarray(0, 8000).includes(0)) texts.set(file, bytes.toString());
  }
  return texts;
}

function* filesBelow(directory: string, rules: readonly IgnoreRule[]): Generator<string> {
  for (const entry of readdirSync(path.join(PROJECT, directory), { withFileTypes: true })) {
    const file = path.posix.join(directory, entry.name);
    const last = rules.findLast(({ pattern }) =>
      pattern.test(entry.isDirectory() ? `${file}/` : file),
    );
    if (entry.name === '.git' || last?.isIgnored === true) continue;
    if (entry.isDirectory()) yield* filesBelow(file, rules);
    else if (entry.isFile()) yield file;
  }
}

interface IgnoreRule {
  /** For a path relative to the root; the path of a directory ends with a slash. */
  readonly pattern: RegExp;
  /** False for a rule that takes paths out of the rules before it. */
  readonly isIgnored: boolean;
}

/** The rules of `.gitignore`, as far as this project uses them: `*`, `**`, `!`, and a slash within or at the end. */
function readIgnoreRules(): readonly IgnoreRule[] {
  const lines = readProjectFile('.gitignore').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const isIgnored = !line.startsWith('!');
      const glob = isIgnored ? line : line.slice(1);
      const isAnchored = glob.slice(0, -1).includes('/');
      const text = glob
        .replace(/^\//, '')
        .replace(/[.+?^$()[\]{}|\\]/g, '\\$&')
        .replace(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '.*'));
      const end = glob.endsWith('/') ? '' : '/?';
      return { pattern: new RegExp(`^${isAnchored ? '' : '(?:.*/)?'}${text}${end}$`), isIgnored };
    });
}

/** The documents among them. */
export function readDocuments(): ReadonlyMap<string, string> {
  return new Map([...readTextFiles()].filter(([file]) => file.endsWith('.md')));
}
