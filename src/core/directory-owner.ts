import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isOfThisUser, isOwnerGone, makeMark, type OwnerMark } from './owner-mark.ts';

/** Tells whether the process that made a temporary directory still lives: see `owner-mark.ts`. */

/** Every temporary directory of Slipway begins with it. */
const PREFIX = 'slipway-';

const markOf = (directory: string): OwnerMark => ({
  file: path.join(directory, 'owner'),
  pipe: path.basename(directory),
});

/**
 * Marks a directory as owned by this process. Never fails: without a mark, for example on a file system without sockets,
 * no process removes the directory of a killed one.
 *
 * @returns a function that ends the ownership
 */
export async function ownDirectory(directory: string): Promise<() => void> {
  return makeMark(markOf(directory)).catch(() => () => {});
}

/**
 * Removes the temporary directories whose processes have ended. Leaves directories of other users and links alone:
 * another user may plant them in a shared directory. Leaves directories without a mark alone, too. Never fails.
 */
export async function removeLeftDirectories(): Promise<void> {
  const root = tmpdir();
  for (const name of await readdir(root).catch(() => [])) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = path.join(root, name);
    try {
      if (!(await isLeft(directory))) continue;
      await rm(directory, { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // Another process was first.
    }
  }
}

async function isLeft(directory: string): Promise<boolean> {
  const known = await lstat(directory);
  // Windows has no user ids, and gives each user a temporary directory of its own.
  if (!known.isDirectory() || !isOfThisUser(known)) return false;
  return isOwnerGone(markOf(directory));
}
