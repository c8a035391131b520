import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import { findNear, isListedInOrder } from './find-near.ts';
import {
  type CorruptBytes,
  isUnusable,
  type ReadableSequence,
  type ReadObject,
  type Refusals,
  readChecked,
} from './read-checked.ts';

/**
 * Numbered immutable documents. Everything that changes over time is a sequence.
 *
 * Document 1 is the first, and creating number N+1 *is* the change. Readers ask for N+1 until it is missing:
 * a miss (404, and only 404) means that N is the newest.
 */
export interface Sequence<T> extends ReadableSequence<T> {
  /** For messages: `catalog of desktop`. */
  readonly name: string;
  render(document: T): Uint8Array;
  /**
   * The id of the change that made a document. After an unclear answer, the writer recognizes its own document by this
   * id.
   */
  changeId(document: T): string;
  /**
   * The key of the object that marks the end of the sequence; undefined for a sequence that never ends. See `end.ts`.
   */
  readonly endKey?: string;
  /**
   * Says how readers and writers treat a newest document that is proven corrupt. `unknown`: the document may have
   * withdrawn something, so the present state is unknown. Readers and writers refuse to use the document before it
   * until an operator allows that. `skipped`: readers and writers use the document before it.
   */
  readonly corruptNewest: 'unknown' | 'skipped';
  /** A sentence for messages, which says what a corrupt newest document may have contained. */
  readonly loss?: string | undefined;
  /**
   * The highest number that a document outside this sequence names. When this number is above the newest number, the
   * document with this number was deleted.
   *
   * @param newest the newest readable document
   */
  announced?(store: ObjectStore, newest: T | undefined): Promise<Announced | undefined>;
}

/** A number of a sequence that another document names. */
export interface Announced {
  readonly number: number;
  /** The key of the other document. */
  readonly by: string;
}

/** The part of a sequence that tells whether its present state is known. */
export type FollowedSequence = Pick<Sequence<unknown>, 'name' | 'key' | 'corruptNewest' | 'loss'>;

export interface Entry<T> {
  readonly number: number;
  readonly document: T;
}

/** A document that was deleted, or is proven corrupt: it is truncated or altered, or does not match its key. */
interface CorruptDocument {
  readonly number: number;
  /**
   * When this document was deleted together with other documents: the highest number of all these documents. A caller
   * that allows skipping this number also allows skipping this document.
   */
  readonly lostWith?: number;
  readonly reason: string;
  /** SHA-256 of its bytes, in hex; null when the object is too large to be read. */
  readonly sha256: string | null;
}

export interface Newer<T> {
  /** The readable documents above the starting number, oldest first. */
  readonly entries: readonly Entry<T>[];
  readonly corrupt: readonly CorruptDocument[];
  /** The highest number that is taken, by a readable or a corrupt document. */
  readonly last: number;
  /** The reason why the document after `last` must not be used; undefined when there is none. */
  readonly failure: AppError | undefined;
}

export interface Position<T> {
  readonly newest: Entry<T> | undefined;
  /** Corrupt documents above `newest`. */
  readonly corrupt: readonly CorruptDocument[];
  readonly last: number;
  /** Numbers below `last` that are known to be missing: their documents were deleted. */
  readonly holes: readonly number[];
  /**
   * Corrupt documents that are beyond the reach of the sequence: see {@link ReadableSequence.reach}. They are never the
   * newest, and no writer skips them. Absent: none.
   */
  readonly beyond?: readonly CorruptDocument[] | undefined;
  /** A number that another document names, and that is too far above `last` to be skipped. Absent: none. */
  readonly unreachable?: Announced | undefined;
}

/**
 * Reads one document; undefined when the number is free.
 *
 * @throws AppError `document_corrupt` when the document is proven corrupt, `document_newer`, `store_unavailable`,
 *   `store_denied`
 */
export async function readDocument<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
  refusals?: Refusals,
): Promise<T | undefined> {
  const read = await readChecked(store, sequence, number, refusals);
  if (read === undefined) return undefined;
  if ('corrupt' in read) throw read.corrupt.error;
  return read.document;
}

/**
 * Like {@link readDocument}, but returns undefined for a corrupt document as well. Lists use it: they leave the corrupt
 * document out and show the other documents.
 */
export async function readSoundDocument<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
): Promise<T | undefined> {
  const read = await readChecked(store, sequence, number);
  return read === undefined || 'corrupt' in read ? undefined : read.document;
}

/**
 * Reads every document above `after`, with one request for each document and one request more. Ends at a document that
 * this process cannot use, such as one of a newer schema, and at a document that `verify` rejects.
 *
 * Continues after corrupt documents, which must not hide later documents.
 */
export async function readNewer<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  after: number,
  { refusals, verify }: ReadOnOptions<T> = {},
): Promise<Newer<T>> {
  const entries: Entry<T>[] = [];
  const corrupt: CorruptDocument[] = [];
  const read: ReadObject[] = [];
  for (let number = after + 1; ; number++) {
    const next = await readChecked(store, sequence, number, refusals).catch((error: unknown) => {
      if (!isAppError(error) || !(error.kind === 'corrupt' || isUnusable(error))) throw error;
      return error;
    });
    const last = number - 1;
    // Returns the documents before this document, so that no poll reads them again.
    if (isAppError(next)) return { entries, corrupt, last, failure: next };
    if (next === undefined) return { entries, corrupt, last, failure: undefined };
    if ('corrupt' in next) {
      corrupt.push(corruptDocument(number, next.corrupt));
      read.push({ key: sequence.key(number), etag: next.corrupt.etag });
      continue;
    }
    const entry = { number, document: next.document };
    read.push({ key: sequence.key(number), etag: next.etag });
    const failure = verify?.(entry, entries.at(-1));
    if (failure !== undefined) {
      // Any of these documents may be wrong, so the process refuses them all.
      refusals?.noteChain(read, failure);
      return { entries: [], corrupt: [], last: after, failure };
    }
    entries.push(entry);
  }
}

/** Options for a read that starts at a position of a sequence. */
export interface ReadOnOptions<T> {
  readonly refusals?: Refusals | undefined;
  /**
   * @returns the reason to reject a document; undefined when it is sound. `before`: the document that was read just
   *   before it, if any
   */
  readonly verify?:
    | ((entry: Entry<T>, before: Entry<T> | undefined) => AppError | undefined)
    | undefined;
}

/**
 * Finds the newest readable document, in O(log n) requests.
 *
 * Gallops to a free number, bisects to the last taken number, then goes back until it finds a readable document. When
 * corrupt documents follow this document, {@link refuseUnknownState} decides whether the caller may use it.
 *
 * @param known a document that was read or written before: the search begins there
 */
export async function findNewest<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  known?: Entry<T>,
): Promise<Position<T>> {
  const found = await findLast(store, sequence, known?.number);
  return stepBack(store, sequence, { found, above: [], holes: [] }, known);
}

/**
 * Like {@link findNewest}, but also makes one listing, because galloping mistakes a hole for the end. A process must
 * not overlook a document behind a hole, and must not use the number of this document again.
 */
export async function findNewestListed<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  known?: Entry<T>,
  refusals?: Refusals,
): Promise<Position<T>> {
  const taken = await findTaken(store, sequence, known?.number);
  return stepBack(store, sequence, taken, known, refusals);
}

/**
 * Like {@link findNewestListed}, for a publisher who waits: it sends requests at the same time. Also reads the documents
 * that name numbers of the sequence. When such a document names a number above the newest number, documents of the
 * sequence were deleted. They count as corrupt newest documents.
 *
 * @param named a number that the caller found in another document
 */
export async function findPresent<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  known?: Entry<T>,
  named?: Announced,
): Promise<Position<T>> {
  const announcedTo = async (newest: T | undefined) => sequence.announced?.(store, newest);
  const [found, early] = await Promise.all([
    findNewestAtOnce(store, sequence, known),
    known && announcedTo(known.document),
  ]);
  const announced = known === undefined ? await announcedTo(found.newest?.document) : early;
  const highest = higher(announced, named);
  if (highest === undefined || highest.number <= found.last) return found;
  // Another writer may have committed and announced the document meanwhile.
  return withLost(sequence, await findNewestListed(store, sequence, found.newest), highest);
}

/** Like {@link findNewestListed}, with fewer requests one after another. */
async function findNewestAtOnce<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  known: Entry<T> | undefined,
): Promise<Position<T>> {
  const near = known?.number ?? (await findNear(store, sequence));
  const [listed, found] = await Promise.all([
    listNumbers(store, sequence, near),
    isPresent(store, sequence.key(near + 1)),
  ]);
  const gap = listed.findIndex((number, index) => number !== near + 1 + index);
  const run = near + (gap < 0 ? listed.length : gap);
  // A listing may be out of date: only the probe of a free number ends the search.
  const isEnd = run === near && !found;
  const [last, ahead] = await Promise.all([
    isEnd ? near : findLast(store, sequence, run),
    run === 0 || run === known?.number ? undefined : readChecked(store, sequence, run),
  ]);
  const entry = ahead !== undefined && 'document' in ahead ? { number: run, ...ahead } : known;
  return stepBack(store, sequence, takenFrom(last, listed), entry);
}

export function higher(a: Announced | undefined, b: Announced | undefined): Announced | undefined {
  return (a?.number ?? 0) > (b?.number ?? 0) ? a : b;
}

/** A document that skips deleted documents names at most this many of them. */
const LOST_MAX = 200;

/**
 * Adds the deleted documents at the end of a position, up to a number that another document names. An attacker can name
 * any number, so no message asks an operator to skip more than {@link LOST_MAX} documents.
 */
export function withLost<T>(
  sequence: ReadableSequence<T>,
  position: Position<T>,
  announced: Announced | undefined,
): Position<T> {
  const { last } = position;
  if (announced === undefined || announced.number <= last) return position;
  const first = Math.max(last, announced.number - LOST_MAX) + 1;
  if (first > last + 1) return { ...position, unreachable: announced };
  const lost = Array.from({ length: announced.number - first + 1 }, (_, index) => ({
    number: first + index,
    reason: lostReason(sequence.key(first + index), announced, last),
    sha256: null,
    lostWith: announced.number,
  }));
  return { ...position, corrupt: [...position.corrupt, ...lost], last: announced.number };
}

/**
 * A sentence about a number that another document names and the store lacks.
 *
 * @param last the newest stored number
 */
export function lostReason(key: string, { number, by }: Announced, last: number): string {
  if (number <= last + LOST_MAX) {
    return `${key} is missing, and ${by} names it or a later one: it was deleted.`;
  }
  return `${by} names ${key}, and the newest stored number is ${last}. Restore the objects between them from a backup. If they never existed, delete this object: ${by}.`;
}

/** Sentences about corrupt documents that are too far above the newest document; at most ten. */
export function beyondReasons(
  { beyond = [] }: Pick<Position<unknown>, 'beyond'>,
  keyOf: (number: number) => string,
): readonly string[] {
  return beyond
    .slice(0, 10)
    .map(
      ({ number }) =>
        `${keyOf(number)} is corrupt, and too far above the newest document to follow it. It is ignored. Delete this object.`,
    );
}

/** The numbers of a sequence that are taken. */
interface Taken {
  /** The number that galloping finds. */
  readonly found: number;
  /** The numbers above `found` that a listing names, in ascending order. */
  readonly above: readonly number[];
  /**
   * The missing numbers between `found` and the highest number of `above`, in ascending order; at most
   * {@link HOLES_MAX} numbers.
   */
  readonly holes: readonly number[];
}

/**
 * The limit on holes: an attacker can create number 9,999,999,999, and the missing numbers below it must not fill the
 * memory.
 */
const HOLES_MAX = 1_000;

/** Finds the taken numbers by galloping and with one listing. @param from a number that is taken, or 0 */
async function findTaken<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  from = 0,
): Promise<Taken> {
  const found = await findLast(store, sequence, from);
  return takenFrom(found, await listNumbers(store, sequence, found));
}

/**
 * Finds every taken number, and the missing numbers below the highest, in ascending order. A check uses it: an attacker
 * can mislead galloping, and cannot mislead a listing.
 */
export async function findEvery<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
): Promise<readonly number[]> {
  const listed = await listNumbers(store, sequence);
  const gap = listed.findIndex((number, index) => number !== index + 1);
  const run = gap < 0 ? listed.length : gap;
  // A listing may be out of date.
  const found = Math.min(await findLast(store, sequence, run), run + HOLES_MAX);
  const { above, holes } = takenFrom(found, listed);
  const first = Array.from({ length: found }, (_, index) => index + 1);
  return [...first, ...[...above, ...holes].sort((a, b) => a - b)];
}

/** @param named numbers that a listing names, in ascending order */
function takenFrom(found: number, named: readonly number[]): Taken {
  const above = named.filter((number) => number > found);
  const last = above.at(-1) ?? found;
  const listed = new Set(above);
  const holes: number[] = [];
  for (let number = found + 1; number < last && holes.length < HOLES_MAX; number++) {
    if (!listed.has(number)) holes.push(number);
  }
  return { found, above, holes };
}

/**
 * Finds the highest taken number by galloping.
 *
 * @param from a number that is taken, or 0
 */
export async function findLast<T>(
  store: ObjectStore,
  sequence: Pick<Sequence<T>, 'key'>,
  from = 0,
): Promise<number> {
  // Above the largest safe integer, adding 1 changes nothing. An attacker may name such a number, and the search would not
  // end.
  const isTaken = async (number: number): Promise<boolean> =>
    Number.isSafeInteger(number) && (await isPresent(store, sequence.key(number)));
  let taken = from;
  let step = 1;
  while (await isTaken(taken + step)) {
    taken += step;
    step = Math.max(1, taken - from);
  }
  let free = taken + step;
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return taken;
}

/** The numbers above `after` that a listing names, in ascending order. */
export async function listNumbers<T>(
  store: ObjectStore,
  sequence: Pick<ReadableSequence<T>, 'key'>,
  after = 0,
): Promise<readonly number[]> {
  const first = sequence.key(1);
  const prefix = first.slice(0, first.lastIndexOf('/') + 1);
  const start = after > 0 && isListedInOrder(sequence) ? { after: sequence.key(after) } : {};
  const numbers: number[] = [];
  for await (const { key } of store.list(prefix, start)) {
    const number = Number(/(\d{1,15})\.[a-z]+$/.exec(key)?.[1] ?? 0);
    if (number > after && sequence.key(number) === key) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}

/**
 * Goes down from the highest taken number to the first readable document.
 *
 * An attacker can store objects at the numbers that galloping probes. Galloping then finds a number far above the newest
 * document. So from the first missing number on, this function goes down by a listing.
 */
async function stepBack<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  { found, above, holes }: Taken,
  known: Entry<T> | undefined,
  refusals?: Refusals,
): Promise<Position<T>> {
  const corrupt: CorruptDocument[] = [];
  const missing = new Set(holes);
  const ahead = [...above];
  let listed: number[] | undefined;
  let number = ahead.pop() ?? found;
  const last = number;
  let newest: Entry<T> | undefined;
  while (number > 0) {
    const read =
      number === known?.number ? known : await readChecked(store, sequence, number, refusals);
    if (read !== undefined && 'document' in read) {
      newest = { number, document: read.document };
      break;
    }
    if (read === undefined) missing.add(number);
    else corrupt.push(corruptDocument(number, read.corrupt));
    const isBelow = number <= found;
    if (read === undefined && isBelow) {
      const end = number;
      listed ??= (await listNumbers(store, sequence)).filter((each) => each < end);
    }
    if (!isBelow) number = ahead.pop() ?? found;
    else number = listed === undefined ? number - 1 : (listed.pop() ?? 0);
  }
  const position = { newest, corrupt: corrupt.reverse(), last, holes: sorted(missing) };
  return withinReach(sequence, position);
}

/** Sets the corrupt documents aside that are too far above the newest readable document. */
function withinReach<T>(
  { reach = Number.POSITIVE_INFINITY }: ReadableSequence<T>,
  position: Position<T>,
): Position<T> {
  const { newest, corrupt, last, holes, beyond = [] } = position;
  // The next writer takes the number after `last`, and this number must be within reach, too.
  const end = (newest?.number ?? 0) + reach;
  if (last < end) return position;
  const near = corrupt.filter(({ number }) => number < end);
  const far = new Map([...beyond, ...corrupt].map((each) => [each.number, each]));
  for (const { number } of near) far.delete(number);
  const top = Math.max(newest?.number ?? 0, near.at(-1)?.number ?? 0);
  return {
    ...position,
    corrupt: near,
    last: top,
    holes: holes.filter((number) => number < top),
    beyond: [...far.values()].sort((a, b) => a.number - b.number),
  };
}

const sorted = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);

function corruptDocument(number: number, { error, sha256 }: CorruptBytes): CorruptDocument {
  return { number, reason: error.message, sha256 };
}

/** The position after a read that started at `position`. */
export function advance<T>(
  sequence: ReadableSequence<T>,
  position: Position<T>,
  newer: Omit<Newer<T>, 'failure'>,
): Position<T> {
  const newest = newer.entries.at(-1) ?? position.newest;
  // Keeps each document once: a read that starts at the newest readable document reads the same corrupt documents
  // again.
  const known = new Map(
    [...position.corrupt, ...newer.corrupt].map((document) => [document.number, document]),
  );
  const corrupt = [...known.values()].filter(({ number }) => number > (newest?.number ?? 0));
  const beyond = position.beyond?.filter(({ number }) => number > newer.last);
  return withinReach(sequence, {
    newest,
    corrupt,
    last: newer.last,
    holes: position.holes,
    beyond,
  });
}

/**
 * When a corrupt newest document makes the present state unknown, refuses to use the document before it, unless the
 * operator has allowed that for each corrupt number.
 *
 * @throws AppError `document_corrupt`; its message names the option that allows the use
 */
export function refuseUnknownState<T>(
  sequence: FollowedSequence,
  { corrupt, newest, last, beyond, unreachable }: Position<T>,
  allowed: readonly number[] = [],
): void {
  if (sequence.corruptNewest === 'skipped') return;
  const unknown = (why: string): AppError =>
    new AppError(
      'document_corrupt',
      `The present state of the ${sequence.name} is unknown: ${why}`,
    );
  if (unreachable !== undefined) {
    throw unknown(lostReason(sequence.key(unreachable.number), unreachable, last));
  }
  const refused = corrupt.filter(
    ({ number, lostWith = number }) => !allowed.includes(number) && !allowed.includes(lostWith),
  );
  const isFull = beyond?.some(({ number }) => number === last + 1);
  if (isFull === true) {
    throw unknown(
      `${sequence.key((newest?.number ?? 0) + 1)} and every object after it are corrupt, up to ${sequence.key(last + 1)} or further. No change can step over so many. Delete these objects.`,
    );
  }
  if (refused.length === 0) return;
  // When several documents were deleted together, the message names only the document with the highest number.
  const isTold = ({ number, lostWith = number }: CorruptDocument): boolean => number === lostWith;
  const reasons = refused.filter(isTold).map(({ reason }) => reason);
  const options = corrupt.filter(isTold).map(({ number }) => `--skip-corrupt ${number}`);
  const before = newest === undefined ? 'an empty state' : `number ${newest.number}`;
  const why = [...reasons, sequence.loss ?? ''].join(' ').trim();
  throw unknown(
    `${why} Restore the object from a backup. To continue from ${before} instead, run the same command with ${options.join(' ')}; check with "slipway releases" afterwards.`,
  );
}
