import { AppError } from '../core/errors.ts';

/**
 * Sparkle's public keys: base64 of 32 bytes, as SUPublicEDKey in Info.plist. WinSparkle and NetSparkle read these keys
 * too.
 */

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const PUBLIC_KEY_BYTES = 32;
/**
 * The number of bytes that `generate_keys -x` and older tools export: a private key, without and with its public key.
 */
const PRIVATE_KEY_BYTES: readonly number[] = [64, 96];

export interface SparklePublicKey {
  /** Ed25519: 32 bytes. */
  readonly bytes: Uint8Array;
  /** The key as in SUPublicEDKey. Messages show this text, because a Sparkle key has no id. */
  readonly text: string;
}

/**
 * Parses a public key.
 *
 * The message of an error never repeats the text, which may be a private key. A private seed of 32 bytes looks like a
 * public key. `withStatedSettings` refuses half of all seeds; with the other half, no signature verifies.
 *
 * @throws AppError `invalid_request`
 */
export function parseSparkleKey(text: string): SparklePublicKey {
  const key = text.trim();
  const isBase64 = BASE64.test(key) && key.length % 4 === 0;
  const bytes = Uint8Array.from(isBase64 ? atob(key) : '', (character) => character.charCodeAt(0));
  if (bytes.length === PUBLIC_KEY_BYTES) return { bytes, text: key };
  if (PRIVATE_KEY_BYTES.includes(bytes.length) || /private key/i.test(key)) {
    throw refusal(
      'This is a private key, which stays with its owner: nothing was stored. Give the public key instead, which "generate_keys -p" prints. If the private key was on a command line, it is now in the history of the shell.',
    );
  }
  throw refusal(
    'This is neither a public key of Sparkle nor an existing file with one. Give the key that "generate_keys -p" prints, which is SUPublicEDKey in Info.plist: base64 of 32 bytes.',
  );
}

function refusal(detail: string): AppError {
  return new AppError('invalid_request', detail, {
    issues: [{ pointer: '/sparkle_pubkey', detail }],
  });
}
