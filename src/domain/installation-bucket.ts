/** Divides the installations of an application into buckets, differently for each release. */

/** A bucket is 1/100 % of all installations. */
export const BUCKETS = 10_000;

/** A number that differs between releases: an early bucket of one says nothing about another. @param salt random */
export function bucketSeed(salt: string): number {
  return murmur3(Buffer.from(salt), 0);
}

/** An installation of an application, as it is hashed. @param id of the installation */
export function installationBytes(application: string, id: string): Uint8Array {
  return Buffer.from(`${application}\n${id}`);
}

/**
 * The bucket of an installation, from 0 to 9,999: the same in every process and at any time.
 *
 * @param seed see {@link bucketSeed}
 * @param installation see {@link installationBytes}
 */
export function bucketOf(seed: number, installation: Uint8Array): number {
  return murmur3(installation, seed) % BUCKETS;
}

/**
 * MurmurHash3, x86, 32 bits. Not a cryptographic hash: a client that wants a release early can choose another id
 * anyway, and one decision may need the buckets of many releases.
 */
function murmur3(bytes: Uint8Array, seed: number): number {
  const { length } = bytes;
  let hash = seed;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    hash ^= scramble(word(bytes, at));
    hash = (hash << 13) | (hash >>> 19);
    hash = Math.imul(hash, 5) + 0xe6546b64;
  }
  // Absent bytes count as 0.
  if (at < length) hash ^= scramble(word(bytes, at));
  hash ^= length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function scramble(value: number): number {
  const mixed = Math.imul(value, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
