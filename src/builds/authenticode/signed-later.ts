import { createHash, type Hash } from 'node:crypto';
import { openPlainFile } from '../../core/plain-file.ts';
import { readSignedProgram, type SignedProgram } from './signed-program.ts';

/**
 * Proves that a program is a build that was signed later: without its signature, it has the size and the hash that the
 * build tool stated.
 */

interface Build {
  /** Bytes. */
  readonly size: number;
  /** SHA-512, in hex. */
  readonly sha512: string;
}

/** Signers fill the program up to a multiple of this number of bytes before they add the certificate table. */
const ALIGNMENT = 8;
const CHUNK_BYTES = 1024 * 1024;

/**
 * The reason why the file at `path` is not `build`, signed later; undefined when it is.
 *
 * A signature of other bytes is refused, because Windows refuses the program too.
 *
 * @throws the system's error when the file cannot be read
 */
export async function whyNotSignedLater(path: string, build: Build): Promise<string | undefined> {
  const program = await readSignedProgram(path);
  if (program === undefined) return 'it has no signature that was added later';
  if (typeof program === 'string') return program;
  const padding = program.tableAt - build.size;
  if (padding < 0 || padding >= ALIGNMENT) return 'without its signature, it has another size';
  const read = await readUnsigned(path, program, build.size);
  if (!read.padding.every((byte) => byte === 0)) {
    return 'between the build and its signature are bytes that no signer writes';
  }
  const isBuild =
    read.sha512.includes(build.sha512) ||
    (await readUnsigned(path, program, build.size, read.checksum)).sha512.includes(build.sha512);
  if (!isBuild) return 'without its signature, it has another hash';
  const isSound = program.signatures.every(
    ({ algorithm, digest }) => read.digests.get(algorithm) === digest,
  );
  return isSound ? undefined : 'its signature is of other bytes';
}

interface Unsigned {
  /** The possible hashes of the program before it was signed. Signing changes the checksum in the header. */
  readonly sha512: readonly string[];
  /** The digests of the signed bytes, by algorithm. */
  readonly digests: ReadonlyMap<string, string>;
  /** The bytes between the build and the certificate table. */
  readonly padding: Buffer;
  /** The right checksum of the unsigned program. */
  readonly checksum: number;
}

/**
 * Reads the program once, through one buffer.
 *
 * @param checksum the checksum in the header before the program was signed; undefined tries 0, which makensis writes, and
 *   the present checksum
 */
async function readUnsigned(
  path: string,
  { checksumAt, directoryAt, tableAt, signatures }: SignedProgram,
  size: number,
  checksum?: number,
): Promise<Unsigned> {
  const file = await openPlainFile(path);
  try {
    const header = Buffer.alloc(directoryAt + 8);
    await file.read(header, 0, header.length, 0);
    const present = header.readUInt32LE(checksumAt);
    const digests = new Map<string, Hash>();
    for (const { algorithm } of signatures) digests.set(algorithm, createHash(algorithm));
    for (const digest of digests.values()) {
      digest.update(header.subarray(0, checksumAt));
      digest.update(header.subarray(checksumAt + 4, directoryAt));
    }
    header.fill(0, directoryAt);
    const hashes = (checksum === undefined ? [0, present] : [checksum]).map((each) => {
      header.writeUInt32LE(each, checksumAt);
      return createHash('sha512').update(header);
    });
    header.writeUInt32LE(0, checksumAt);
    let sum = addWords(0, header);
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let at = header.length; at < size; ) {
      const wanted = Math.min(buffer.length, size - at);
      const { bytesRead } = await file.read(buffer, 0, wanted, at);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      for (const hash of [...hashes, ...digests.values()]) hash.update(chunk);
      sum = addWords(sum, chunk);
      at += bytesRead;
    }
    const padding = Buffer.alloc(tableAt - size);
    await file.read(padding, 0, padding.length, size);
    for (const digest of digests.values()) digest.update(padding);
    return {
      sha512: hashes.map((hash) => hash.digest('hex')),
      digests: new Map([...digests].map(([name, digest]) => [name, digest.digest('hex')])),
      padding,
      checksum: (sum + size) >>> 0,
    };
  } finally {
    await file.close();
  }
}

/** Adds little-endian words with their carries: the checksum of a PE file, before its size is added. */
function addWords(sum: number, bytes: Uint8Array): number {
  let total = sum;
  for (let at = 0; at < bytes.length; at += 2) {
    total += (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    total = (total & 0xffff) + (total >>> 16);
  }
  return total;
}
