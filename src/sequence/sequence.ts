import { AppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { isPresent } from '../object-store/presence.ts';
import { type CorruptBytes, type ReadableSequence, readChecked } from './read-checked.ts';

/**
 * Numbered immutable documents: everything that changes over time is one of these.
 *
 * Document 1 is the first; creating number N+1 *is* the change. Readers ask for N+1 until there is
 * none: a miss (404, and only 404) means that N is the newest.
 */
export interface Sequence<T> {
  /** For messages: `catalog of desktop`. */
  readonly name: string;
  key(number: number): string;
  render(document: T): Uint8Array;
  /** A promise for large documents. @throws AppError `document_corrupt`, `document_newer` */
  parse(bytes: Uint8Array, number: number): T | Promise<T>;
  /** Fixed for the life of a change, so that its author recognises it after an unclear answer. */
  changeId(document: T): string;
  readonly documentBytesMax: number;
  /** Where the marker of its end would be; undefined for one that never ends. See `end.ts`. */
  readonly endKey?: string;
  /**
   * What a newest document means that is proven corrupt. `unknown`: it may have withdrawn something, so
   * the present state is unknown: readers and writers refuse to go on from the one before until a person
   * allows it. `skipped`: the one before counts.
   */
  readonly corruptNewest: 'unknown' | 'skipped';
}

export interface Entry<T> {
  readonly number: number;
  readonly document: T;
}

/** A number whose document is proven corrupt: truncated, altered, not what its key says. */
export interface Damage {
  readonly number: number;
  readonly reason: string;
  /** Of its bytes, in hex; null when they are too many to read. */
  readonly sha256: string | null;
  /** The store's tag of these bytes: while it is the same, they need not be proven again. */
  readonly etag: string;
}

export interface Newer<T> {
  /** The readable documents above the starting number, oldest first. */
  readonly entries: readonly Entry<T>[];
  readonly corrupt: readonly Damage[];
  /** The highest number that is taken, readable or not. */
  readonly last: number;
}

export interface Position<T> {
  readonly newest: Entry<T> | undefined;
  /** Corrupt documents above `newest`. */
  readonly corrupt: readonly Damage[];
  readonly last: number;
  /** Numbers below `last` that are known to be missing: someone deleted them. */
  readonly holes: readonly number[];
}

/**
 * One document; undefined when the number is free.
 *
 * @throws AppError `document_corrupt` once that is proven, `document_newer`, and the store's
 */
export async function readDocument<T>(
  store: ObjectStore,
  sequence: ReadableSequence<T>,
  number: number,
): Promise<T | undefined> {
  const read = await readChecked(store, sequence, number);
  if (read === undefined) return undefined;
  if ('corrupt' in read) throw read.corrupt.error;
  return read.document;
}

/** As {@link readDocument}, and undefined for a corrupt one as well: for lists, which show the others. */
export async function readSoundDocument<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  number: number,
): Promise<T | undefined> {
  const read = await readChecked(store, sequence, number);
  return read === undefined || 'corrupt' in read ? undefined : read.document;
}

/**
 * Every document above `after`, in one request more than there are documents.
 *
 * Probes past corrupt ones, since a corrupt document must not stop everything after it.
 *
 * @param known what was proven corrupt before: not proven again while its tag is the same
 * @throws AppError `document_newer`: a newer release of this software has written there
 */
export async function readNewer<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  after: number,
  known: readonly Damage[] = [],
): Promise<Newer<T>> {
  const entries: Entry<T>[] = [];
  const corrupt: Damage[] = [];
  for (let number = after + 1; ; number++) {
    const before = known.find((damage) => damage.number === number);
    const read = await readChecked(store, sequence, number, before?.etag);
    if (read === undefined) return { entries, corrupt, last: number - 1 };
    if ('corrupt' in read) corrupt.push(before ?? damageOf(number, read.corrupt));
    else entries.push({ number, document: read.document });
  }
}

/**
 * The newest readable document, found in O(log n) requests.
 *
 * Gallops to a free number, bisects to the last taken one, then steps back over corrupt documents:
 * whether the one before counts is for {@link refuseUnknownState} to say.
 */
export async function findNewest<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
): Promise<Position<T>> {
  return stepBack(store, sequence, await findLast(store, sequence), []);
}

/**
 * As {@link findNewest}, cross-checked with one listing: galloping takes a hole for the end, and a
 * number that a deletion hid must neither be overlooked nor given away again.
 */
export async function findNewestListed<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
): Promise<Position<T>> {
  const found = await findLast(store, sequence);
  const above = await listNumbers(store, sequence, found);
  const last = above.at(-1) ?? found;
  const listed = new Set(above);
  const holes: number[] = [];
  for (let number = found + 1; number < last; number++) {
    if (!listed.has(number)) holes.push(number);
  }
  return stepBack(store, sequence, last, holes);
}

/**
 * The highest number that is taken, as galloping finds it.
 *
 * @param from a number that is taken, or 0
 */
export async function findLast<T>(
  store: ObjectStore,
  sequence: Pick<Sequence<T>, 'key'>,
  from = 0,
): Promise<number> {
  const isTaken = (number: number): Promise<boolean> => isPresent(store, sequence.key(number));
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

/** The numbers above `after` that a listing names, in order. */
async function listNumbers<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  after = 0,
): Promise<readonly number[]> {
  const first = sequence.key(1);
  const prefix = first.slice(0, first.lastIndexOf('/') + 1);
  // Numbers without leading zeros are not listed in their order: all of them are looked at then.
  const isOrdered = first.length === sequence.key(10).length;
  const start = isOrdered && after > 0 ? { after: sequence.key(after) } : {};
  const numbers: number[] = [];
  for await (const { key } of store.list(prefix, start)) {
    const number = Number(/(\d{1,15})\.[a-z]+$/.exec(key)?.[1] ?? 0);
    if (number > after && sequence.key(number) === key) numbers.push(number);
  }
  return numbers.sort((a, b) => a - b);
}

async function stepBack<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  last: number,
  holes: readonly number[],
): Promise<Position<T>> {
  const corrupt: Damage[] = [];
  const missing = new Set(holes);
  for (let number = last; number > 0; number--) {
    if (missing.has(number)) continue;
    const read = await readChecked(store, sequence, number);
    if (read !== undefined && 'document' in read) {
      const newest = { number, document: read.document };
      return { newest, corrupt: corrupt.reverse(), last, holes: sorted(missing) };
    }
    if (read === undefined) missing.add(number);
    else corrupt.push(damageOf(number, read.corrupt));
  }
  return { newest: undefined, corrupt: corrupt.reverse(), last, holes: sorted(missing) };
}

const sorted = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);

function damageOf(number: number, { error, sha256, etag }: CorruptBytes): Damage {
  return { number, reason: error.message, sha256, etag };
}

/** The position after reading on from it. */
export function advance<T>(position: Position<T>, newer: Newer<T>): Position<T> {
  const newest = newer.entries.at(-1) ?? position.newest;
  // Reading on from the last readable document meets the same damage again.
  const known = new Map(
    [...position.corrupt, ...newer.corrupt].map((damage) => [damage.number, damage]),
  );
  const corrupt = [...known.values()].filter((damage) => damage.number > (newest?.number ?? 0));
  return { newest, corrupt, last: newer.last, holes: position.holes };
}

/**
 * Where a corrupt newest document means that the present state is unknown: refuses to go on from the one
 * before, unless a person has allowed it for each of these numbers.
 *
 * @throws AppError `document_corrupt`, with the option that allows it
 */
export function refuseUnknownState<T>(
  sequence: Sequence<T>,
  { corrupt, newest }: Position<T>,
  allowed: readonly number[] = [],
): void {
  if (sequence.corruptNewest === 'skipped') return;
  const refused = corrupt.filter(({ number }) => !allowed.includes(number));
  if (refused.length === 0) return;
  const numbers = corrupt.map(({ number }) => number);
  const before = newest === undefined ? 'an empty state' : `number ${newest.number}`;
  throw new AppError(
    'document_corrupt',
    `The present state of the ${sequence.name} is unknown: ${refused.map(({ reason }) => reason).join(' ')} It may have been a withdrawal. Restore the object from a backup. To go on from ${before} instead, run the same command with ${numbers.map((number) => `--skip-corrupt ${number}`).join(' ')}; check with "slipway releases" afterwards.`,
  );
}
