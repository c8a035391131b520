import { rename } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import {
  ENDLESS_FILES,
  expectPlainFile,
  expectPublishedWithout,
  FILE_OPTIONS,
  itRefusesProjects,
  listenAt,
  makeEndlessFiles,
  publishFirst,
} from './endless-files.ts';

/** Files that never end: links to devices, and a socket. Named pipes are in plain-files.system.test.ts. */

describe.skipIf(process.platform === 'win32')('files that never end', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const sockets: Server[] = [];
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    sockets.push(await makeEndlessFiles(directory.path));
    await publishFirst(directory.path);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.close();
    await directory.remove();
  });

  describe.each(Object.entries(FILE_OPTIONS))('%s', (name, words) => {
    const kinds = ENDLESS_FILES.filter((kind) => kind !== 'folder' || !/PATH/.test(name));
    it.each(kinds)('refuses a %s at once, with a sentence', (kind) =>
      expectPlainFile(directory.path, words(kind)),
    );
  });

  it('are left out of a release, which says so, and are no update server', async () => {
    await expectPublishedWithout(directory.path, async (file) => {
      // The system limits the path at which a process listens to a hundred characters.
      const short = path.join(directory.path, 's');
      sockets.push(await listenAt(short));
      await rename(short, file);
    });
  });

  itRefusesProjects('device', () => path.join(directory.path, 'zero'));
});
