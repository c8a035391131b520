/** Divides the installations of an application into buckets, differently for each release. */

/** A bucket is 1/100 % of all installations. */
export const BUCKETS = 10_000;

/**
 * A number that differs between releases, so that an early bucket in one release is not early in another.
 *
 * @param salt a random text
 */
export function bucketSeed(salt: string): number {
  return hashText(salt, FNV_BASIS);
}

/** A number for an installation of an application. @param id of the installation */
export function installationHash(application: string, id: string): number {
  return hashText(id, hashText(application, FNV_BASIS));
}

/**
 * The bucket of an installation, from 0 to 9,999: the same in every process and at any time.
 *
 * @param seed see {@link bucketSeed}
 * @param installation see {@link installationHash}
 */
export function bucketOf(seed: number, installation: number): number {
  return murmur3(installation, seed) % BUCKETS;
}

const WORD_BYTES = 4;

/** FNV-1a, 32 bits, by UTF-16 code units: it costs less in each decision than other hashes of a text. */
function hashText(text: string, basis: number): number {
  let hash = basis;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash;
}

const FNV_BASIS = 0x811c9dc5;

/**
 * MurmurHash3, x86, 32 bits, of one word. It need not be a cryptographic hash, because a client that wants a release
 * early can choose another id anyway.
 */
function murmur3(word: number, seed: number): number {
  let hash = seed ^ Math.imul(rotate(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  hash = (Math.imul(rotate(hash, 13), 5) + 0xe6546b64) ^ WORD_BYTES;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
