import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, crc32, createInflateRaw, deflateRaw } from 'node:zlib';
import { openPlainFile } from '../../../core/plain-file.ts';
import { ASAR_HEAD_BYTES, listEndOf, partEnds } from './asar-parts.ts';
import { readAt, readZipList, type ZipList, type ZipRecord } from './read-zip-list.ts';

/**
 * Packs the `app.asar` in a zip for macOS again, in parts whose packed bytes do not depend on each other. All other bytes
 * of the archive stay as they are: names, permissions, links, extra fields, comments, and the packed data of other files.
 */

export interface Repacked {
  /** Bytes. */
  readonly size: number;
  /** Where blocks of a block map have to end, ascending, in bytes. */
  readonly cuts: readonly number[];
  /** SHA-256 of the old archive, as it was read. */
  readonly sha256: string;
}

/** The archive is sound, but this module does not know how to repack it. */
class NotUnderstood extends Error {}

const ASAR = /^[^/]+\.app\/Contents\/Resources\/[^/]+\.asar$/;
const CHUNK_BYTES = 1024 * 1024;
/** Limits the memory. A part of an archive that is larger is packed in pieces of this size. */
const PIECE_BYTES_MAX = 4 * 1024 * 1024;
/** Blocks begin and end with the data of files that are at least this large. */
const CUT_BYTES_MIN = 8 * 1024;
const DESCRIPTOR_BYTES_MAX = 16;
const SIZE_MAX = 0xffffffff;
/** The end of a deflate stream: a last block without data. */
const LAST_BLOCK = Buffer.from([3, 0]);

/**
 * @param out the path of the new archive
 * @returns the problem, as a part of a sentence, for an archive that cannot be repacked
 * @throws the system's error when a file cannot be read or written; Error when the archive is corrupt
 */
export async function repackZip(path: string, out: string): Promise<Repacked | string> {
  const file = await openPlainFile(path);
  try {
    const { size } = await file.stat();
    const list = await readZipList(file, size);
    if (typeof list === 'string') return list;
    if (!list.entries.some(isAsar)) return 'it has no packed app.asar';
    const target = await open(out, 'w');
    try {
      return await writeRepacked(file, size, list, target).catch((error: unknown) => {
        if (error instanceof NotUnderstood) return error.message;
        throw error;
      });
    } finally {
      await target.close();
    }
  } finally {
    await file.close();
  }
}

async function writeRepacked(
  file: FileHandle,
  size: number,
  { entries, tail, tailAt, endAt }: ZipList,
  target: FileHandle,
): Promise<Repacked> {
  const sha256 = createHash('sha256');
  const cuts: number[] = [];
  let written = 0;
  const write = async (bytes: Buffer): Promise<void> => {
    await writeAll(target, bytes, written);
    written += bytes.length;
  };
  const copy = async (start: number, end: number): Promise<void> => {
    for await (const chunk of chunksOf(file, start, end)) {
      sha256.update(chunk);
      await write(chunk);
    }
  };
  await copy(0, entries[0]?.at ?? tailAt);
  for (const entry of entries) {
    const { at, dataAt, packedSize, recordAt } = entry;
    const headerAt = written;
    tail.writeUInt32LE(checked(headerAt), recordAt + 42);
    await copy(at, dataAt);
    const start = written;
    const isCut = packedSize >= CUT_BYTES_MIN;
    if (!isAsar(entry)) {
      if (isCut) cuts.push(start);
      await copy(dataAt, dataAt + packedSize);
      if (isCut) cuts.push(written);
      await copy(dataAt + packedSize, entry.end);
      continue;
    }
    for await (const part of packInParts(file, entry, sha256)) {
      cuts.push(written);
      await write(part);
    }
    cuts.push(written);
    const repacked = checked(written - start);
    tail.writeUInt32LE(repacked, recordAt + 20);
    const descriptorEnd = Math.min(dataAt + packedSize + DESCRIPTOR_BYTES_MAX, entry.end);
    const rest = await readAt(file, dataAt + packedSize, descriptorEnd);
    sha256.update(rest);
    if (!entry.hasDescriptor) await writeAll(target, wordOf(repacked), headerAt + 18);
    await write(entry.hasDescriptor ? withPackedSize(rest, repacked) : rest);
    await copy(descriptorEnd, entry.end);
  }
  sha256.update(await readAt(file, tailAt, size));
  tail.writeUInt32LE(checked(written), endAt + 16);
  await write(tail);
  return { size: written, cuts, sha256: sha256.digest('hex') };
}

async function writeAll(target: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await target.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

function wordOf(value: number): Buffer {
  const word = Buffer.alloc(4);
  word.writeUInt32LE(value);
  return word;
}

function isAsar({ name, isDeflated }: ZipRecord): boolean {
  return isDeflated && ASAR.test(name);
}

/** @throws Error for a number that needs zip64 */
function checked(value: number): number {
  if (value > SIZE_MAX) throw new NotUnderstood('the repacked archive would need zip64');
  return value;
}

async function* chunksOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; at += CHUNK_BYTES) {
    yield await readAt(file, at, Math.min(end, at + CHUNK_BYTES));
  }
}

/**
 * Unpacks an entry, and packs it in parts. Each part ends with an empty block, so it ends at a whole byte, and no part
 * refers to another one.
 *
 * @throws Error when the entry is corrupt
 */
async function* packInParts(
  file: FileHandle,
  { dataAt, packedSize, size, crc }: ZipRecord,
  sha256: { update(bytes: Buffer): unknown },
): AsyncGenerator<Buffer> {
  const packed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(file, dataAt, dataAt + packedSize)) {
      sha256.update(chunk);
      yield chunk;
    }
  };
  const unpacked = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feeding = pipeline(Readable.from(packed()), unpacked);
  feeding.catch(() => {});
  let sum = 0;
  let total = 0;
  let held = Buffer.alloc(0);
  let position = 0;
  let listEnd: number | undefined;
  let ends: readonly number[] | undefined;
  let next = 0;
  const take = (bytes: number): Promise<Buffer> => {
    const part = held.subarray(0, bytes);
    held = held.subarray(bytes);
    position += bytes;
    return pack(part);
  };
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > size) throw new Error('its app.asar is larger than the archive states');
    sum = crc32(chunk, sum);
    held = Buffer.concat([held, chunk]);
    if (ends === undefined) {
      if (held.length < ASAR_HEAD_BYTES) continue;
      listEnd ??= listEndOf(held);
      if (listEnd === undefined) throw new NotUnderstood('its app.asar is no asar archive');
      if (held.length < listEnd) continue;
      ends = partEnds(held.subarray(0, listEnd));
      if (ends === undefined)
        throw new NotUnderstood('the list of files in its app.asar cannot be read');
    }
    for (;;) {
      while ((ends[next] ?? Number.POSITIVE_INFINITY) <= position) next++;
      const bytes = Math.min((ends[next] ?? Number.POSITIVE_INFINITY) - position, PIECE_BYTES_MAX);
      if (held.length < bytes) break;
      yield await take(bytes);
    }
  }
  await feeding;
  const isWhole = unpacked.bytesWritten === packedSize;
  if (total !== size || sum !== crc || !isWhole) throw new Error('its app.asar is corrupt');
  if (held.length > 0) yield await take(held.length);
  yield LAST_BLOCK;
}

function pack(bytes: Buffer): Promise<Buffer> {
  const options = { level: 9, finishFlush: constants.Z_SYNC_FLUSH };
  return promisify(deflateRaw)(bytes, options) as Promise<Buffer>;
}

/** The descriptor may begin with a signature of its own: 16 bytes, otherwise 12. */
function withPackedSize(rest: Buffer, packedSize: number): Buffer {
  const hasSignature = rest.length >= 16 && rest.toString('latin1', 0, 4) === 'PK\x07\x08';
  if (rest.length < 12) throw new Error('the descriptor of its app.asar is cut off');
  const changed = Buffer.from(rest);
  changed.writeUInt32LE(packedSize, hasSignature ? 8 : 4);
  return changed;
}
