import { open, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, inflateRaw } from 'node:zlib';
import { z } from 'zod';

/**
 * electron-builder's block maps: the blocks of a file, so that an updater downloads only those that changed. A map is
 * in a `.blockmap` file beside its file, packed with gzip; or at the end of an AppImage or of a web installer's
 * package, packed as raw deflate and followed by its size in four bytes.
 */

const PACKED_BYTES_MAX = 32 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;
/** The size of an embedded map, big endian. */
const TRAILER_BYTES = 4;

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
  return coverageOf(await readFile(path), promisify(gunzip));
}

/**
 * The size in bytes of the block map at the end of a file, without its trailer; undefined when the file has none, or
 * one of other bytes.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readEmbeddedBlockmapSize(path: string): Promise<number | undefined> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size < TRAILER_BYTES) return undefined;
    const trailer = Buffer.alloc(TRAILER_BYTES);
    await handle.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
    const packedSize = trailer.readUInt32BE(0);
    const covered = size - packedSize - TRAILER_BYTES;
    if (packedSize === 0 || packedSize > PACKED_BYTES_MAX || covered <= 0) return undefined;
    const packed = Buffer.alloc(packedSize);
    await handle.read(packed, 0, packedSize, covered);
    const coverage = await coverageOf(packed, promisify(inflateRaw));
    return coverage === covered ? packedSize : undefined;
  } finally {
    await handle.close();
  }
}

type Unpack = (packed: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

async function coverageOf(packed: Buffer, unpack: Unpack): Promise<number | undefined> {
  try {
    const text = await unpack(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
    const sizes = mapSchema
      .parse(JSON.parse(text.toString('utf8')))
      .files.flatMap((file) => file.sizes);
    return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    // Not packed in this way, larger than the limit, not JSON, or another kind of JSON.
    return undefined;
  }
}
