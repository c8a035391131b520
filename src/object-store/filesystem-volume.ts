import { link, open, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { isMissing, symbolicLink } from './filesystem-errors.ts';

/** The file operations that differ between volumes. Tests replace them to imitate volumes. */
export interface VolumeOperations {
  /** Hard link; EEXIST when `path` is taken. */
  link(existing: string, path: string): Promise<void>;
  /** Puts the names in a directory on disk. */
  syncDirectory(path: string): Promise<void>;
}

export interface Volume {
  readonly root: string;
  readonly operations: VolumeOperations;
}

export const systemOperations: VolumeOperations = {
  link,
  syncDirectory: async (path) => {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
};

/**
 * A directory below the root that is a link, or is reached through one, would lead out of the store. The
 * root itself may be a link: the operator chose it. Of a missing directory, the nearest that exists counts.
 *
 * @throws AppError `document_corrupt`
 */
export async function refuseLinkedDirectory(root: string, directory: string): Promise<void> {
  const real = await realPathOf(directory);
  if (real !== undefined) {
    const expected = join(await realpath(root), relative(root, directory));
    if (real !== expected) throw symbolicLink(directory);
  } else if (directory !== root) {
    await refuseLinkedDirectory(root, dirname(directory));
  }
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The answers of systems that cannot sync directories. EPERM is that of Windows; NTFS keeps names in a journal. */
const CANNOT_SYNC = ['EPERM', 'EISDIR', 'EINVAL', 'EBADF', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * From `directory` up to the root: another process may have created a parent without having synced it
 * yet, and a file that is acknowledged must not vanish with its directory in a power cut.
 */
export async function syncDirectories(volume: Volume, directory: string): Promise<void> {
  const chain = [directory];
  for (let path = directory; path !== volume.root && path !== dirname(path); path = dirname(path)) {
    chain.push(dirname(path));
  }
  await Promise.all(chain.map((path) => syncDirectory(volume, path)));
}

export async function syncDirectory({ operations }: Volume, path: string): Promise<void> {
  try {
    await operations.syncDirectory(path);
  } catch (error) {
    const code = systemCode(error);
    // A directory that is gone has nothing left to keep.
    if (isMissing(error) || (code !== undefined && CANNOT_SYNC.includes(code))) return;
    throw new AppError(
      'store_unavailable',
      `Could not make a change below ${path} durable (${code ?? error}); it may or may not survive a power cut.`,
      { cause: error },
    );
  }
}
