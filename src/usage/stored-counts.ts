import pLimit from 'p-limit';
import { AppError, isAppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { ReadableSequence } from '../store/sequence/read-checked.ts';
import { readDocument } from '../store/sequence/sequence.ts';
import { type Snapshot, snapshotsOf, type Total, totals } from './documents.ts';
import type { ListedObject, Listing } from './listing.ts';

/**
 * The stored counts of all processes, as this process has read them: the newest total, and the newest snapshot of each
 * counter that the total does not have. The numbers of the total and of the snapshots only rise, so it is harmless to
 * read an object twice or late, or to use a listing that lacks the newest objects.
 */
export interface StoredCounts {
  total(): Total | undefined;
  snapshots(): ReadonlyMap<string, Snapshot>;
  /** Uses this total from now on, unless this process knows a newer total. */
  addTotal(total: Total): void;
  /** Counts the snapshot, unless the total has its counter, or this process knows a newer snapshot of the counter. */
  addSnapshot(snapshot: Snapshot): void;
  /** @throws AppError `document_newer` */
  readTotal(listing: Listing): Promise<void>;
  /**
   * Reads the newest snapshots of all counters except one.
   *
   * @param own the counter of this process, whose counts are in memory; undefined for a process that counts nothing
   */
  readSnapshots(
    listing: Listing,
    own: string | undefined,
    onProgress?: (done: number, of: number) => void,
  ): Promise<void>;
  readSnapshot(counter: string, number: number): Promise<Snapshot | Unreadable>;
  /** True when this process has read the newest listed snapshot of the counter, or found it corrupt. */
  hasNewest(counter: string, listed: readonly ListedObject[]): boolean;
  /** The documents that were left out, by key. */
  unreadable(): ReadonlyMap<string, UnreadableDocument>;
  /** Drops all snapshots from memory. The store has the snapshots that still count. */
  forgetSnapshots(): void;
}

/** `missing`: the store has no such object. `newer`: a newer release of this software has written it. */
type Unreadable = 'missing' | 'corrupt' | 'newer';

/** A document that is not counted. */
export interface UnreadableDocument {
  /** `newer`: a newer release of this software has written it. */
  readonly problem: 'corrupt' | 'newer';
  readonly reason: string;
}

const READS_AT_ONCE = 8;

interface StoredCountsDeps {
  readonly store: ObjectStore;
  readonly log: Log;
}

export function createStoredCounts(deps: StoredCountsDeps): StoredCounts {
  const { read, unreadable } = createReader(deps);
  const snapshots = new Map<string, Snapshot>();
  let total: Total | undefined;

  const addTotal = (newer: Total): void => {
    if (newer.number <= (total?.number ?? 0)) return;
    total = newer;
    for (const counter of newer.counters.keys()) snapshots.delete(counter);
  };

  const lastOf = (counter: string): number => snapshots.get(counter)?.number ?? 0;

  const addSnapshot = (snapshot: Snapshot): void => {
    const { counter, number } = snapshot;
    if (total?.counters.has(counter) !== true && number > lastOf(counter)) {
      snapshots.set(counter, snapshot);
    }
  };

  const readNewest = async (counter: string, listed: readonly ListedObject[]): Promise<void> => {
    for (const { number } of listed) {
      if (number <= lastOf(counter)) return;
      const snapshot = await read(snapshotsOf(counter), number);
      if (snapshot === 'newer') return;
      if (snapshot === 'corrupt' || snapshot === 'missing') continue;
      addSnapshot(snapshot);
      return;
    }
  };

  return {
    total: () => total,
    snapshots: () => snapshots,
    addTotal,
    addSnapshot,
    readTotal: async (listing) => {
      for (const { number } of listing.totals) {
        if (number <= (total?.number ?? 0)) return;
        const newer = await read(totals, number);
        if (newer === 'newer') {
          const why = `${totals.key(number)} was written by a newer Slipway: upgrade this one.`;
          throw new AppError('document_newer', why);
        }
        if (newer === 'corrupt' || newer === 'missing') continue;
        addTotal(newer);
        return;
      }
    },
    readSnapshots: async (listing, own, onProgress) => {
      const limit = pLimit(READS_AT_ONCE);
      const wanted = [...listing.counters].filter(
        ([counter]) => counter !== own && total?.counters.has(counter) !== true,
      );
      let done = 0;
      const results = await Promise.allSettled(
        wanted.map(([counter, listed]) =>
          limit(async () => {
            await readNewest(counter, listed);
            onProgress?.(++done, wanted.length);
          }),
        ),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    readSnapshot: (counter, number) => read(snapshotsOf(counter), number),
    hasNewest: (counter, listed) =>
      listed.every(
        ({ key, number }) =>
          number <= lastOf(counter) || unreadable.get(key)?.problem === 'corrupt',
      ),
    unreadable: () => unreadable,
    forgetSnapshots: () => snapshots.clear(),
  };
}

function createReader({ store, log }: StoredCountsDeps) {
  /** The documents that were left out, by key. The log reports each document once. */
  const unreadable = new Map<string, UnreadableDocument>();
  const read = async <T>(
    sequence: ReadableSequence<T>,
    number: number,
  ): Promise<T | Unreadable> => {
    const key = sequence.key(number);
    const known = unreadable.get(key);
    if (known !== undefined) return known.problem;
    try {
      return (await readDocument(store, sequence, number)) ?? 'missing';
    } catch (error) {
      const isNewer = isAppError(error, 'document_newer');
      if (!isNewer && !isAppError(error, 'document_corrupt')) throw error;
      const problem = isNewer ? 'newer' : 'corrupt';
      unreadable.set(key, { problem, reason: error.message });
      const what = isNewer ? 'counts of a newer Slipway are' : 'a corrupt document of counts is';
      log.error({ key, reason: error.message }, `${what} left out`);
      return problem;
    }
  };

  return { read, unreadable: unreadable as ReadonlyMap<string, UnreadableDocument> };
}
