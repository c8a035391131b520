/**
 * The Ed25519 keys with which a signature proves nothing: the eight points of small order, and the other six forms of
 * bytes that lenient software reads as one of these points. libsodium (`ge25519_has_small_order`) and Node
 * (nodejs/node#64026) refuse the same points.
 */
export const WEAK_ED_KEYS: readonly Buffer[] = [
  // The orders 1, 2, 4, 4, 8, 8, 8 and 8.
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  // Forms that RFC 8032 refuses: a sign where x is 0, and coordinates that are not below the prime number.
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
].map((text) => Buffer.from(text, 'hex'));

/** A signature that a key of the order 1 verifies for every file, where software does not refuse the key. */
export const SIGNATURE_FOR_ANY_FILE = Buffer.alloc(64);
SIGNATURE_FOR_ANY_FILE[0] = 1;
