import { createHash } from 'node:crypto';
import {
  add,
  BASE,
  decodePoint,
  encodePoint,
  hasSmallOrder,
  multiply,
  negate,
  ORDER,
  readNumber,
} from './ed25519-point.ts';

/**
 * Verifies Ed25519 signatures of files of any size (RFC 8032, section 5.1.7).
 *
 * Node verifies only data that is in memory as a whole, and Sparkle signs whole disk images. The algorithm needs the
 * file only for one SHA-512, which takes the file in chunks. The rest is arithmetic with public numbers, so its
 * duration tells an attacker nothing.
 */
export interface EdCheck {
  update(chunk: Uint8Array): void;
  /** Call once, after the last chunk. */
  isValid(): boolean;
}

/**
 * Refuses a key of small order on every Node: see `hasSmallOrder`.
 *
 * @param publicKey 32 bytes; other lengths are never valid
 * @param signature 64 bytes; other lengths are never valid
 */
export function createEdCheck(publicKey: Uint8Array, signature: Uint8Array): EdCheck {
  if (publicKey.length !== 32 || signature.length !== 64) {
    return { update: () => {}, isValid: () => false };
  }
  const encodedR = signature.subarray(0, 32);
  const hash = createHash('sha512').update(encodedR).update(publicKey);
  return {
    update: (chunk) => void hash.update(chunk),
    isValid: () => {
      const s = readNumber(signature.subarray(32));
      const key = decodePoint(publicKey);
      if (key === undefined || s >= ORDER || hasSmallOrder(key)) return false;
      const k = readNumber(hash.digest()) % ORDER;
      const expected = add(multiply(BASE, s), multiply(negate(key), k));
      return Buffer.from(encodePoint(expected)).equals(encodedR);
    },
  };
}
