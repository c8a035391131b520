import type { FileHandle } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import { fitsInLine, ZSYNC_BYTES_MAX, zsyncBlocks, zsyncHeader } from '../../domain/zsync.ts';

/**
 * Makes the zsync file of an AppImage when the build tool wrote none. The result is equal to the file that `zsyncmake`
 * 0.6.2 makes.
 */

interface DescribedFile {
  readonly path: string;
  /** The name under which the file is published. */
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha1: string;
}

/** A multiple of every block size. */
const CHUNK_BYTES = 1024 * 1024;
/** More bytes than a header needs. */
const HEADER_BYTES = 4 * 1024;

/**
 * Reports whether a file can have a zsync file: an empty file has no blocks, and a huge file has too many to be served.
 */
export function hasZsync(filename: string, size: number): boolean {
  if (size === 0 || !fitsInLine('URL', encodeURIComponent(filename))) return false;
  return checksumsSize(size) + HEADER_BYTES <= ZSYNC_BYTES_MAX;
}

function checksumsSize(length: number): number {
  const { blockSize, sumBytes, checksumBytes } = zsyncBlocks(length);
  return Math.ceil(length / blockSize) * (sumBytes + checksumBytes);
}

/**
 * Makes the bytes of the zsync file. It reads the AppImage once, through one buffer, and keeps only the checksums in
 * memory.
 *
 * The header has no `MTime`, so that the same file always gets the same zsync file. `URL` is relative, and names the
 * file beside the zsync file.
 *
 * @throws AppError `invalid_artifact` when the file changed since it was hashed, or cannot be read
 */
export async function makeZsync(file: DescribedFile): Promise<Uint8Array> {
  const { filename, size, sha1 } = file;
  const { blockSize, matches, sumBytes, checksumBytes } = zsyncBlocks(size);
  const header = zsyncHeader([
    ['zsync', '0.6.2'],
    ['Filename', filename],
    ['Blocksize', String(blockSize)],
    ['Length', String(size)],
    ['Hash-Lengths', `${matches},${sumBytes},${checksumBytes}`],
    ['URL', encodeURIComponent(filename)],
    ['SHA-1', sha1],
  ]);
  const checksums = new Uint8Array(checksumsSize(size));
  const md4 = await createMd4();
  let at = 0;
  const read = await readBlocks(file, blockSize, (block) => {
    checksums.set(rollingSum(block).subarray(4 - sumBytes), at);
    checksums.set(md4(block).subarray(0, checksumBytes), at + sumBytes);
    at += sumBytes + checksumBytes;
  });
  if (read !== size) {
    throw new AppError(
      'invalid_artifact',
      `${file.path} changed while it was read (${size} bytes, then ${read}). Publish once the build has finished.`,
    );
  }
  return Buffer.concat([Buffer.from(header), checksums]);
}

/**
 * Loads the library only when a zsync file is made: the library contains many algorithms, and most commands make no
 * zsync file.
 */
async function createMd4(): Promise<(block: Uint8Array) => Uint8Array> {
  const { createMD4 } = await import('hash-wasm');
  const hash = await createMD4();
  return (block) => hash.init().update(block).digest('binary');
}

const SUM = new Uint8Array(4);

/** Both halves of the rolling sum, each modulo 65536 and in network order. The next call overwrites the result. */
function rollingSum(block: Uint8Array): Uint8Array {
  let a = 0;
  let b = 0;
  // The loop uses an index, because an iterator takes several times as long.
  for (let at = 0; at < block.length; at++) {
    a += block[at] ?? 0;
    b = (b + a) | 0;
  }
  SUM[0] = a >> 8;
  SUM[1] = a;
  SUM[2] = b >> 8;
  SUM[3] = b;
  return SUM;
}

/**
 * @param use gets each block, the last one filled up with zeros; `use` must not keep the block
 * @returns the number of bytes that were read; at most one chunk more than the file's stated size
 */
async function readBlocks(
  { path, size }: DescribedFile,
  blockSize: number,
  use: (block: Uint8Array) => void,
): Promise<number> {
  let handle: FileHandle | undefined;
  try {
    handle = await openPlainFile(path);
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    let total = 0;
    while (total <= size) {
      const bytes = await fill(handle, buffer, total);
      total += bytes;
      if (bytes === 0 || total > size) break;
      const end = Math.ceil(bytes / blockSize) * blockSize;
      buffer.fill(0, bytes, end);
      for (let at = 0; at < end; at += blockSize) use(buffer.subarray(at, at + blockSize));
    }
    return total;
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = `${path} cannot be read (${code}). Give this user access, or`;
    const importDetail = `${why} copy it again from the other server.`;
    throw new AppError('invalid_artifact', `${why} build again.`, { cause: error, importDetail });
  } finally {
    await handle?.close();
  }
}

/**
 * Reads until the buffer is full: one read may return fewer bytes than the file has, and a block must not be divided.
 */
async function fill(handle: FileHandle, buffer: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(
      buffer,
      filled,
      buffer.length - filled,
      position + filled,
    );
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
