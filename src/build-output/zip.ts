import { type FileHandle, open } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

/** Reads a few entries of a zip (a `.nupkg` is one) without unpacking the rest. */

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  /** Bytes. */
  readonly packedSize: number;
  /** Bytes from the beginning of the file. */
  readonly offset: number;
}

const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const DIRECTORY_BYTES_MAX = 32 * 1024 * 1024;
const LOCAL_HEADER_BYTES = 30;

/**
 * Calls `read` with the entries and a function for the first bytes of one; undefined when the file
 * is not a zip that can be read so (zip64 and corrupt ones are not).
 */
export async function readZip<T>(
  path: string,
  read: (
    entries: readonly ZipEntry[],
    startOf: (entry: ZipEntry, bytesMax: number) => Promise<Buffer>,
  ) => Promise<T>,
): Promise<T | undefined> {
  const file = await open(path, 'r');
  try {
    const entries = await readDirectory(file);
    return await read(entries, (entry, bytesMax) => readStartOf(file, entry, bytesMax));
  } catch (error) {
    if (error instanceof RangeError || error instanceof NotZip || isZlibError(error)) {
      return undefined;
    }
    throw error;
  } finally {
    await file.close();
  }
}

class NotZip extends Error {}

async function readDirectory(file: FileHandle): Promise<ZipEntry[]> {
  const { size } = await file.stat();
  const tailBytes = Math.min(size, END_BYTES + COMMENT_BYTES_MAX);
  const tail = await readAt(file, size - tailBytes, tailBytes);
  const end = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new NotZip();
  const bytes = tail.readUInt32LE(end + 12);
  if (bytes > DIRECTORY_BYTES_MAX) throw new NotZip();
  const directory = await readAt(file, tail.readUInt32LE(end + 16), bytes);
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw new NotZip();
    const nameBytes = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedSize: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

async function readStartOf(file: FileHandle, entry: ZipEntry, bytesMax: number): Promise<Buffer> {
  const header = await readAt(file, entry.offset, LOCAL_HEADER_BYTES);
  const start =
    entry.offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  // Deflate makes nothing longer by more than a few bytes, so this holds `bytesMax` unpacked ones.
  const packed = await readAt(file, start, Math.min(entry.packedSize, bytesMax + 1024));
  if (entry.method === 0) return packed.subarray(0, bytesMax);
  const options = { finishFlush: 2, maxOutputLength: bytesMax * 2048 };
  return inflateRawSync(packed, options).subarray(0, bytesMax);
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(Z_|ERR_BUFFER)/.test(String(error.code));
}
