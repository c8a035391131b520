import { writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ENDLESS_FILES, expectPlainFile, makeEndlessFiles } from '../../cli/endless-files.ts';
import { slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

describe('simulate --csv', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let socket: Server;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    socket = await makeEndlessFiles(directory.path);
    await writeFile(path.join(directory.path, 'App.AppImage'), 'bytes');
    const file = 'App.AppImage,os=linux,arch=x64,format=appimage';
    await slipway(['publish', '0.9.0', file, '--create'], { cwd: directory.path });
  });
  afterAll(async () => {
    socket.close();
    await directory.remove();
  });

  it.each(ENDLESS_FILES)('refuses a %s at once, with a sentence', (kind) =>
    expectPlainFile(directory.path, ['simulate', '--csv', kind]),
  );
});
