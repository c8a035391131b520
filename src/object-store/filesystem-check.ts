import { randomUUID } from 'node:crypto';
import { link, lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { isMissing, systemCode } from './filesystem-errors.ts';
import { TEMPORARY_PREFIX } from './key.ts';

/** The two file operations whose behaviour differs between file systems. */
export interface CheckedOperations {
  link(existing: string, path: string): Promise<void>;
  lstat(path: string): Promise<unknown>;
}

/**
 * Tries in the directory itself whether names can be claimed atomically and are kept apart.
 *
 * `store_nonconforming` without hard links (two writers could both win) or where two names are one
 * file (two keys would share their bytes). Other failures are the system's own errors.
 */
export async function checkDirectory(
  directory: string,
  operations: CheckedOperations = { link, lstat },
): Promise<void> {
  const name = join(directory, `${TEMPORARY_PREFIX}${randomUUID()}-é`);
  const linked = `${name}-linked`;
  try {
    await writeFile(name, '', { flag: 'wx' });
    await checkLinks(directory, name, linked, operations);
    for (const other of [name.toUpperCase(), name.normalize('NFD')]) {
      const path = join(directory, other.slice(directory.length + 1));
      if (await exists(path, operations)) {
        throw refusal(directory, 'treats names that differ only in case or accents as one file');
      }
    }
  } finally {
    await Promise.all([rm(name, { force: true }), rm(linked, { force: true })]);
  }
}

async function checkLinks(
  directory: string,
  name: string,
  linked: string,
  operations: CheckedOperations,
): Promise<void> {
  const unsupported = refusal(
    directory,
    'has no hard links, so a name cannot be claimed by exactly one writer',
  );
  try {
    await operations.link(name, linked);
  } catch (error) {
    // EPERM and the rest are what FAT, exFAT and several network file systems answer.
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemCode(error) ?? '')) {
      throw unsupported;
    }
    throw error;
  }
  const second = await operations.link(name, linked).then(
    () => undefined,
    (error: unknown) => systemCode(error),
  );
  if (second !== 'EEXIST') {
    throw unsupported;
  }
}

async function exists(path: string, operations: CheckedOperations): Promise<boolean> {
  try {
    await operations.lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
}

function refusal(directory: string, reason: string): AppError {
  return new AppError(
    'store_nonconforming',
    `The directory ${directory} cannot be a store: its file system ${reason}. Use a directory on another volume (ext4, xfs, btrfs, zfs or case-sensitive APFS) or an S3 bucket.`,
  );
}
