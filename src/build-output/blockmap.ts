import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';

/** electron-builder's `.blockmap`: the blocks of a file, so that an updater downloads only those that changed. */

const PACKED_BYTES_MAX = 32 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

const mapSchema = z.object({
  files: z.array(z.object({ sizes: z.array(z.int()) })),
});

/**
 * How many bytes of its file a block map covers; undefined when the file is not a block map.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readBlockmapCoverage(path: string): Promise<number | undefined> {
  if ((await stat(path)).size > PACKED_BYTES_MAX) return undefined;
  const packed = await readFile(path);
  try {
    const text = await promisify(gunzip)(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
    const sizes = mapSchema
      .parse(JSON.parse(text.toString('utf8')))
      .files.flatMap((file) => file.sizes);
    return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // Not gzip, larger than the limit, not JSON, or another kind of JSON.
    return undefined;
  }
}
