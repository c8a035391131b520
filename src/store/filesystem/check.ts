import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { TEMPORARY_PREFIX } from '../key.ts';
import type { Volume } from './volume.ts';

/**
 * Errors of `link` on volumes without hard links: FAT, exFAT and several network file systems. Windows answers EISDIR.
 */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR', 'EINVAL'];

/**
 * Tests in the directory itself that only one writer can claim a name.
 *
 * @throws AppError `store_nonconforming` when two writers could both win; otherwise the system's own errors
 */
export async function checkDirectory({ root, operations }: Volume): Promise<void> {
  const name = join(root, `${TEMPORARY_PREFIX}${randomUUID()}`);
  const linked = `${name}-linked`;
  try {
    await writeFile(name, '', { flag: 'wx' });
    await operations.link(name, linked).catch((error: unknown) => {
      throw NO_LINKS.includes(systemCode(error) ?? '')
        ? refusal(root, `has no hard links (${systemCode(error)})`, error)
        : error;
    });
    const isReplaced = await operations.link(name, linked).then(
      () => true,
      (error: unknown) => {
        if (systemCode(error) === 'EEXIST') return false;
        throw error;
      },
    );
    if (isReplaced) throw refusal(root, 'lets a hard link replace a file');
  } finally {
    await Promise.all([rm(name, { force: true }), rm(linked, { force: true })]);
  }
}

function refusal(directory: string, reason: string, cause?: unknown): AppError {
  return new AppError(
    'store_nonconforming',
    `The directory ${directory} cannot be a store: its volume ${reason}, so two writers could both create one object. Set DATA_DIR to a directory on a volume with hard links (APFS, NTFS, ext4, xfs, btrfs or zfs; not FAT, exFAT or some network shares), or use an S3 bucket.`,
    { cause },
  );
}
