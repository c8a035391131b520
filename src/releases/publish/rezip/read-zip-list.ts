import type { FileHandle } from 'node:fs/promises';

/**
 * Reads the list of entries at the end of a zip archive (APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16), with the places
 * of all records. yauzl gives the contents of entries, but not the places of records, which repacking has to change.
 */

export interface ZipList {
  /** By their places in the archive. */
  readonly entries: readonly ZipRecord[];
  /** The bytes from the list to the end of the archive. */
  readonly tail: Buffer;
  /** The place of the list, in bytes. */
  readonly tailAt: number;
  /** The place of the end record in `tail`. */
  readonly endAt: number;
}

export interface ZipRecord {
  readonly name: string;
  readonly isDeflated: boolean;
  /** True when a descriptor with the sizes follows the data. */
  readonly hasDescriptor: boolean;
  readonly crc: number;
  /** The bytes of the packed data. */
  readonly packedSize: number;
  readonly size: number;
  /** The place of its local header. */
  readonly at: number;
  /** The place of its packed data. */
  readonly dataAt: number;
  /** The place behind it: the next local header, or the list. */
  readonly end: number;
  /** The place of its record in the `tail`. */
  readonly recordAt: number;
}

const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LIST_BYTES_MAX = 64 * 1024 * 1024;
const RECORD_BYTES = 46;
const LOCAL_BYTES = 30;
const FLAG_ENCRYPTED = 0x1;
const FLAG_DESCRIPTOR = 0x8;
const DEFLATED = 8;

/**
 * @returns the problem, as a part of a sentence, for an archive that repacking does not understand
 * @throws the system's error when the file cannot be read
 */
export async function readZipList(file: FileHandle, size: number): Promise<ZipList | string> {
  const end = await readAt(file, Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX), size);
  const endOffset = end.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (endOffset < 0 || endOffset + END_BYTES > end.length) return 'it is no complete zip archive';
  const count = end.readUInt16LE(endOffset + 10);
  const listBytes = end.readUInt32LE(endOffset + 12);
  const tailAt = end.readUInt32LE(endOffset + 16);
  if (count === 0xffff || tailAt === 0xffffffff) return 'it is a zip64 archive';
  const endAt = size - end.length + endOffset - tailAt;
  if (listBytes > LIST_BYTES_MAX || endAt !== listBytes) return 'its list of files is not sound';
  const tail = await readAt(file, tailAt, size);
  const records: Omit<ZipRecord, 'dataAt' | 'end'>[] = [];
  for (let at = 0; records.length < count; ) {
    if (at + RECORD_BYTES > listBytes || tail.toString('latin1', at, at + 4) !== 'PK\x01\x02') {
      return 'its list of files is not sound';
    }
    const flags = tail.readUInt16LE(at + 8);
    if (flags & FLAG_ENCRYPTED) return 'it is encrypted';
    const nameBytes = tail.readUInt16LE(at + 28);
    records.push({
      name: tail.toString('utf8', at + RECORD_BYTES, at + RECORD_BYTES + nameBytes),
      isDeflated: tail.readUInt16LE(at + 10) === DEFLATED,
      hasDescriptor: (flags & FLAG_DESCRIPTOR) !== 0,
      crc: tail.readUInt32LE(at + 16),
      packedSize: tail.readUInt32LE(at + 20),
      size: tail.readUInt32LE(at + 24),
      at: tail.readUInt32LE(at + 42),
      recordAt: at,
    });
    at += RECORD_BYTES + nameBytes + tail.readUInt16LE(at + 30) + tail.readUInt16LE(at + 32);
  }
  records.sort((a, b) => a.at - b.at);
  const entries: ZipRecord[] = [];
  for (const [index, record] of records.entries()) {
    const behind = records[index + 1]?.at ?? tailAt;
    const header = await readAt(file, record.at, record.at + LOCAL_BYTES);
    if (header.toString('latin1', 0, 4) !== 'PK\x03\x04') return 'an entry has no header';
    if (!isUsual(header, record))
      return `the header of ${record.name} contradicts the list of files`;
    const dataAt = record.at + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    if (dataAt + record.packedSize > behind) return 'its entries overlap';
    entries.push({ ...record, dataAt, end: behind });
  }
  return { entries, tail, tailAt, endAt };
}

/** True when the local header states the same sizes as the list, or leaves them to the descriptor. */
function isUsual(header: Buffer, record: Pick<ZipRecord, 'hasDescriptor' | 'packedSize' | 'size'>) {
  const hasDescriptor = (header.readUInt16LE(6) & FLAG_DESCRIPTOR) !== 0;
  const sizes = [header.readUInt32LE(18), header.readUInt32LE(22)];
  return record.hasDescriptor
    ? hasDescriptor && sizes[0] === 0 && sizes[1] === 0
    : !hasDescriptor && sizes[0] === record.packedSize && sizes[1] === record.size;
}

/** @throws RangeError for a range beyond the end of the file */
export async function readAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
  if (bytesRead < buffer.length) throw new RangeError('The file is shorter than it was.');
  return buffer;
}
