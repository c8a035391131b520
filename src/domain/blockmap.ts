import { isRecord } from '../core/json-record.ts';

/**
 * Block maps of electron-builder: the blocks of a file and a checksum of each, so that an updater downloads only the
 * changed blocks. The content decides where a block ends, so an insertion changes only the blocks around it.
 *
 * The rules are the rules of app-builder-lib's `targets/blockmap/blockmap.ts`, which cuts the blocks of
 * github.com/aclements/go-rabin.
 */

export interface Blockmap {
  /** The bytes of each block. */
  readonly sizes: readonly number[];
  /** The BLAKE2b digest of each block, 18 bytes in base64. */
  readonly checksums: readonly string[];
}

/** electron-updater downloads the whole file when the maps of two releases have different versions. */
const VERSION = '2';
/** The length of a checksum, in bits. */
export const BLOCK_CHECKSUM_BITS = 144;
/** The largest block, in bytes. */
export const BLOCK_BYTES_MAX = 32 * 1024;
/** The smallest block, in bytes. Only the last block of a file may be smaller. */
const BLOCK_BYTES_MIN = 8 * 1024;
/** A block ends where these bits of the hash are set: on average 16 KiB after its smallest end. */
const END_MASK = 0x3fff;
/** The bytes that the rolling hash covers. */
const WINDOW_BYTES = 64;

/** The irreducible polynomial of the rolling hash. */
const POLYNOMIAL = 0xbfe6b8a5bf378d83n;
const DEGREE = 63n;

/** The high and the low 32 bits of 256 hashes. */
interface HashTable {
  readonly high: Int32Array;
  readonly low: Int32Array;
}

/** The terms that the byte which leaves the hash at the top adds again below. */
const PUSHED = createTable((byte) => modulo(byte << DEGREE));
/** The share of the oldest byte of the window in the hash. */
const POPPED = createTable((byte) => modulo(byte << BigInt(8 * (WINDOW_BYTES - 1))));

function createTable(remainderOf: (byte: bigint) => bigint): HashTable {
  const values = Array.from({ length: 256 }, (_, byte) => remainderOf(BigInt(byte)));
  return {
    high: Int32Array.from(values, (value) => Number(value >> 32n)),
    low: Int32Array.from(values, (value) => Number(value & 0xffffffffn)),
  };
}

/** The remainder of a division of polynomials over GF(2). */
function modulo(value: bigint): bigint {
  let rest = value;
  for (let shift = BigInt(rest.toString(2).length) - 1n - DEGREE; shift >= 0n; shift--) {
    if ((rest >> (shift + DEGREE)) & 1n) rest ^= POLYNOMIAL << shift;
  }
  return rest;
}

/**
 * The end of the block that begins at `start`. The caller has to give {@link BLOCK_BYTES_MAX} bytes from there, or all
 * the bytes up to the end of the file.
 *
 * The loops use local variables and no objects, because they see every byte of a release.
 */
export function endOfBlock(bytes: Uint8Array, start: number): number {
  const last = Math.min(start + BLOCK_BYTES_MAX, bytes.length);
  const smallest = start + BLOCK_BYTES_MIN;
  if (smallest > last) return last;
  const { high: pushedHigh, low: pushedLow } = PUSHED;
  const { high: poppedHigh, low: poppedLow } = POPPED;
  let high = 0;
  let low = 0;
  let at = smallest - WINDOW_BYTES;
  for (; at < smallest; at++) {
    const top = (high >>> 23) & 0xff;
    high = (((high << 8) | (low >>> 24)) & 0x7fffffff) ^ (pushedHigh[top] as number);
    low = ((low << 8) | (bytes[at] as number)) ^ (pushedLow[top] as number);
  }
  while ((low & END_MASK) !== END_MASK && at < last) {
    const oldest = bytes[at - WINDOW_BYTES] as number;
    high ^= poppedHigh[oldest] as number;
    low ^= poppedLow[oldest] as number;
    const top = (high >>> 23) & 0xff;
    high = (((high << 8) | (low >>> 24)) & 0x7fffffff) ^ (pushedHigh[top] as number);
    low = ((low << 8) | (bytes[at] as number)) ^ (pushedLow[top] as number);
    at++;
  }
  return at;
}

/**
 * Parses a block map of one file, as electron-builder writes it; undefined for any other JSON. This function stops at
 * the first wrong value. A schema would collect millions of errors, and the process would run out of memory.
 */
export function parseBlockmap(json: unknown): Blockmap | undefined {
  const files = isRecord(json) && json.version === VERSION ? json.files : undefined;
  if (!Array.isArray(files) || files.length !== 1 || !isRecord(files[0])) return undefined;
  const { offset, sizes, checksums } = files[0];
  // electron-updater adds the sizes to the offset, whatever it is.
  if (offset !== 0) return undefined;
  if (!Array.isArray(sizes) || !Array.isArray(checksums)) return undefined;
  if (sizes.length !== checksums.length) return undefined;
  const isSound =
    sizes.every((size) => Number.isSafeInteger(size) && size > 0) &&
    checksums.every((checksum) => typeof checksum === 'string');
  return isSound ? { sizes, checksums } : undefined;
}

/** The number of bytes that a block map covers in its file. */
export function coverageOf({ sizes }: Blockmap): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The bytes that an updater downloads for a file when it has a file with another map. */
export function missingBytes(wanted: Blockmap, present: Blockmap): number {
  const known = new Set(present.checksums.map((each, index) => `${present.sizes[index]} ${each}`));
  return wanted.sizes.reduce(
    (sum, size, index) => (known.has(`${size} ${wanted.checksums[index]}`) ? sum : sum + size),
    0,
  );
}

/** A block map as JSON. In a file it is packed: with gzip beside the file it maps, as raw deflate at its end. */
export function renderBlockmap({ sizes, checksums }: Blockmap): string {
  return JSON.stringify({
    version: VERSION,
    files: [{ name: 'file', offset: 0, checksums, sizes }],
  });
}
