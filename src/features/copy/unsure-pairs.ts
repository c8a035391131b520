import { isPrivate, type Pair } from './copy-plan.ts';

/** Decides whether the copy must read a pair of objects to know that they are equal. Pure. */

/** The proof that the comparison of the catalogs gave. */
export interface Proof {
  /** True when the copy can compare the ETags of the two stores, because equal bytes have equal ETags. */
  readonly tags: boolean;
  /**
   * For each application whose newest common revision is equal on both sides, the time at which the target stored this
   * revision; milliseconds since the epoch. Before this time, the copy had stored the objects that the revision names.
   * Empty: nothing proves that both sides are the same store.
   */
  readonly provenAt: ReadonlyMap<string, number>;
}

/**
 * An ETag that looks like an MD5. In most stores, it is the MD5 of the bytes, so equal ETags of two stores mean equal
 * bytes.
 */
const MD5_TAG = /^"?[0-9a-f]{32}"?$/;

/**
 * True when equal ETags prove equal bytes. False when the ETags differ, so the bytes probably differ. Undefined when
 * the copy cannot compare the ETags.
 */
export function compareTags({ source, target }: Pair): boolean | undefined {
  if (!MD5_TAG.test(source.etag) || !MD5_TAG.test(target.etag)) return undefined;
  return source.etag === target.etag;
}

/** An upper limit, in milliseconds, for the difference between the clocks of two stores. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/** True when the source may have stored a private object again: its owner was erased and created after the copy. */
export function mayBeReplaced({ source, target }: Pair): boolean {
  return source.lastModified.getTime() + CLOCKS_DIFFER_MS > target.lastModified.getTime();
}

/**
 * True when an equal revision proves that a pair is equal: each revision names the digests of its predecessor and of
 * its manifests. A revision does not prove the objects that the target stored later, because an interrupted copy of
 * another store may have stored them.
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
 * True when a pair must be read to know that its bytes are equal. Without comparable ETags, proven objects of the same
 * size count as equal, except a private object that the source may have replaced.
 */
export function isUnsure(pair: Pair, proof: Proof): boolean {
  const { source, target } = pair;
  if (source.size !== target.size) return true;
  if (!isProven(pair, proof)) return compareTags(pair) !== true;
  const equal = proof.tags ? compareTags(pair) : undefined;
  if (equal !== undefined) return !equal;
  return isPrivate(source) && mayBeReplaced(pair);
}
