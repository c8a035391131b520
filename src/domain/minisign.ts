import { AppError } from '../core/errors.ts';

/**
 * Minisign's public keys and signatures, as Tauri writes them: base64 of the whole text of minisign's file.
 *
 * @see https://jedisct1.github.io/minisign/#signature-format
 */

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ALGORITHM_BYTES = 2;
const KEY_ID_BYTES = 8;
const HEAD_BYTES = ALGORITHM_BYTES + KEY_ID_BYTES;
const PUBLIC_KEY_BYTES = HEAD_BYTES + 32;
const SIGNATURE_BYTES = 64;
/** A private key holds the parameters of its encryption, the key pair and a checksum. */
const PRIVATE_KEY_BYTES = 158;
const TRUSTED_COMMENT = 'trusted comment: ';

export interface MinisignPublicKey {
  /** The sixteen hex digits that minisign prints for a key. */
  readonly keyId: string;
  /** The raw Ed25519 key: 32 bytes. */
  readonly bytes: Uint8Array;
  /** The key as in an application's `tauri.conf.json`: base64 of a minisign public key file. */
  readonly text: string;
}

/**
 * Parses a public key: what `tauri signer generate` prints, a minisign public key file, or the second line of such a
 * file.
 *
 * The message of an error never repeats the text, which may be a private key.
 *
 * @throws AppError `invalid_request`
 */
export function parseMinisignKey(text: string): MinisignPublicKey {
  const lines = linesOf(text.trim());
  if (isPrivateKey(lines)) {
    throw refusal(
      'This is a private key, which stays with its owner: nothing was stored. Give the public key instead, the file that ends in ".pub". If the private key was on a command line, it is now in the history of the shell.',
    );
  }
  const bytes = lines.map(bytesOf).find((each) => each?.length === PUBLIC_KEY_BYTES);
  // `Ed` names the algorithm of the key. Signatures of files use `ED` as well.
  if (bytes === undefined || algorithmOf(bytes) !== 'Ed') {
    throw refusal(
      'This is neither a minisign public key nor an existing file with one. Give the key that "tauri signer generate" printed, which is the pubkey in tauri.conf.json, or check the path of its ".pub" file.',
    );
  }
  const keyId = keyIdOf(bytes);
  const line = btoa(String.fromCharCode(...bytes));
  const file = `untrusted comment: minisign public key: ${keyId}\n${line}\n`;
  return { keyId, bytes: bytes.subarray(HEAD_BYTES), text: btoa(file) };
}

/** The lines of a text. When the text is base64 of another text, the lines of the other text as well. */
function linesOf(text: string): readonly string[] {
  const inner = bytesOf(text);
  const texts = inner === undefined ? [text] : [text, new TextDecoder().decode(inner)];
  return texts.flatMap((each) => each.split(/\r?\n/)).map((line) => line.trim());
}

function isPrivateKey(lines: readonly string[]): boolean {
  return lines.some(
    (line) => /secret key/i.test(line) || (bytesOf(line)?.length ?? 0) === PRIVATE_KEY_BYTES,
  );
}

/** A signature of a file, and of a comment about the file. */
export interface MinisignSignature {
  /** `ED` signs the BLAKE2b-512 hash of the file. `Ed` signs the file itself, as older signers did. */
  readonly algorithm: 'Ed' | 'ED';
  /** The sixteen hex digits that minisign prints for a key. */
  readonly keyId: string;
  /** Ed25519: 64 bytes. */
  readonly signature: Uint8Array;
  /** Tauri's signer writes `timestamp:…⇥file:…⇥version:…`. */
  readonly trustedComment: string;
  /** Ed25519 over the signature and the trusted comment: 64 bytes. */
  readonly globalSignature: Uint8Array;
}

/**
 * Parses the text of a `.sig` file. Accepts white space around it.
 *
 * @returns undefined when it is not a minisign signature
 */
export function parseMinisignSignature(text: string): MinisignSignature | undefined {
  const file = bytesOf(text.trim());
  const [comment, line, trusted, global] = new TextDecoder().decode(file).split(/\r?\n/);
  if (!comment?.startsWith('untrusted comment:') || !trusted?.startsWith(TRUSTED_COMMENT)) {
    return undefined;
  }
  const bytes = bytesOf(line ?? '');
  const globalSignature = bytesOf(global ?? '');
  if (bytes?.length !== HEAD_BYTES + SIGNATURE_BYTES) return undefined;
  if (globalSignature?.length !== SIGNATURE_BYTES) return undefined;
  const algorithm = algorithmOf(bytes);
  if (algorithm !== 'Ed' && algorithm !== 'ED') return undefined;
  return {
    algorithm,
    keyId: keyIdOf(bytes),
    signature: bytes.subarray(HEAD_BYTES),
    trustedComment: trusted.slice(TRUSTED_COMMENT.length),
    globalSignature,
  };
}

/**
 * A field of a trusted comment. The field keeps its white space, because the client compares the white space too.
 * Undefined when the comment does not state the field.
 */
export function statedIn(
  { trustedComment }: Pick<MinisignSignature, 'trustedComment'>,
  field: 'file' | 'version',
): string | undefined {
  const stated = trustedComment.split('\t').find((part) => part.startsWith(`${field}:`));
  return stated?.slice(field.length + 1);
}

function algorithmOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, ALGORITHM_BYTES));
}

/** The bytes store the id in little-endian order; minisign prints it in big-endian order. */
function keyIdOf(bytes: Uint8Array): string {
  return [...bytes.subarray(ALGORITHM_BYTES, HEAD_BYTES)]
    .reverse()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

/** @returns undefined when the text is not base64 */
function bytesOf(text: string): Uint8Array | undefined {
  if (!BASE64.test(text) || text.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function refusal(detail: string): AppError {
  return new AppError('invalid_request', detail, {
    issues: [{ pointer: '/tauri_pubkey', detail }],
  });
}
