import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { systemCode } from './filesystem-errors.ts';
import type { Volume } from './filesystem-volume.ts';
import { TEMPORARY_PREFIX } from './key.ts';

/** What FAT, exFAT and several network file systems answer to `link`; Windows says EISDIR there. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR', 'EINVAL'];

/**
 * Tries in the directory itself whether a name can be claimed by exactly one writer.
 *
 * `store_nonconforming` without hard links: two writers could both win. Other failures are the
 * system's own errors.
 */
export async function checkDirectory({ root, operations }: Volume): Promise<void> {
  const name = join(root, `${TEMPORARY_PREFIX}${randomUUID()}`);
  const linked = `${name}-linked`;
  try {
    await writeFile(name, '', { flag: 'wx' });
    const first = await operations.link(name, linked).then(() => undefined, systemCodeOrThrow);
    if (first !== undefined) throw refusal(root, `links are answered with ${first}`);
    const second = await operations.link(name, linked).then(() => 'success', systemCode);
    if (second !== 'EEXIST') throw refusal(root, `a taken name is answered with ${second}`);
  } finally {
    await Promise.all([rm(name, { force: true }), rm(linked, { force: true })]);
  }
}

function systemCodeOrThrow(error: unknown): string {
  const code = systemCode(error);
  if (code !== undefined && NO_LINKS.includes(code)) return code;
  throw error;
}

function refusal(directory: string, seen: string): AppError {
  return new AppError(
    'store_nonconforming',
    `The directory ${directory} cannot be a store: its volume has no hard links (${seen}), so two writers could both create one object. Set DATA_DIR to a directory on a volume with hard links (APFS, NTFS, ext4, xfs, btrfs or zfs; not FAT, exFAT or most network shares), or use an S3 bucket.`,
  );
}
