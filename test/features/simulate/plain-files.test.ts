import type { Server } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  ENDLESS_FILES,
  expectPlainFile,
  makeEndlessFiles,
  publishFirst,
} from '../../cli/endless-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

describe.skipIf(process.platform === 'win32')('simulate --csv', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let socket: Server;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    socket = await makeEndlessFiles(directory.path);
    await publishFirst(directory.path);
  });
  afterAll(async () => {
    socket.close();
    await directory.remove();
  });

  it.each(ENDLESS_FILES)('refuses a %s at once, with a sentence', (kind) =>
    expectPlainFile(directory.path, ['simulate', '--csv', kind]),
  );
});
