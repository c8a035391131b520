import { AppError } from '../../core/errors.ts';

/**
 * The two encodings of an ECDSA signature on P-256. JWS joins the two numbers (RFC 7518, section 3.4); TUF and most key
 * stores use the ASN.1 encoding (RFC 3279, section 2.2.3).
 */

/** The size of one number on P-256, in bytes. */
const NUMBER_BYTES = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** True for bytes that look like the ASN.1 encoding: a sequence that ends where the bytes end. */
export function isAsn1Signature(bytes: Uint8Array): boolean {
  return bytes[0] === SEQUENCE && bytes[1] === bytes.length - 2 && bytes[2] === INTEGER;
}

/** @throws AppError `signer_failed` for bytes that are not such a signature */
export function joinedFromAsn1(bytes: Uint8Array): Uint8Array {
  const joined = Buffer.alloc(2 * NUMBER_BYTES);
  let at = 2;
  for (const end of [NUMBER_BYTES, 2 * NUMBER_BYTES]) {
    const length = bytes[at + 1] ?? 0;
    const digits = Buffer.from(bytes.subarray(at + 2, at + 2 + length));
    // A leading zero keeps the number positive.
    const number = digits[0] === 0 ? digits.subarray(1) : digits;
    const isNumber = bytes[at] === INTEGER && digits.length === length && length > 0;
    if (!isNumber || number.length > NUMBER_BYTES) {
      throw new AppError('signer_failed', 'The signer returned bytes that are no signature.');
    }
    number.copy(joined, end - number.length);
    at += 2 + length;
  }
  return joined;
}

export function asn1FromJoined(joined: Uint8Array): Uint8Array {
  const numbers = [joined.subarray(0, NUMBER_BYTES), joined.subarray(NUMBER_BYTES)].map((part) => {
    const first = part.findIndex((byte) => byte !== 0);
    const digits = first < 0 ? part.subarray(-1) : part.subarray(first);
    const zero = (digits[0] ?? 0) >= 0x80 ? [0] : [];
    return Buffer.from([INTEGER, zero.length + digits.length, ...zero, ...digits]);
  });
  const content = Buffer.concat(numbers);
  return Buffer.concat([Buffer.from([SEQUENCE, content.length]), content]);
}
