import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** electron-builder's `.blockmap`: the blocks of a file, so that an updater downloads only those that changed. */

const PACKED_BYTES_MAX = 32 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

/** How many bytes of its file a block map covers; undefined when the file is not a block map. */
export async function readBlockmapCoverage(path: string): Promise<number | undefined> {
  if ((await stat(path)).size > PACKED_BYTES_MAX) return undefined;
  try {
    const options = { maxOutputLength: UNPACKED_BYTES_MAX };
    const text = await promisify(gunzip)(await readFile(path), options);
    const map: unknown = JSON.parse(text.toString('utf8'));
    const files = (map as { files?: unknown }).files;
    const sizes = Array.isArray(files) ? files.flatMap((file) => file?.sizes ?? []) : [];
    if (sizes.length === 0 || !sizes.every(Number.isSafeInteger)) return undefined;
    return sizes.reduce((sum: number, size: number) => sum + size, 0);
  } catch {
    return undefined;
  }
}
