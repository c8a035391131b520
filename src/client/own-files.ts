import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rm } from 'node:fs/promises';
import { ignoreMissing } from './file-errors.ts';

/**
 * Opens files and folders of the cache, and never what a link points to. Another program of the user, or another user of a
 * shared folder, may plant a link under a name that the client uses. The client would then write, or delete, elsewhere.
 */

/**
 * Windows has neither flag. O_NONBLOCK: without it, a named pipe would keep the client waiting for another program.
 */
const NO_LINK = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Makes a folder, in place of anything else under its name. */
export async function makeOwnFolder(folder: string): Promise<void> {
  await removeUnlessFolder(folder);
  await mkdir(folder, { recursive: true });
}

/** Removes a link or a file under the name of a folder. What a link points to stays as it is. */
export async function removeUnlessFolder(folder: string): Promise<void> {
  const known = await lstat(folder).catch(ignoreMissing);
  if (known?.isDirectory() === false) await rm(folder, { force: true });
}

/**
 * The size of a file, in bytes; undefined: there is none. Anything else under its name is removed: a link, a further
 * name of another file, a folder, a named pipe.
 */
export async function sizeOfOwnFile(file: string): Promise<number | undefined> {
  const known = await lstat(file).catch(ignoreMissing);
  if (known === undefined || (known.isFile() && known.nlink <= 1)) return known?.size;
  await rm(file, { recursive: true, force: true });
  return undefined;
}

/**
 * Opens a file to write into it, and creates it when there is none.
 *
 * @throws Error with the code of the system, such as ELOOP for a link
 */
export async function openOwnFileToWrite(file: string): Promise<FileHandle> {
  await sizeOfOwnFile(file);
  return openOwnFile(file, constants.O_CREAT | constants.O_RDWR);
}

/**
 * Opens a file, and never what a link points to.
 *
 * @throws Error with the code of the system: ENOENT, ELOOP for a link
 */
export async function openOwnFile(file: string, flags: number): Promise<FileHandle> {
  const handle = await open(file, flags | NO_LINK);
  try {
    const opened = await handle.stat();
    // Windows follows a link. Another process of the application may have removed the file meanwhile.
    const named = await lstat(file).catch(ignoreMissing);
    const isOwn = opened.isFile() && opened.nlink <= 1 && named?.isSymbolicLink() !== true;
    if (!isOwn) throw Object.assign(new Error(`${file} is not a file of its own.`), ELOOP);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const ELOOP = { code: 'ELOOP' };
