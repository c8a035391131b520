import { AppError } from '../../core/errors.ts';
import type { Sealed } from '../../store/sequence/envelope.ts';
import type { Entry } from '../../store/sequence/sequence.ts';
import type { RevisionJson } from '../documents/revision-document.ts';

/**
 * The hash chain of catalog revisions: each revision names its predecessor and the predecessor's digest.
 *
 * A process never serves a revision below the highest one that it has seen. A store that no longer has that revision
 * was rolled back: by accident, or by an attacker who replays an old state.
 */

type ChainFields = Pick<RevisionJson, 'revision' | 'previous' | 'skipped' | 'trust'>;

/** A revision with at least the fields that the chain needs. */
export type Chained = Readonly<Sealed<ChainFields>>;

/**
 * The fields of a revision that the chain needs. Checks keep only these fields, because a long history does not fit
 * into memory.
 */
interface Link extends Omit<ChainFields, 'trust'> {
  readonly digest: string;
}

export function linkOf({ digest, signed: { revision, previous, skipped } }: Chained): Link {
  return { digest, revision, previous, skipped };
}

/**
 * True when `next` was made from `before`, or from a later revision, or when `next` names `before` as corrupt. In the
 * last case, an operator allowed the change to skip `before`. `next` has no `previous` when no sound revision came
 * before it.
 */
export function continues({ revision, digest }: Link, { previous, skipped }: Link): boolean {
  if (previous?.revision === revision) return previous.digest === digest;
  return (previous?.revision ?? 0) > revision || skipped.some(({ number }) => number === revision);
}

/**
 * Returns an error for a revision that was not made from the preceding revision: the process must reject it. Undefined
 * for any other revision.
 *
 * @param before the preceding revision, as this process knows it
 */
export function brokenChain(
  application: string,
  before: Entry<Chained> | undefined,
  { number, document }: Entry<Chained>,
): AppError | undefined {
  if (before === undefined || continues(linkOf(before.document), linkOf(document)))
    return undefined;
  return new AppError(
    'document_corrupt',
    `Revision ${number} of ${application} was not made from revision ${before.number} as this process knows it: the catalog was replaced. Serving the revision before them.`,
  );
}

/**
 * True when `next` proves that the history of its store has `saved`: `next` was made from it, or an operator allowed the
 * change to skip it. A revision that was made from a later one names only that one, so it proves nothing here.
 */
export function provesHistory(saved: Link, { previous, skipped }: Link): boolean {
  if (previous?.revision === saved.revision) return previous.digest === saved.digest;
  const isEarlier = (previous?.revision ?? 0) < saved.revision;
  return isEarlier && skipped.some(({ number }) => number === saved.revision);
}

/**
 * Decides whether the store still continues the state that this process has saved.
 *
 * @param seen the newest revision that this process knows
 * @param stored the store's document of the same number; undefined when there is none
 * @param next the first readable revision in the store above that number. An attacker, or a fault, may delete a revision
 *   from the middle: the next one then proves that the store did not go back
 * @throws AppError `document_corrupt` when the store has another revision under this number, or none and no proof
 */
export function refuseRollback(
  application: string,
  seen: Entry<Chained>,
  stored: Chained | 'corrupt' | undefined,
  next?: Chained,
): void {
  // A corrupt document does not prove a rollback. The chain check decides about the next revision, which names the
  // corrupt documents that it skips.
  if (stored === 'corrupt' || stored?.digest === seen.document.digest) return;
  const isGone = stored === undefined;
  if (isGone && next && provesHistory(linkOf(seen.document), linkOf(next))) return;
  throw new AppError(
    'document_corrupt',
    `The store's catalog of ${application} went backwards: revision ${seen.number}, seen before, is ${isGone ? 'gone' : 'another one now'}. Serving the saved one. If this is intended (a new bucket under an old name), delete the saved state in DATA_DIR and start again.`,
  );
}
