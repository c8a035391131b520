import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isUnusable, type ReadableSequence } from '../../store/sequence/read-checked.ts';
import {
  type Announced,
  advance,
  beyondReasons,
  type Entry,
  type FollowedSequence,
  findNewestListed,
  type Position,
  type ReadOnOptions,
  readNewer,
  refuseUnknownState,
  withLost,
} from '../../store/sequence/sequence.ts';

/** The state of repeated reads of a sequence: each read continues from the last position. */
export interface Reading<T> {
  /** Undefined before the first successful read. */
  readonly position: Position<T> | undefined;
  /** The reason why the last read failed; undefined when it succeeded. */
  readonly failure: AppError | undefined;
}

/** The result of {@link readOn}. */
interface ReadOn<T> {
  readonly position: Position<T>;
  /**
   * The reason why the service must not use the documents above the position; undefined when there are no such
   * documents.
   */
  readonly failure: AppError | undefined;
  /** A later document that was deleted; undefined when no document was deleted. */
  readonly lost: Announced | undefined;
}

interface Following<T> extends ReadOnOptions<T> {
  readonly unknown: UnknownState<T>;
  /** The highest number that another document names. */
  readonly announced?: Announced | undefined;
  /** Says whether to list the sequence now, when `announced` is above the newest number. */
  readonly lookForLost?: () => boolean;
}

/**
 * Continues to read from a position; without a position, finds the newest document.
 *
 * @throws AppError `document_corrupt` when the present state is unknown; `store_unavailable`, `store_denied`
 */
export async function readOn<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T> & FollowedSequence,
  position: Position<T> | undefined,
  { unknown, announced, lookForLost, ...options }: Following<T>,
): Promise<ReadOn<T>> {
  const { refusals, verify } = options;
  if (position === undefined) {
    const found = await findNewestListed(store, sequence, unknown.newest, refusals);
    unknown.newest = found.newest;
    refuseUnknownState(sequence, withLost(sequence, found, announced));
    return { position: found, failure: undefined, lost: undefined };
  }
  // Starts at the last readable document, so it reads corrupt documents again: an operator may have repaired them.
  const newer = await readNewer(store, sequence, position.newest?.number ?? 0, options);
  const next = advance(sequence, position, newer);
  const isLost = announced !== undefined && announced.number > next.last;
  if (newer.failure !== undefined || !isLost) {
    return { position: next, failure: newer.failure, lost: undefined };
  }
  if (lookForLost?.() !== true) return { position: next, failure: undefined, lost: announced };
  // The read ends at a hole. A document after the hole may be the newest.
  const found = await findNewestListed(store, sequence, next.newest, refusals);
  const isNewer = found.newest !== undefined && found.newest.number > (next.newest?.number ?? 0);
  const failure = isNewer ? verify?.(found.newest, next.newest) : undefined;
  const end = isNewer && failure === undefined ? found : next;
  return { position: end, failure, lost: announced.number > found.last ? announced : undefined };
}

/** Remembers the newest readable document while the present state is unknown, so that no poll reads it again. */
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
    ...beyondReasons(position ?? {}, keyOf),
  ];
}

/**
 * Says why clients get no answer from these reads, as sentences that any client may see: without a host or a bucket. A
 * corrupt document is no outage of the store, and no client mends it by asking again.
 *
 * @param isLost true when another document names one that is gone
 */
export function whyUnusable<T>({ position, failure }: Reading<T>, isLost = false): string {
  if (failure !== undefined && isUnusable(failure)) return failure.message;
  const isWhole = (position?.corrupt.length ?? 0) === 0 && (position?.holes.length ?? 0) === 0;
  if (failure?.kind === 'corrupt' || (failure === undefined && (isLost || !isWhole))) {
    return 'a document of it is corrupt or missing in the object store, or its signatures do not count. The operator finds it with "slipway verify".';
  }
  if (failure === undefined) return 'the service is still reading it. Try again shortly.';
  if (failure.kind === 'unavailable') {
    return 'the object store does not answer. Try again shortly.';
  }
  return `the object store cannot be read (${failure.code}). The operator finds the reason in the log.`;
}

/** Every visitor can read the service's health, so hosts, buckets and directories must appear only in the log. */
function publicSentence(error: AppError): string {
  return error.kind === 'corrupt' || error.code === 'state_changed' || isUnusable(error)
    ? error.message
    : `The object store cannot be read (${error.code}).`;
}

export function asAppError(error: unknown): AppError {
  return isAppError(error) ? error : new AppError('internal', String(error), { cause: error });
}
