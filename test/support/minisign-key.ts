import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Keys and signatures as `tauri signer` makes them, without starting a process for each. */

export interface MinisignKey {
  readonly privateKey: KeyObject;
  readonly id: Buffer;
  /** As in `tauri.conf.json`. */
  readonly pubkey: string;
  /** The second line of a minisign public key file. */
  readonly line: string;
  readonly keyId: string;
}

export function makeMinisignKey(id: number): MinisignKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(id);
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const line = Buffer.concat([Buffer.from('Ed'), bytes, raw]).toString('base64');
  const keyId = Buffer.from(bytes).reverse().toString('hex').toUpperCase();
  const file = `untrusted comment: minisign public key: ${keyId}\n${line}\n`;
  return { privateKey, id: bytes, pubkey: Buffer.from(file).toString('base64'), line, keyId };
}

interface Signing {
  readonly comment?: string;
  /** `Ed`: over the file itself. */
  readonly algorithm?: 'Ed' | 'ED';
  /** The comment that the file shows, when it is not the signed one. */
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
