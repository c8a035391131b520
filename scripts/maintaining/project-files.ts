import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const PROJECT = path.resolve(import.meta.dirname, '../..');

/** Files that name other accounts: addresses of packages, and the tests of these scripts. */
const NAMES_OTHERS = /^(?:package-lock\.json$|test\/maintaining\/)/;

export const readProjectFile = (file: string): string =>
  readFileSync(path.join(PROJECT, file), 'utf8');

/**
 * The text files of the project, by their paths relative to its root: what Git has and will have, without what it
 * ignores.
 */
export function readTextFiles(): ReadonlyMap<string, string> {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
    { cwd: PROJECT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  const texts = new Map<string, string>();
  for (const file of listed.split('\0')) {
    // Git lists a file until its deletion is committed.
    if (file === '' || NAMES_OTHERS.test(file) || !existsSync(path.join(PROJECT, file))) continue;
    const bytes = readFileSync(path.join(PROJECT, file));
    // Git's own rule: a file with a zero byte at its beginning is binary.
    if (!bytes.subarray(0, 8000).includes(0)) texts.set(file, bytes.toString());
  }
  return texts;
}

/** The documents among them. */
export function readDocuments(): ReadonlyMap<string, string> {
  return new Map([...readTextFiles()].filter(([file]) => file.endsWith('.md')));
}
