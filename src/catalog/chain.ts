import type { Revision } from './sequences.ts';

/** The hash chain of catalog revisions: each names the one it was made from, and its digest. */

/** What of a revision the chain needs: a long history does not fit into memory. */
export interface Link extends Pick<Revision['signed'], 'revision' | 'previous' | 'skipped'> {
  readonly digest: string;
}

export function linkOf({ digest, signed: { revision, previous, skipped } }: Revision): Link {
  return { digest, revision, previous, skipped };
}

/**
 * Whether `next` was made from `before`, or from one after it, or names it as corrupt: a person allowed
 * to go on from the one before that, and `next` has no previous one where there was none.
 */
export function continues({ revision, digest }: Link, { previous, skipped }: Link): boolean {
  if (previous?.revision === revision) return previous.digest === digest;
  return (previous?.revision ?? 0) > revision || skipped.some(({ number }) => number === revision);
}
