import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import {
  expectPlainFile,
  expectPublishedWithout,
  FILE_OPTIONS,
  itRefusesProjects,
  publishFirst,
} from './endless-files.ts';

/** Named pipes without a writer, which Node cannot make: a command that reads one waits for ever. */

const hasMkfifo = await hasProgram('mkfifo');
const makePipe = (file: string) => execFileSync('mkfifo', [file]);

describe.skipIf(!hasMkfifo)('named pipes', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const pipe = path.join(directory.path, 'pipe');
    makePipe(pipe);
    await symlink(pipe, path.join(directory.path, 'link'));
    await publishFirst(directory.path);
  });
  afterAll(() => directory.remove());

  const commands = {
    ...FILE_OPTIONS,
    'simulate --csv': (file: string) => ['simulate', '--csv', file],
  };
  describe.each(Object.entries(commands))('%s', (_name, words) => {
    it.each(['pipe', 'link'])('refuses a %s at once, with a sentence', (kind) =>
      expectPlainFile(directory.path, words(kind)),
    );
  });

  it('are left out of a release, which says so, and are no update server', () =>
    expectPublishedWithout(directory.path, makePipe));

  itRefusesProjects('pipe', () => path.join(directory.path, 'pipe'));
});
