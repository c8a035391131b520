import { promisify } from 'node:util';
import { gunzip, inflateRaw } from 'node:zlib';
import { openPlainFile, readPlainFile } from '../../core/plain-file.ts';
import { type Blockmap, coverageOf, parseBlockmap } from '../../domain/blockmap.ts';

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
 * Reads a block map beside its file; undefined when the file at `path` is not a block map.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readBlockmap(path: string): Promise<Blockmap | undefined> {
  const packed = await readPlainFile(path, PACKED_BYTES_MAX);
  return packed && unpack(packed, promisify(gunzip));
}

interface EmbeddedBlockmap {
  readonly blockmap: Blockmap;
  /** The bytes of the packed map, without its trailer. */
  readonly packedSize: number;
}

/**
 * Reads the block map at the end of a file; undefined when the file has no map, or a map that does not fit its size.
 *
 * @throws the system's error when the file cannot be read
 */
export async function readEmbeddedBlockmap(path: string): Promise<EmbeddedBlockmap | undefined> {
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
    const blockmap = await unpack(packed, promisify(inflateRaw));
    if (blockmap === undefined || coverageOf(blockmap) !== covered) return undefined;
    return { blockmap, packedSize };
  } finally {
    await handle.close();
  }
}

type Unpack = (packed: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

async function unpack(packed: Buffer, unpackWith: Unpack): Promise<Blockmap | undefined> {
  try {
    const text = await unpackWith(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
    return parseBlockmap(JSON.parse(text.toString('utf8')));
  } catch {
    // The bytes are not packed in this way, are larger than the limit, or are not JSON.
    return undefined;
  }
}
