import { isPrivate, type Pair } from './copy-plan.ts';

/** Decides which objects that both sides have must be read to know whether they are equal. Pure. */

/** The proof that the comparison of the catalogs gave. */
export interface Proof {
  /** True when the ETags of the two stores can be compared, because equal bytes have equal ETags. */
  readonly tags: boolean;
  /**
   * By application, the time at which the target stored the newest revision that both have, if it is equal. The copy
   * had stored the objects that this revision names before. Empty: nothing proves that both are the same store.
   */
  readonly provenAt: ReadonlyMap<string, number>;
}

/** An ETag that is the MD5 of the bytes, in most stores: equal tags of two stores mean equal bytes. */
const MD5_TAG = /^"?[0-9a-f]{32}"?$/;

/**
 * True when the ETags prove equal bytes, false when they prove different ones; undefined when they cannot be compared.
 */
export function compareTags({ source, target }: Pair): boolean | undefined {
  if (!MD5_TAG.test(source.etag) || !MD5_TAG.test(target.etag)) return undefined;
  return source.etag === target.etag;
}

/** More milliseconds than the clocks of two stores may differ by. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/** True when the source may have stored a private object again: its owner was erased and created after the copy. */
export function mayBeReplaced({ source, target }: Pair): boolean {
  return source.lastModified.getTime() + CLOCKS_DIFFER_MS > target.lastModified.getTime();
}

/**
 * True when an equal revision proves that a pair is equal: the revisions are a chain, and manifests are named by their
 * digests. It does not prove the objects that an interrupted copy stored after it: another store may be their source.
 */
export function isProven({ source, target }: Pair, { provenAt }: Proof): boolean {
  const { kind, application } = source;
  if (kind === 'artifact') return true; // Its key has the hash of its bytes.
  if (application === undefined && (isPrivate(source) || kind === 'application list')) {
    return provenAt.size > 0;
  }
  if (kind === 'revision') return provenAt.has(application ?? '');
  const at = application === undefined ? Math.max(...provenAt.values()) : provenAt.get(application);
  return at !== undefined && target.lastModified.getTime() <= at;
}

/**
 * True when a pair must be read to know that its bytes are equal. Without comparable ETags, a proven object of the same
 * size is the same, except a private one that the source may have replaced.
 */
export function isUnsure(pair: Pair, proof: Proof): boolean {
  const { source, target } = pair;
  if (source.size !== target.size) return true;
  if (!isProven(pair, proof)) return compareTags(pair) !== true;
  const equal = proof.tags ? compareTags(pair) : undefined;
  if (equal !== undefined) return !equal;
  return isPrivate(source) && mayBeReplaced(pair);
}
