import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { ReadableSequence } from '../sequence/read-checked.ts';
import {
  advance,
  type FollowedSequence,
  findNewestListed,
  type Newer,
  type Position,
  readNewer,
  refuseUnknownState,
} from '../sequence/sequence.ts';

/** Reads a sequence repeatedly: keeps the last position and reads on from there. */
export interface Reading<T> {
  /** Undefined before the first successful read. */
  readonly position: Position<T> | undefined;
  /** Why the last read failed; undefined when it succeeded. */
  readonly failure: AppError | undefined;
}

/**
 * Reads on from a position; without one, finds the newest document.
 *
 * @param verify called with the newer documents; throws when they must be rejected
 * @throws AppError `document_corrupt` when the present state is unknown; the store's; what `verify` throws
 */
export async function readOn<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T> & FollowedSequence,
  position: Position<T> | undefined,
  verify?: (newer: Newer<T>) => void,
): Promise<Position<T>> {
  if (position === undefined) {
    const found = await findNewestListed(store, sequence);
    refuseUnknownState(sequence, found);
    return found;
  }
  // Starts at the last readable document, so that a corrupt document counts again once it is repaired.
  const newer = await readNewer(store, sequence, position.newest?.number ?? 0, position.corrupt);
  verify?.(newer);
  return advance(position, newer);
}

/** Problems of the store or of the documents of a sequence, as sentences that may be public. */
export function problemsOf<T>(
  { position, failure }: Reading<T>,
  keyOf: (number: number) => string,
): readonly string[] {
  return [
    ...(failure === undefined ? [] : [publicSentence(failure)]),
    ...(position?.corrupt ?? []).map(({ reason }) => reason),
    ...(position?.holes ?? []).map((number) => `${keyOf(number)} is missing.`),
  ];
}

/** Every visitor can read the service's health: hosts, buckets and directories must appear in the log only. */
function publicSentence(error: AppError): string {
  return error.kind === 'corrupt'
    ? error.message
    : `The object store cannot be read (${error.code}).`;
}

export function asAppError(error: unknown): AppError {
  return isAppError(error) ? error : new AppError('internal', String(error), { cause: error });
}
