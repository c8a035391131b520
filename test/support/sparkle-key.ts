import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** An Ed25519 key as Sparkle's `generate_keys` makes it, and signatures as `sign_update` makes them. */
export interface SparkleKey {
  /** As in SUPublicEDKey. */
  readonly publicKey: string;
  /** Base64, over the bytes. */
  sign(bytes: string | Uint8Array): string;
}

export function makeSparkleKey(): SparkleKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return {
    publicKey: Buffer.from(x, 'base64url').toString('base64'),
    sign: (bytes) => sign(null, Buffer.from(bytes), privateKey).toString('base64'),
  };
}

/** Whether Sparkle accepts bytes: it decodes key and signature from base64, and verifies the bytes as they are. */
export function isAcceptedBySparkle(
  publicKey: string,
  bytes: string | Uint8Array,
  signature: string,
): boolean {
  const x = Buffer.from(publicKey, 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(bytes), key, Buffer.from(signature, 'base64'));
}

/** The bytes that a client verifies of a feed that `sign_update` signed; throws for a malformed one. */
export function signedContent(feed: Buffer): { content: Buffer; signature: string } {
  const at = feed.lastIndexOf('<!-- sparkle-signatures:\n');
  const block = /^<!-- sparkle-signatures:\nedSignature: (\S+)\nlength: (\d+)\n-->\s*$/.exec(
    feed.subarray(at).toString(),
  );
  if (at < 0 || block === null || Number(block[2]) !== at) throw new Error('not a signed feed');
  return { content: feed.subarray(0, at), signature: block[1] as string };
}

/** A feed as `sign_update` signs it. */
export function signAppcast(content: string, key: SparkleKey): string {
  const length = Buffer.byteLength(content);
  return `${content}<!-- sparkle-signatures:\nedSignature: ${key.sign(content)}\nlength: ${length}\n-->\n`;
}
