import { createHash } from 'node:crypto';
import { openPlainFile } from '../../core/plain-file.ts';
import { createSignatureCheck } from './program-digest.ts';
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

/** A program that was signed later. */
export interface SignedLater {
  /** SHA-512 of the whole signed file, in hex, from the read that proved it. */
  readonly signedSha512: string;
}

/**
 * Proves that the file at `path` is `build`, signed later.
 *
 * A program whose signature does not fit its bytes is refused, because Windows refuses it too.
 *
 * @returns the reason, as a part of a sentence, when it is another file
 * @throws the system's error when the file cannot be read
 */
export async function proveSignedLater(path: string, build: Build): Promise<SignedLater | string> {
  const program = await readSignedProgram(path);
  if (program === undefined) return 'it has no signature that was added later';
  if (typeof program === 'string') return program;
  const padding = program.tableAt - build.size;
  if (padding < 0 || padding >= ALIGNMENT) return 'without its signature, it has another size';
  const first = await readUnsigned(path, program, build.size);
  const isFirst = first.sha512.includes(build.sha512);
  const read = isFirst ? first : await readUnsigned(path, program, build.size, first.checksum);
  if (!read.padding.every((byte) => byte === 0)) {
    return 'there are bytes before its signature that no signing tool adds';
  }
  if (!read.sha512.includes(build.sha512)) return 'without its signature, it has another hash';
  if (!read.isSound) return 'its signature does not fit its bytes';
  const problem = program.signatures.find((each) => each.problem !== undefined)?.problem;
  if (problem !== undefined) return `its signature cannot be verified: ${problem}`;
  return { signedSha512: read.signedSha512 };
}

interface Unsigned extends SignedLater {
  /** The possible hashes of the program before it was signed. Signing changes the checksum in the header. */
  readonly sha512: readonly string[];
  /** True when the digests of the signatures fit the bytes. */
  readonly isSound: boolean;
  /** The bytes between the build and the certificate table. */
  readonly padding: Buffer;
  /** The right checksum of the unsigned program. */
  readonly checksum: number;
}

/**
 * Reads the file once, through one buffer.
 *
 * @param checksum the checksum in the header before the program was signed; undefined tries 0, which makensis writes, and
 *   the present checksum
 */
async function readUnsigned(
  path: string,
  program: SignedProgram,
  size: number,
  checksum?: number,
): Promise<Unsigned> {
  const { checksumAt, directoryAt, tableAt } = program;
  const file = await openPlainFile(path);
  try {
    const header = Buffer.alloc(directoryAt + 8);
    await file.read(header, 0, header.length, 0);
    const check = createSignatureCheck(program);
    const signed = createHash('sha512').update(header);
    check.update(header);
    const present = header.readUInt32LE(checksumAt);
    header.fill(0, directoryAt);
    const hashes = (checksum === undefined ? [0, present] : [checksum]).map((each) => {
      header.writeUInt32LE(each, checksumAt);
      return createHash('sha512').update(header);
    });
    header.writeUInt32LE(0, checksumAt);
    let sum = addWords(0, header);
    const padding: Buffer[] = [];
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let at = header.length; ; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      signed.update(chunk);
      check.update(chunk);
      const own = chunk.subarray(0, Math.max(0, size - at));
      for (const hash of hashes) hash.update(own);
      sum = addWords(sum, own);
      padding.push(Buffer.from(chunk.subarray(own.length, Math.max(0, tableAt - at))));
      at += bytesRead;
    }
    return {
      sha512: hashes.map((hash) => hash.digest('hex')),
      signedSha512: signed.digest('hex'),
      isSound: check.finish(),
      padding: Buffer.concat(padding),
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
