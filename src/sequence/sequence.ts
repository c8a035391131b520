import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';

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
  /** @throws AppError `document_corrupt`, `document_newer` */
  parse(bytes: Uint8Array, number: number): T;
  /** Fixed for the life of a change, so that its author recognises it after an unclear answer. */
  changeId(document: T): string;
  readonly documentBytesMax: number;
  /** Where the marker of its end would be; undefined for one that never ends. See `end.ts`. */
  readonly endKey?: string;
}

export interface Entry<T> {
  readonly number: number;
  readonly document: T;
}

/** A number whose document cannot be read: truncated, altered, not what its key says. */
export interface Damage {
  readonly number: number;
  readonly reason: string;
}

export interface Newer<T> {
  /** The readable documents above the starting number, oldest first. */
  readonly entries: readonly Entry<T>[];
  readonly damaged: readonly Damage[];
  /** The highest number that is taken, readable or not. */
  readonly last: number;
}

export interface Position<T> {
  readonly newest: Entry<T> | undefined;
  /** Unreadable documents above `newest`. */
  readonly damaged: readonly Damage[];
  readonly last: number;
}

/**
 * One document; undefined when the number is free.
 *
 * @throws AppError `document_corrupt`, `document_newer`, and the store's
 */
export async function readDocument<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  number: number,
): Promise<T | undefined> {
  const key = sequence.key(number);
  const object = await store.get(key, { bytesMax: sequence.documentBytesMax }).catch((error) => {
    if (!isAppError(error, 'document_too_large')) throw error;
    throw new AppError('document_corrupt', `${key} is larger than any document of its kind.`, {
      cause: error,
    });
  });
  return object === undefined ? undefined : sequence.parse(object.body, number);
}

/** As {@link readDocument}, and undefined for a damaged one as well: for lists, which show the others. */
export async function readSoundDocument<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  number: number,
): Promise<T | undefined> {
  try {
    return await readDocument(store, sequence, number);
  } catch (error) {
    if (!isAppError(error, 'document_corrupt')) throw error;
    return undefined;
  }
}

/**
 * Every document above `after`, in one request more than there are documents.
 *
 * Probes past damaged ones, since a damaged document must not stop everything after it.
 *
 * @throws AppError `document_newer`: a newer release of this software has written there
 */
export async function readNewer<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  after: number,
): Promise<Newer<T>> {
  const entries: Entry<T>[] = [];
  const damaged: Damage[] = [];
  for (let number = after + 1; ; number++) {
    try {
      const document = await readDocument(store, sequence, number);
      if (document === undefined) return { entries, damaged, last: number - 1 };
      entries.push({ number, document });
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
      damaged.push({ number, reason: error.message });
    }
  }
}

/**
 * The newest readable document, found in O(log n) requests.
 *
 * Gallops to a free number, bisects to the last taken one, then steps back over damaged documents.
 */
export async function findNewest<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
): Promise<Position<T>> {
  const isTaken = async (number: number): Promise<boolean> =>
    (await store.head(sequence.key(number))) !== undefined;
  let taken = 0;
  let free = 1;
  while (await isTaken(free)) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return stepBack(store, sequence, taken);
}

async function stepBack<T>(
  store: ObjectStore,
  sequence: Sequence<T>,
  last: number,
): Promise<Position<T>> {
  const damaged: Damage[] = [];
  for (let number = last; number > 0; number--) {
    try {
      const document = await readDocument(store, sequence, number);
      if (document !== undefined) {
        return { newest: { number, document }, damaged: damaged.reverse(), last };
      }
      damaged.push({ number, reason: `${sequence.key(number)} is missing.` });
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
      damaged.push({ number, reason: error.message });
    }
  }
  return { newest: undefined, damaged: damaged.reverse(), last };
}

/** The position after reading on from it. */
export function advance<T>(position: Position<T>, newer: Newer<T>): Position<T> {
  const newest = newer.entries.at(-1) ?? position.newest;
  // Who reads on from the last readable document meets the same damage again.
  const known = new Map(
    [...position.damaged, ...newer.damaged].map((damage) => [damage.number, damage]),
  );
  const damaged = [...known.values()].filter((damage) => damage.number > (newest?.number ?? 0));
  return { newest, damaged, last: newer.last };
}
