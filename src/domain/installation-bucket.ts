/** Divides the installations of an application into buckets, differently for each release. */

/** A bucket is 1/100 % of all installations. */
export const BUCKETS = 10_000;

/** A number that differs between releases: an early bucket of one says nothing about another. @param salt random */
export function bucketSeed(salt: string): number {
  return hashText(salt, 0);
}

/** A number for an installation of an application. @param id of the installation */
export function installationHash(application: string, id: string): number {
  return hashText(id, hashText(application, 0));
}

/**
 * The bucket of an installation, from 0 to 9,999: the same in every process and at any time.
 *
 * @param seed see {@link bucketSeed}
 * @param installation see {@link installationHash}
 */
export function bucketOf(seed: number, installation: number): number {
  return finish(mix(seed, installation), WORD_BYTES) % BUCKETS;
}

const WORD_BYTES = 4;

/**
 * MurmurHash3, x86, 32 bits, of the text in UTF-16 (little-endian). Not a cryptographic hash: a client that wants a
 * release early can choose another id anyway, and it must cost little in each decision.
 */
function hashText(text: string, seed: number): number {
  const { length } = text;
  let hash = seed;
  let at = 0;
  for (; at + 2 <= length; at += 2) {
    hash = mix(hash, text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
  }
  if (at < length) hash ^= scramble(text.charCodeAt(at));
  return finish(hash, 2 * length);
}

function mix(hash: number, word: number): number {
  const mixed = hash ^ scramble(word);
  return Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64;
}

function scramble(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** @param bytes how many were hashed */
function finish(mixed: number, bytes: number): number {
  let hash = mixed ^ bytes;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
