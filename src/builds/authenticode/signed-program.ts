import { X509Certificate } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type BaseBlock, fromBER, OctetString } from 'asn1js';
import { openPlainFile } from '../../core/plain-file.ts';
import { bytesOf, childrenOf, oidOf, tagOf } from './asn1-block.ts';
import { findSignerProblem, HASHES } from './verify-signer.ts';

/**
 * Reads the Authenticode signature of a Windows program. The formats: Microsoft's "PE Format" (the optional header, the
 * attribute certificate table), "Windows Authenticode Portable Executable Signature Format", and RFC 2315 (PKCS #7).
 */

/** The places of a signed program, in bytes from its beginning. */
export interface SignedProgram {
  /** The 4 bytes of the checksum in the optional header. */
  readonly checksumAt: number;
  /** The 8 bytes of the directory entry that names the certificate table. */
  readonly directoryAt: number;
  /** The certificate table, which ends the file. */
  readonly tableAt: number;
  readonly signatures: readonly ProgramSignature[];
}

interface ProgramSignature {
  /** A name that `createHash` knows. */
  readonly algorithm: string;
  /** Hex, of the program without its checksum, directory entry and certificate table. */
  readonly digest: string;
  /** The certificate of the signer; undefined when the signature does not contain it. */
  readonly signer: X509Certificate | undefined;
  /** Why the signature cannot be verified, as a part of a sentence; undefined: the key of the certificate made it. */
  readonly problem: string | undefined;
}

/** Linkers write the header within the first page. */
const HEADER_BYTES_MAX = 64 * 1024;
/** A signature with its certificates and its timestamp has some 10 KiB. */
const TABLE_BYTES_MAX = 1024 * 1024;
const ALIGNMENT = 8;

/**
 * @returns undefined for a file that is no program, or has no signature; the problem, as a text, for a header or a table
 *   that is not well-formed
 * @throws the system's error when the file cannot be read
 */
export async function readSignedProgram(path: string): Promise<SignedProgram | string | undefined> {
  const file = await openPlainFile(path);
  try {
    const { size } = await file.stat();
    const found = findTable(await readAt(file, 0, Math.min(size, HEADER_BYTES_MAX)));
    if (found === undefined || typeof found === 'string' || found.tableBytes === 0) {
      return typeof found === 'string' ? found : undefined;
    }
    const { tableAt, tableBytes, directoryAt, checksumAt } = found;
    if (tableAt % ALIGNMENT !== 0 || tableAt <= directoryAt || tableAt + tableBytes !== size) {
      return 'its certificate table does not end the file';
    }
    if (tableBytes > TABLE_BYTES_MAX) return `its certificate table has ${tableBytes} bytes`;
    const signatures = signaturesIn(await readAt(file, tableAt, tableBytes));
    if (typeof signatures === 'string') return signatures;
    return { checksumAt, directoryAt, tableAt, signatures };
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

const SIGNATURE_BYTES = 4;
const COFF_BYTES = 20;
const CHECKSUM_OFFSET = 64;
/** The number of directory entries, and the first entry, by the magic number of the optional header. */
const DIRECTORIES: Readonly<Record<number, number>> = { 267: 92, 523: 108 };
/** The index of the certificate table among the directory entries. */
const CERTIFICATE_TABLE = 4;

/** @returns undefined for a file that is no program; the problem, as a text, for a header that is cut off */
function findTable(header: Buffer) {
  if (header.length < 0x40 || header.toString('latin1', 0, 2) !== 'MZ') return undefined;
  const start = header.readUInt32LE(0x3c);
  const isCut = 'its header is cut off';
  const optional = start + SIGNATURE_BYTES + COFF_BYTES;
  if (optional + 2 > header.length) return isCut;
  if (header.toString('latin1', start, start + SIGNATURE_BYTES) !== 'PE\0\0') return undefined;
  const countAt = DIRECTORIES[header.readUInt16LE(optional)];
  const bytes = header.readUInt16LE(start + SIGNATURE_BYTES + 16);
  if (countAt === undefined || start % 2 !== 0) return 'its header is not well-formed';
  const entry = countAt + 4 + CERTIFICATE_TABLE * 8;
  const directoryAt = optional + entry;
  if (directoryAt + 8 > header.length) return isCut;
  const hasEntry =
    entry + 8 <= bytes && header.readUInt32LE(optional + countAt) > CERTIFICATE_TABLE;
  return {
    checksumAt: optional + CHECKSUM_OFFSET,
    directoryAt,
    tableAt: hasEntry ? header.readUInt32LE(directoryAt) : 0,
    tableBytes: hasEntry ? header.readUInt32LE(directoryAt + 4) : 0,
  };
}

const ENTRY_HEADER_BYTES = 8;
const PKCS_SIGNED_DATA = 2;

/** The signatures in the entries of a certificate table. A text says why the table has other contents too. */
function signaturesIn(table: Buffer): readonly ProgramSignature[] | string {
  const signatures: ProgramSignature[] = [];
  for (let at = 0; at < table.length; ) {
    const length = at + ENTRY_HEADER_BYTES > table.length ? 0 : table.readUInt32LE(at);
    const next = at + Math.ceil(length / ALIGNMENT) * ALIGNMENT;
    if (length <= ENTRY_HEADER_BYTES || next > table.length) {
      return 'its certificate table is cut off';
    }
    const content = table.subarray(at + ENTRY_HEADER_BYTES, next);
    const found =
      table.readUInt16LE(at + 6) === PKCS_SIGNED_DATA ? readSignedData(content) : undefined;
    if (found === undefined) return 'its certificate table holds no Authenticode signature';
    if (!isPadding(content.subarray(found.bytes))) {
      return 'its certificate table holds more than signatures';
    }
    signatures.push(...found.signatures);
    at = next;
  }
  return signatures;
}

/** Zeros up to the next entry. Signers fill entries up to a multiple of 8 bytes. */
function isPadding(bytes: Buffer): boolean {
  return bytes.length < ALIGNMENT && bytes.every((byte) => byte === 0);
}

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
/** An attribute that holds a second signature of the same program. */
const NESTED_SIGNATURE = '1.3.6.1.4.1.311.2.4.1';

interface SignedData {
  readonly signatures: readonly ProgramSignature[];
  /** The bytes of the whole structure. */
  readonly bytes: number;
}

/** Undefined for bytes that are no PKCS #7 structure of Authenticode. */
function readSignedData(der: Buffer): SignedData | undefined {
  const { offset, result } = fromBER(der);
  try {
    return offset < 0 ? undefined : { signatures: readContentInfo(result), bytes: offset };
  } catch {
    // The structure is another one, is nested too deeply, or has a certificate that Node does not read.
    return undefined;
  }
}

/**
 * `ContentInfo`, RFC 2315 section 7; the signed content is Authenticode's `SpcIndirectDataContent`.
 *
 * @throws Error for another structure
 */
function readContentInfo(contentInfo: BaseBlock): readonly ProgramSignature[] {
  const [type, wrapped] = childrenOf(contentInfo);
  const [, , content, ...others] = childrenOf(childrenOf(wrapped)[0]);
  const [contentType, indirect] = childrenOf(content);
  const indirectData = childrenOf(indirect)[0];
  const [algorithm, digest] = childrenOf(childrenOf(indirectData)[1]);
  const hash = HASHES[oidOf(childrenOf(algorithm)[0]) ?? ''];
  const isAuthenticode = oidOf(type) === SIGNED_DATA && oidOf(contentType) === SPC_INDIRECT_DATA;
  if (!isAuthenticode || hash === undefined || !(digest instanceof OctetString)) {
    throw new Error('no signature of Authenticode');
  }
  const [signerInfo, ...otherSigners] = childrenOf(others.at(-1));
  // Another program may read the other signer.
  if (otherSigners.length > 0) throw new Error('several signers');
  const certificates = childrenOf(others.find((each) => tagOf(each) === 0));
  const signer = signerOf(signerInfo, certificates);
  const own = {
    algorithm: hash,
    digest: Buffer.from(digest.valueBlock.valueHexView).toString('hex'),
    signer,
    problem: findSignerProblem({
      certificate: signer,
      signerInfo,
      contentType: SPC_INDIRECT_DATA,
      content: indirectData,
    }),
  };
  const nested = attributesOf(signerInfo)
    .filter((attribute) => oidOf(childrenOf(attribute)[0]) === NESTED_SIGNATURE)
    .flatMap((attribute) => childrenOf(childrenOf(attribute)[1]));
  return [own, ...nested.flatMap(readContentInfo)];
}

/** The unauthenticated attributes of a `SignerInfo`: its last field, with the tag 1. */
function attributesOf(signerInfo: BaseBlock | undefined): readonly BaseBlock[] {
  const last = childrenOf(signerInfo).at(-1);
  return last !== undefined && tagOf(last) === 1 ? childrenOf(last) : [];
}

/** The certificate whose issuer and serial number are in the `SignerInfo`. */
function signerOf(
  signerInfo: BaseBlock | undefined,
  certificates: readonly BaseBlock[],
): X509Certificate | undefined {
  const [issuer, serial] = childrenOf(childrenOf(signerInfo)[1]);
  if (issuer === undefined || serial === undefined) return undefined;
  const found = certificates.find((certificate) => {
    // A version, before the serial number, has a tag of its own. The algorithm stands before the issuer.
    const fields = childrenOf(childrenOf(certificate)[0]).filter((each) => tagOf(each) !== 0);
    return isSame(fields[0], serial) && isSame(fields[2], issuer);
  });
  return found && new X509Certificate(bytesOf(found));
}

function isSame(block: BaseBlock | undefined, other: BaseBlock): boolean {
  return block !== undefined && bytesOf(block).equals(bytesOf(other));
}
