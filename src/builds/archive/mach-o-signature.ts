/**
 * Reads the code signature of a macOS program. The formats are in Apple's headers `mach-o/loader.h`, `mach-o/fat.h` and
 * `Security/CSCommon.h`.
 */

export interface MachOSignature {
  /** Null: no team signed the program, for example an ad-hoc signature or none. */
  readonly team: string | null;
  readonly hardenedRuntime: boolean;
}

/** The load commands of a program are within its first pages. */
const HEADER_BYTES = 64 * 1024;
/** The team is near the beginning of the signature. Then follow the hashes of all pages. */
const SIGNATURE_BYTES_MAX = 64 * 1024;

const MAGIC_64 = 0xfeedfacf;
const MAGIC_FAT = 0xcafebabe;
const HEADER_64_BYTES = 32;
const LC_CODE_SIGNATURE = 0x1d;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
/** The version of the directory from which it states a team. */
const WITH_TEAM = 0x20200;
const FLAG_RUNTIME = 0x10000;

interface SignatureReader {
  /** Gets the bytes of the program in order. Returns true when it needs no more. */
  update(chunk: Buffer): boolean;
  /** Undefined for a file that is no program of 64 bits. */
  finish(): MachOSignature | undefined;
}

/** Keeps only the parts of the program that it needs. In a universal program, it reads the first architecture. */
export function createSignatureReader(): SignatureReader {
  let header = Buffer.alloc(0);
  let signature: Buffer = Buffer.alloc(0);
  let position = 0;
  let range: { readonly start: number; readonly end: number } | undefined;
  return {
    update: (chunk) => {
      const at = position;
      position += chunk.length;
      if (header.length < HEADER_BYTES) {
        header = Buffer.concat([header, chunk]).subarray(0, HEADER_BYTES);
        if (header.length < HEADER_BYTES) return false;
        range = findSignature(header);
        if (range !== undefined) signature = partOf(header, 0, range);
      }
      if (range === undefined) return true;
      const rest = { start: Math.max(range.start, HEADER_BYTES), end: range.end };
      signature = Buffer.concat([signature, partOf(chunk, at, rest)]);
      return position >= range.end;
    },
    finish: () => {
      // A program that is smaller than the header is in the header as a whole.
      const found = range ?? findSignature(header);
      if (found === undefined) return undefined;
      const bytes = range === undefined ? partOf(header, 0, found) : signature;
      return found.end === found.start
        ? { team: null, hardenedRuntime: false }
        : readSuperBlob(bytes);
    },
  };
}

function partOf(
  chunk: Buffer,
  position: number,
  { start, end }: { readonly start: number; readonly end: number },
): Buffer {
  return chunk.subarray(Math.max(0, start - position), Math.max(0, end - position));
}

/** The place of the signature in the file; an empty place for a program without a signature. */
function findSignature(
  header: Buffer,
): { readonly start: number; readonly end: number } | undefined {
  if (header.length < HEADER_64_BYTES) return undefined;
  const isFat = header.readUInt32BE(0) === MAGIC_FAT;
  const slice = isFat ? header.readUInt32BE(16) : 0;
  // In a universal program, the first architecture begins after the pages that the caller has read.
  if (slice + HEADER_64_BYTES > header.length) return undefined;
  if (header.readUInt32LE(slice) !== MAGIC_64) return undefined;
  const count = header.readUInt32LE(slice + 16);
  let at = slice + HEADER_64_BYTES;
  for (let index = 0; index < count && at + 16 <= header.length; index++) {
    const bytes = header.readUInt32LE(at + 4);
    if (header.readUInt32LE(at) === LC_CODE_SIGNATURE) {
      const start = slice + header.readUInt32LE(at + 8);
      const size = Math.min(header.readUInt32LE(at + 12), SIGNATURE_BYTES_MAX);
      return { start, end: start + size };
    }
    if (bytes === 0) break;
    at += bytes;
  }
  return { start: 0, end: 0 };
}

/** Undefined for bytes that are no signature. */
function readSuperBlob(bytes: Buffer): MachOSignature | undefined {
  if (bytes.length < 12 || bytes.readUInt32BE(0) !== SUPER_BLOB) return undefined;
  const count = bytes.readUInt32BE(8);
  for (let index = 0; index < count && 20 + index * 8 <= bytes.length; index++) {
    const at = bytes.readUInt32BE(16 + index * 8);
    if (at + 52 > bytes.length || bytes.readUInt32BE(at) !== CODE_DIRECTORY) continue;
    const teamAt = bytes.readUInt32BE(at + 8) >= WITH_TEAM ? bytes.readUInt32BE(at + 48) : 0;
    const end = bytes.indexOf(0, at + teamAt);
    const team = teamAt === 0 || end < 0 ? '' : bytes.toString('latin1', at + teamAt, end);
    const flags = bytes.readUInt32BE(at + 12);
    return {
      team: /^[A-Z0-9]{10}$/.test(team) ? team : null,
      hardenedRuntime: (flags & FLAG_RUNTIME) !== 0,
    };
  }
  return undefined;
}
