import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { ReadableSequence } from '../sequence/read-checked.ts';
import {
  advance,
  type Entry,
  type FollowedSequence,
  findNewestListed,
  type Position,
  type ReadOnOptions,
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

/** What reading on found. */
interface ReadOn<T> {
  readonly position: Position<T>;
  /** Why the documents above the position must not be used; undefined when there are none. */
  readonly failure: AppError | undefined;
}

/**
 * Reads on from a position; without one, finds the newest document.
 *
 * @throws AppError `document_corrupt` when the present state is unknown; the store's
 */
export async function readOn<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T> & FollowedSequence,
  position: Position<T> | undefined,
  { unknown, ...options }: ReadOnOptions<T> & { readonly unknown: UnknownState<T> },
): Promise<ReadOn<T>> {
  if (position === undefined) {
    const found = await findNewestListed(store, sequence, unknown.newest, options.refusals);
    unknown.newest = found.newest;
    refuseUnknownState(sequence, found);
    return { position: found, failure: undefined };
  }
  // Starts at the last readable document, so that a corrupt document counts again once it is repaired.
  const newer = await readNewer(store, sequence, position.newest?.number ?? 0, options);
  return { position: advance(position, newer), failure: newer.failure };
}

/** The newest readable document while the present state is unknown: it is not read again at every poll. */
export interface UnknownState<T> {
  newest: Entry<T> | undefined;
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
