import type { X509Certificate } from 'node:crypto';
import { openPlainFile } from '../../core/plain-file.ts';
import type { ByteReader } from '../build-output.ts';
import { createSignatureCheck } from './program-digest.ts';
import { readSignedProgram } from './signed-program.ts';

/** The facts that a Windows program states about itself. */
export interface ProgramFacts {
  /**
   * The subject of the signer, as Windows writes it; null: not signed; undefined: the signature cannot be read, or cannot
   * be verified.
   */
  readonly publisher: string | null | undefined;
  /**
   * The issuer of the signer's certificate, as Windows writes it; null: the certificate is signed with its own key;
   * undefined: there is no publisher.
   */
  readonly issuer: string | null | undefined;
  /** Why a signature cannot be verified, as a part of a sentence; undefined: each is verified, or there is none. */
  readonly signatureProblem: string | undefined;
  /** Makes a check of the signature; undefined for a program without a signature that can be read. */
  readonly createSignatureCheck: (() => ByteReader<boolean>) | undefined;
  /** `ProductVersion` in its version resource; undefined when it has none. */
  readonly productVersion: string | undefined;
  /** `ProductName` in the version of the program. */
  readonly productName: string | undefined;
}

/** @throws the system's error when the file cannot be read */
export async function readProgramFacts(path: string): Promise<ProgramFacts> {
  const program = await readSignedProgram(path);
  const signed = typeof program === 'object' ? program : undefined;
  const signatureProblem = signed?.signatures.find(({ problem }) => problem !== undefined)?.problem;
  const signer = signatureProblem === undefined ? signed?.signatures[0]?.signer : undefined;
  const publisher = nameOf(signer?.subject);
  return {
    publisher: program === undefined ? null : publisher,
    issuer: publisher === undefined ? undefined : issuerOf(signer),
    signatureProblem,
    createSignatureCheck: signed && (() => createSignatureCheck(signed)),
    ...(await readProductFacts(path)),
  };
}

/** The names that Windows writes for attributes, by the names that OpenSSL writes. */
const WINDOWS_NAMES: Readonly<Record<string, string>> = {
  ST: 'S',
  emailAddress: 'E',
  serialNumber: 'SERIALNUMBER',
  postalCode: 'PostalCode',
  street: 'STREET',
  businessCategory: 'OID.2.5.4.15',
  jurisdictionL: 'OID.1.3.6.1.4.1.311.60.2.1.1',
  jurisdictionST: 'OID.1.3.6.1.4.1.311.60.2.1.2',
  jurisdictionC: 'OID.1.3.6.1.4.1.311.60.2.1.3',
};

/** Anyone can make a certificate that is signed with its own key, with any issuer. */
function issuerOf(signer: X509Certificate | undefined): string | null | undefined {
  if (signer === undefined) return undefined;
  const isSelfSigned = signer.subject === signer.issuer || signer.verify(signer.publicKey);
  return isSelfSigned ? null : nameOf(signer.issuer);
}

/**
 * `CN=App GmbH, O=App GmbH, C=DE`: Windows writes the attributes in the opposite order, and quotes values. A part of a
 * name may have several attributes: `CN=App + O=App`. Undefined for an empty name: Node's types do not say that the
 * subject of a certificate may be missing.
 */
function nameOf(name: string | undefined): string | undefined {
  const parts = name?.split('\n').map((line) =>
    line
      .split(/ \+ (?=[^ =]+=)/)
      .map(attributeText)
      .join(' + '),
  );
  return parts?.reverse().join(', ');
}

/** @param text as OpenSSL writes an attribute, such as `emailAddress=a@example.com` */
function attributeText(text: string): string {
  const at = text.indexOf('=');
  const name = text.slice(0, at);
  const value = unescaped(text.slice(at + 1));
  const isPlain = !/[,+="<>#;]|^ | $/.test(value);
  return `${WINDOWS_NAMES[name] ?? name}=${isPlain ? value : `"${value.replaceAll('"', '""')}"`}`;
}

/** Node escapes some characters as in RFC 2253: `Acme\, Inc.`. */
function unescaped(value: string): string {
  return value.replace(/\\([0-9A-F]{2}|.)/g, (_, character: string) =>
    character.length === 1 ? character : String.fromCharCode(Number.parseInt(character, 16)),
  );
}

/** Some installers have large pictures in their resources, before the version. */
const RESOURCES_BYTES_MAX = 8 * 1024 * 1024;
const HEADER_BYTES = 4096;
const SECTION_BYTES = 40;
const VALUE_CHARACTERS_MAX = 96;

type ProductFacts = Readonly<Record<'productVersion' | 'productName', string | undefined>>;

/** Searches the resources for the keys, because the structure around a key has only this text before the value. */
async function readProductFacts(path: string): Promise<ProductFacts> {
  const file = await openPlainFile(path);
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    await file.read(header, 0, HEADER_BYTES, 0);
    const section = resourcesIn(header);
    if (section === undefined) return { productVersion: undefined, productName: undefined };
    const bytes = Buffer.alloc(Math.min(section.size, RESOURCES_BYTES_MAX));
    await file.read(bytes, 0, bytes.length, section.at);
    return {
      productVersion: textAfter('ProductVersion', bytes),
      productName: textAfter('ProductName', bytes),
    };
  } finally {
    await file.close();
  }
}

function textAfter(key: string, resources: Buffer): string | undefined {
  const wanted = Buffer.from(`${key}\0`, 'utf16le');
  const found = resources.indexOf(wanted);
  if (found < 0) return undefined;
  const from = found + wanted.length;
  const rest = resources.toString('utf16le', from, from + 2 * VALUE_CHARACTERS_MAX);
  // Zeros fill the key up to a multiple of 4 bytes, and end the value.
  return /^\0{0,2}([^\0]+)\0/.exec(rest)?.[1]?.trim();
}

/** The place of the section `.rsrc` in bytes; undefined for a file that is no program. */
function resourcesIn(header: Buffer): { readonly at: number; readonly size: number } | undefined {
  const start = header.readUInt32LE(0x3c);
  const isProgram = header.toString('latin1', 0, 2) === 'MZ' && start + 24 <= header.length;
  if (!isProgram || header.toString('latin1', start, start + 4) !== 'PE\0\0') return undefined;
  const count = header.readUInt16LE(start + 6);
  const first = start + 24 + header.readUInt16LE(start + 20);
  for (let index = 0; index < count; index++) {
    const at = first + index * SECTION_BYTES;
    if (at + SECTION_BYTES > header.length) return undefined;
    if (header.toString('latin1', at, at + 6) !== '.rsrc\0') continue;
    return { size: header.readUInt32LE(at + 16), at: header.readUInt32LE(at + 20) };
  }
  return undefined;
}
