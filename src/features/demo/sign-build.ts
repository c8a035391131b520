import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/**
 * Signs builds as `tauri signer` and Sparkle's `sign_update` do, for the demo and tests. Public texts determine the
 * keys.
 */

export interface MinisignKey {
  readonly privateKey: KeyObject;
  readonly id: Buffer;
  /** The public key in the form of `tauri.conf.json`. */
  readonly pubkey: string;
  /** The second line of a minisign public key file. */
  readonly line: string;
  readonly keyId: string;
}

/** The DER bytes before the seed in an Ed25519 private key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An Ed25519 key that a text determines. Everybody can compute the key, so it protects nothing. */
export function demoKey(text: string): KeyObject {
  const seed = createHash('sha256').update(text).digest();
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

export function rawPublicKey(privateKey: KeyObject): Buffer {
  return Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url');
}

export function minisignKeyOf(privateKey: KeyObject, id: number): MinisignKey {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(id);
  const raw = rawPublicKey(privateKey);
  const line = Buffer.concat([Buffer.from('Ed'), bytes, raw]).toString('base64');
  const keyId = Buffer.from(bytes).reverse().toString('hex').toUpperCase();
  const file = `untrusted comment: minisign public key: ${keyId}\n${line}\n`;
  return { privateKey, id: bytes, pubkey: Buffer.from(file).toString('base64'), line, keyId };
}

interface Signing {
  readonly comment?: string;
  /** `Ed` signs the file itself; `ED` signs the hash of the file. */
  readonly algorithm?: 'Ed' | 'ED';
  /** The comment that the signature file shows, when it differs from the signed comment. */
  readonly shown?: string;
}

/** The text of a `.sig` file. */
export function signMinisign(
  { privateKey, id }: MinisignKey,
  content: string | Uint8Array,
  { comment = 'timestamp:1\tfile:App', algorithm = 'ED', shown = comment }: Signing = {},
): string {
  const bytes = Buffer.from(content);
  const signed = algorithm === 'ED' ? createHash('blake2b512').update(bytes).digest() : bytes;
  const signature = sign(null, signed, privateKey);
  const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), privateKey);
  const line = Buffer.concat([Buffer.from(algorithm), id, signature]).toString('base64');
  const file = `untrusted comment: signature from tauri secret key\n${line}\ntrusted comment: ${shown}\n${global.toString('base64')}\n`;
  return Buffer.from(file).toString('base64');
}
