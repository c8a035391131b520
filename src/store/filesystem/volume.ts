import { link, lstat, open, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { isMissing, symbolicLink } from './errors.ts';

/** The file operations that differ between volumes. Tests replace them to imitate other volumes. */
export interface VolumeOperations {
  /** Creates a hard link; throws EEXIST when `path` is taken. */
  link(existing: string, path: string): Promise<void>;
  /** Flushes the names in a directory to disk. */
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
 * Refuses a directory below the root that is a symbolic link or lies behind a symbolic link, because the link could
 * lead out of the store. The root itself may be a link: the operator chose it. For a missing directory, checks the
 * nearest parent that exists.
 *
 * @throws AppError `document_corrupt`
 */
export async function refuseLinkedDirectory(root: string, directory: string): Promise<void> {
  const real = await realPathOf(directory);
  if (real !== undefined) {
    const below = relative(root, directory);
    // Nearly always, the real path of the root is the same as before, so each call needs only one real path.
    if (real === join(realRoots.get(root) ?? '', below)) return;
    const realRoot = await realpath(root);
    realRoots.set(root, realRoot);
    if (real !== join(realRoot, below)) throw symbolicLink(directory);
  } else if (directory !== root) {
    await refuseLinkedDirectory(root, dirname(directory));
  }
}

/** The last known real path of each root. */
const realRoots = new Map<string, string>();

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Errors of systems that cannot sync directories. Windows answers EPERM; its NTFS keeps a journal of names, and needs
 * no sync.
 */
const CANNOT_SYNC = ['EPERM', 'EISDIR', 'EINVAL', 'EBADF', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Syncs `directory` and its parents up to the root. Another process may have created a parent and not yet
 * synced it; a power cut must not remove an acknowledged file together with its directory.
 */
export async function syncDirectories(volume: Volume, directory: string): Promise<void> {
  const chain = [directory];
  for (let path = directory; path !== volume.root && path !== dirname(path); path = dirname(path)) {
    chain.push(dirname(path));
  }
  await Promise.all(chain.map((path) => syncDirectory(volume, path)));
}

export async function syncDirectory({ operations }: Volume, path: string): Promise<void> {
  const before = await inodeOf(path);
  // When another process has removed the directory, there is nothing to sync.
  if (before === undefined) return;
  try {
    await operations.syncDirectory(path);
  } catch (error) {
    const code = systemCode(error);
    if (isMissing(error) || (code !== undefined && CANNOT_SYNC.includes(code))) return;
    // FUSE answers EIO for a removed directory whose inode a new file has taken.
    if (code === 'EIO' && (await inodeOf(path)) !== before) return;
    throw new AppError(
      'store_unavailable',
      `Could not sync ${path} (${code ?? error}): the latest change there may or may not survive a power cut.`,
      { cause: error },
    );
  }
}

async function inodeOf(path: string): Promise<bigint | undefined> {
  try {
    return (await lstat(path, { bigint: true })).ino;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
