/**
 * zsync's list of the blocks of a file, in format 0.6.2: header lines, an empty line, and the checksums of each block.
 *
 * The rules of the header and the sizes of the checksums come from zsync's own `zsyncmake.c` and `zsync.c`.
 */

/** A header line: `Name: value`. */
type Field = readonly [name: string, value: string];

/** A zsync file whose header is well-formed. */
export interface ZsyncFile {
  /** In the order of the file. */
  readonly fields: readonly Field[];
  /** Bytes of the described file. */
  readonly length: number;
  /** Hex, of the described file. */
  readonly sha1: string;
  /** The position of the first checksum, in bytes. */
  readonly checksumsAt: number;
}

/** The division of a file into blocks, and the length of their checksums. Everything is in bytes. */
export interface ZsyncBlocks {
  readonly blockSize: number;
  /** The number of blocks in a row that a client compares before it takes them as equal: 1 or 2. */
  readonly matches: number;
  /** The number of stored bytes of the rolling sum. These are its last bytes. */
  readonly sumBytes: number;
  /** The number of stored bytes of the MD4 checksum. These are its first bytes. */
  readonly checksumBytes: number;
}

/**
 * The largest zsync file, in bytes; also the limit of a file that the service reads as a whole. A zsync file of this
 * size describes a file of about 8 GB.
 */
export const ZSYNC_BYTES_MAX = 16 * 1024 * 1024;

/** The client reads lines into a buffer of this size. */
const LINE_BYTES_MAX = 1022;
const HEADER_BYTES_MAX = 16 * 1024;
/** zsync describes the unpacked contents of a `.gz` with these lines. An AppImage is no such file. */
const OF_PACKED_FILES = ['Z-URL', 'Z-Filename', 'Z-Map2', 'Recompress'];

/** The lines that a header may have only once. When a header has two such lines, the client takes the last. */
const ONCE = ['Length', 'Blocksize', 'Hash-Lengths', 'SHA-1'];

const NEWLINE = 10;

/**
 * Parses the header, and compares the size of the file with the number of its blocks.
 *
 * @returns the reason, as a text, when the bytes are no zsync file of an uncompressed file
 */
export function parseZsync(bytes: Uint8Array): ZsyncFile | string {
  const end = emptyLineOf(bytes);
  if (end === undefined) return 'it has no header that ends with an empty line';
  const fields: Field[] = [];
  for (const line of textOf(bytes.subarray(0, end))?.split('\n') ?? []) {
    const at = line.indexOf(': ');
    if (at <= 0) return `its header line ${JSON.stringify(line.slice(0, 40))} is not "Name: value"`;
    fields.push([line.slice(0, at), line.slice(at + 2).trimEnd()]);
  }
  if (fields.some(([name]) => OF_PACKED_FILES.includes(name))) {
    return 'it describes the contents of a packed file';
  }
  const checksumsAt = end + 2;
  return describe(fields, checksumsAt, bytes.length - checksumsAt);
}

/** The position of the empty line that ends the header. */
function emptyLineOf(bytes: Uint8Array): number | undefined {
  const until = Math.min(bytes.length - 1, HEADER_BYTES_MAX);
  for (let at = 0; at < until; at++) {
    if (bytes[at] === NEWLINE && bytes[at + 1] === NEWLINE) return at;
  }
  return undefined;
}

/** Undefined for bytes that are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function describe(
  fields: readonly Field[],
  checksumsAt: number,
  checksumsSize: number,
): ZsyncFile | string {
  const fieldOf = (wanted: string) => fields.find(([name]) => name === wanted)?.[1] ?? '';
  const length = numberIn(fieldOf('Length'));
  const blockSize = numberIn(fieldOf('Blocksize'));
  const sha1 = fieldOf('SHA-1').toLowerCase();
  const twice = ONCE.find((wanted) => fields.filter(([name]) => name === wanted).length > 1);
  if (twice !== undefined) return `it has the line "${twice}" twice`;
  if (fieldOf('zsync') === '' || length === undefined || length === 0) {
    return 'it has no line "zsync", or no line "Length"';
  }
  if (blockSize === undefined || blockSize === 0 || !Number.isInteger(Math.log2(blockSize))) {
    return 'its Blocksize is not a power of two';
  }
  if (!/^[0-9a-f]{40}$/.test(sha1)) return 'its SHA-1 is not 40 hexadecimal digits';
  const sizes = /^([12]),([1-4]),([3-9]|1[0-6])$/.exec(fieldOf('Hash-Lengths'));
  if (sizes === null) return 'its Hash-Lengths are not three numbers that zsync accepts';
  const [, , sumBytes, checksumBytes] = sizes.map(Number);
  const each = (sumBytes ?? 0) + (checksumBytes ?? 0);
  if (checksumsSize !== Math.ceil(length / blockSize) * each) {
    return 'the number of its checksums is not that of the blocks';
  }
  return { fields, length, sha1, checksumsAt };
}

/** Undefined for anything but a decimal number. */
function numberIn(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The text of a header, with its empty line. The values must not contain line breaks. */
export function zsyncHeader(fields: readonly Field[]): string {
  return `${fields.map(([name, value]) => `${name}: ${value}\n`).join('')}\n`;
}

/** True when the client's buffer takes a line with this value. @param value in ASCII */
export function fitsInLine(name: string, value: string): boolean {
  return name.length + 2 + value.length <= LINE_BYTES_MAX;
}

/** The blocks that `zsyncmake` chooses. @param length bytes of the file, above 0 */
export function zsyncBlocks(length: number): ZsyncBlocks {
  const blockSize = length < 100_000_000 ? 2048 : 4096;
  const matches = length > blockSize ? 2 : 1;
  const blocks = 1 + Math.floor(length / blockSize);
  // This calculates in the same order as zsyncmake, because another order rounds differently.
  const { log } = Math;
  const sum = Math.ceil(((log(length) + log(blockSize)) / log(2) - 8.6) / matches / 8);
  const checksum = Math.ceil((20 + (log(length) + log(blocks)) / log(2)) / matches / 8);
  const checksumMin = Math.floor((7.9 + (20 + log(blocks) / log(2))) / 8);
  return {
    blockSize,
    matches,
    sumBytes: Math.min(4, Math.max(2, sum)),
    checksumBytes: Math.max(checksum, checksumMin),
  };
}
