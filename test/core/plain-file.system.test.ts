import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { PLAIN_FILE_READERS } from './plain-file-readers.ts';

const hasMkfifo = await hasProgram('mkfifo');

it.skipIf(!hasMkfifo).each(Object.entries(PLAIN_FILE_READERS))(
  '%s refuses a pipe',
  async (_name, read) => {
    const directory = await makeTemporaryDirectory();
    const pipe = path.join(directory.path, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(read(pipe)).rejects.toThrow(/it is a named pipe, and only plain files are read/);
    await directory.remove();
  },
);
