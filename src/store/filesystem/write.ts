import { randomInt, randomUUID } from 'node:crypto';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { createOwnDirectory } from '../../core/own-directory.ts';
import { TEMPORARY_PREFIX } from '../key.ts';
import { isMissing } from './errors.ts';
import { refuseLinkedDirectory, syncDirectories, syncDirectory, type Volume } from './volume.ts';

/** The number of times that another process may remove the directory before the write fails. */
const ATTEMPTS_MAX = 16;

/** The pauses take 2.5 s in total at most. They are random, so that processes that compete do not stay in step. */
const pauseBefore = (attempt: number): Promise<void> => setTimeout(randomInt(1 + attempt ** 2 * 2));

/**
 * Writes a temporary file next to `path`, and links this file to `path` unless the name is taken.
 *
 * The bytes are on disk before the name, and the name is on disk before this function resolves. A failure before the
 * link leaves no file; a failure after the link is `store_unavailable`, because the file exists.
 */
export async function createFile(
  volume: Volume,
  path: string,
  fill: (file: FileHandle) => Promise<void>,
): Promise<'created' | 'exists'> {
  if (await isTaken(path)) {
    await syncDirectories(volume, dirname(path));
    return 'exists';
  }
  const { temporary, file } = await openTemporary(volume, path);
  let outcome: 'created' | 'exists';
  try {
    try {
      await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    outcome = await claimName(volume, temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectories(volume, dirname(path));
  return outcome;
}

/** Deletes the file, and the parent directories that are then empty. Succeeds when the file does not exist. */
export async function removeFile(volume: Volume, path: string): Promise<void> {
  try {
    await refuseLinkedDirectory(volume.root, dirname(path));
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) {
      throw error;
    }
    return;
  }
  await syncDirectory(volume, await removeEmptyDirectories(volume.root, dirname(path)));
}

/** Removes `path` and its parents as far as they are empty, and never the root. Returns the first that stays. */
async function removeEmptyDirectories(root: string, path: string): Promise<string> {
  let directory = path;
  while (directory !== root && (await removeIfEmpty(directory))) {
    directory = dirname(directory);
  }
  return directory;
}

/** Creates the volume's root, and syncs every directory to which it adds a name. */
export async function createDirectory({ root, operations }: Volume): Promise<void> {
  const first = await createOwnDirectory(root);
  if (first !== undefined) {
    await syncDirectories({ root: dirname(first), operations }, root);
  }
}

async function openTemporary(
  { root }: Volume,
  path: string,
): Promise<{ temporary: string; file: FileHandle }> {
  const directory = dirname(path);
  const temporary = join(directory, newTemporaryName());
  const placeholders: string[] = [];
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await refuseLinkedDirectory(root, directory);
        await createDirectoryBelow(root, directory);
        // While the temporary file is in the directory, another process cannot remove the directory as empty.
        return { temporary, file: await open(temporary, 'wx', 0o644) };
      } catch (error) {
        const code = systemCode(error);
        if (code === 'ENOTDIR' || code === 'EEXIST') {
          throw nestedKey(path, error);
        }
        if (code !== 'ENOENT' || attempt === ATTEMPTS_MAX) {
          throw error;
        }
        // Linux refuses every entry in a new directory of a FUSE volume when a process still holds a removed directory
        // with the same inode number. So the next attempt makes the directory again. The volume often gives out the
        // lowest free number, so a file takes this number first.
        await removeEmptyDirectories(root, directory);
        const placeholder = join(root, newTemporaryName());
        await writeFile(placeholder, '', { flag: 'wx' });
        placeholders.push(placeholder);
        await pauseBefore(attempt);
      }
    }
  } finally {
    for (const placeholder of placeholders) await rm(placeholder, { force: true });
  }
}

const newTemporaryName = (): string => `${TEMPORARY_PREFIX}${randomUUID()}`;

/** Never creates the root itself: when the root vanished meanwhile, its volume was unmounted. */
async function createDirectoryBelow(root: string, directory: string): Promise<void> {
  if (directory === root) return;
  await createDirectoryBelow(root, dirname(directory));
  try {
    await mkdir(directory);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || !(await stat(directory)).isDirectory()) throw error;
  }
}

async function claimName(
  { operations }: Volume,
  temporary: string,
  path: string,
): Promise<'created' | 'exists'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await operations.link(temporary, path);
      return 'created';
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') {
        throw error;
      }
      // The name may belong to an empty directory, which a deletion in another process is about to remove.
      if ((await isTaken(path)) || attempt === ATTEMPTS_MAX) {
        return 'exists';
      }
      await pauseBefore(attempt);
    }
  }
}

/**
 * Says whether a file has this name. Removes an empty directory with this name; a directory with entries is
 * `invalid_key`.
 */
async function isTaken(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isDirectory()) {
      return true;
    }
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
  if (!(await removeIfEmpty(path))) {
    throw nestedKey(path);
  }
  return false;
}

async function removeIfEmpty(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    if (isMissing(error)) {
      return true;
    }
    if (['ENOTEMPTY', 'EEXIST', 'EBUSY', 'EACCES', 'EPERM'].includes(systemCode(error) ?? '')) {
      return false;
    }
    throw error;
  }
}

function nestedKey(path: string, cause?: unknown): AppError {
  return new AppError(
    'invalid_key',
    `${path} cannot be created: in a directory store, one object's key cannot be the directory of another's.`,
    { cause },
  );
}
