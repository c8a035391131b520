import { promisify } from 'node:util';
import { gunzip, inflateRaw } from 'node:zlib';
import { isRecord } from '../../core/json-record.ts';
import { openPlainFile, readPlainFile } from '../../core/plain-file.ts';

/**
 * electron-builder's block maps list the blocks of a file, so that an updater downloads only the changed blocks. A map
 * is either a `.blockmap` file beside the file, packed with gzip, or the end of an AppImage or of a web installer's
 * package. A map at the end is packed as raw deflate, and four bytes with its size follow.
 */

/**
 * A block has about 30 KB and takes about 30 bytes of the map, so these limits allow files of many gigabytes. The
 * limits protect the memory: a parsed map takes several times the memory of its text, and any program may end with
 * bytes that look like a map.
 */
const PACKED_BYTES_MAX = 8 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024;
/** The size of an embedded map, big endian. */
const TRAILER_BYTES = 4;

/**
 * The number of bytes that a block map covers in its file; undefined when the file at `path` is not a block map.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readBlockmapCoverage(path: string): Promise<number | undefined> {
  const packed = await readPlainFile(path, PACKED_BYTES_MAX);
  return packed && coverageOf(packed, promisify(gunzip));
}

/**
 * The size in bytes of the block map at the end of a file, without its trailer; undefined when the file has no map, or
 * a map that does not fit the file.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readEmbeddedBlockmapSize(path: string): Promise<number | undefined> {
  const handle = await openPlainFile(path);
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
    return sumOfSizes(JSON.parse(text.toString('utf8')));
  } catch {
    // The bytes are not packed in this way, are larger than the limit, or are not JSON.
    return undefined;
  }
}

/**
 * Undefined for JSON that is not a block map. This function stops at the first wrong value. A schema would collect
 * millions of errors, and the process would run out of memory.
 */
function sumOfSizes(map: unknown): number | undefined {
  const files = isRecord(map) ? map.files : undefined;
  if (!Array.isArray(files)) return undefined;
  let sum: number | undefined;
  for (const file of files) {
    const sizes = isRecord(file) ? file.sizes : undefined;
    if (!Array.isArray(sizes)) return undefined;
    for (const size of sizes) {
      if (!Number.isSafeInteger(size) || size < 0) return undefined;
      sum = (sum ?? 0) + size;
    }
  }
  return sum;
}
