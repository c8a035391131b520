import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const PROJECT = path.resolve(import.meta.dirname, '../..');

/** Files that name other accounts: addresses of packages, and the tests of these scripts. */
const NAMES_OTHERS = /^(?:package-lock\.json$|test\/maintaining\/)/;

/** The text files of the project, relative to its root: what Git has and will have, without what it ignores. */
export function textFiles(): readonly string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
    { cwd: PROJECT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  return listed
    .split('\0')
    .filter((file) => file !== '' && !NAMES_OTHERS.test(file) && isText(path.join(PROJECT, file)));
}

/** Git's own rule: a file with a zero byte at its beginning is binary. */
function isText(file: string): boolean {
  try {
    return !readFileSync(file).subarray(0, 8000).includes(0);
  } catch {
    // Git lists a file until its deletion is committed.
    return false;
  }
}
