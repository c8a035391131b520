import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { expect } from 'vitest';
import { slipway } from './support.ts';

/** Files that no command may read: most of them never end. */
export const ENDLESS_FILES = ['pipe', 'zero', 'link', 'socket', 'folder'] as const;

/** Makes each of {@link ENDLESS_FILES} in a directory. The test closes the server, which listens at the socket. */
export async function makeEndlessFiles(directory: string): Promise<Server> {
  const at = (name: (typeof ENDLESS_FILES)[number]): string => path.join(directory, name);
  execFileSync('mkfifo', [at('pipe')]);
  await symlink('/dev/zero', at('zero'));
  await symlink(at('pipe'), at('link'));
  await mkdir(at('folder'));
  const socket = createServer();
  await new Promise<void>((resolve) => {
    socket.listen(at('socket'), resolve);
  });
  return socket;
}

/** Expects that a command refuses its file at once, with a sentence. */
export async function expectPlainFile(cwd: string, words: readonly string[]): Promise<void> {
  const { code, stderr } = await slipway(words, { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/only plain files are read|neither a file nor a directory/);
}
