import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { AppError } from './errors.ts';

/**
 * Opens files that a user, a project or a build named. Only plain files are read: a named pipe would block the command
 * for ever, a device such as /dev/zero has no end, and reading some devices has effects. Opening follows links to plain
 * files; callers that must not follow links refuse them first.
 */

const CHUNK_BYTES = 64 * 1024;

/**
 * Opens a plain file for reading.
 *
 * @throws AppError `invalid_request` for anything but a plain file; otherwise the system's error
 */
export async function openPlainFile(path: string): Promise<FileHandle> {
  // The check comes before the file is opened, because opening a device may have an effect.
  refuseUnlessPlain(path, await stat(path));
  // Another process may have replaced the file by a pipe: O_NONBLOCK does not wait for the other end.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    refuseUnlessPlain(path, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Reads a whole plain file; undefined when it has more than `bytesMax` bytes. The limit counts the bytes that are read,
 * because a file may grow meanwhile, and files in /proc state a size of 0.
 *
 * @throws AppError `invalid_request` for anything but a plain file; otherwise the system's error
 */
export async function readPlainFile(path: string, bytesMax: number): Promise<Buffer | undefined> {
  const handle = await openPlainFile(path);
  try {
    const { size } = await handle.stat();
    if (size > bytesMax) return undefined;
    const chunks: Buffer[] = [];
    let total = 0;
    while (total <= bytesMax) {
      const wanted = Math.max(size - total, 0) + CHUNK_BYTES;
      const chunk = Buffer.allocUnsafeSlow(Math.min(wanted, bytesMax + 1 - total));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return Buffer.concat(chunks, total);
      chunks.push(chunk.subarray(0, bytesRead));
      total += bytesRead;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Like {@link readPlainFile}, as text in UTF-8 without the byte order mark. */
export async function readPlainText(path: string, bytesMax: number): Promise<string | undefined> {
  const bytes = await readPlainFile(path, bytesMax);
  return bytes?.toString('utf8').replace(/^\uFEFF/, '');
}

/** @throws AppError `invalid_request`; its message names the kind of file */
export function refuseUnlessPlain(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new AppError(
    'invalid_request',
    `${path}: it is ${kindOf(found)}, and only plain files are read. Name a plain file.`,
  );
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a named pipe';
  if (found.isSocket()) return 'a socket';
  return 'a device';
}
