import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT, readTextFiles } from '../../scripts/maintaining/project-files.ts';
import { hasProgram } from '../support/programs.ts';

const hasGit = await hasProgram('git');
const hasRepository = existsSync(path.join(PROJECT, '.git'));
if (!hasRepository) console.log('skipped: the files that Git lists; this is no repository');

it.skipIf(!hasGit || !hasRepository)('the files of the project are those that Git lists', () => {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  // Git refuses the checkout of another user, as in a container of CI.
  const args = ['-c', `safe.directory=${PROJECT}`, ...options];
  const listed = execFileSync('git', args, { cwd: PROJECT, maxBuffer: 64 * 1024 * 1024 });
  // Git lists a file until its deletion is committed, and binary files, and files that name other accounts.
  const names = String(listed).split('\0');
  expect(names).toEqual(expect.arrayContaining([...readTextFiles().keys()]));
  const ours = new Set(readTextFiles().keys());
  const isDocument = (file: string) => /\.(md|json|ya?ml)$/.test(file) && existsSync(file);
  const others = names.filter((file) => isDocument(file) && !ours.has(file));
  expect(others.filter((file) => !/^(package-lock\.json$|test\/maintaining\/)/.test(file))).toEqual(
    [],
  );
});
