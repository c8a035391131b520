import pLimit from 'p-limit';
import type { Clock, Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectInfo, ObjectStore } from '../object-store/object-store.ts';
import { appendDocument } from '../sequence/append.ts';
import { readDocument } from '../sequence/sequence.ts';
import { type Compaction, compactionSequence, openCompaction } from './compaction-document.ts';
import { DAY_MS } from './counts.ts';
import { COMPACTIONS_PREFIX, type FlushName, parseCompactionKey } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { nextCompaction } from './next-compaction.ts';

/**
 * Compactions: each holds everything of the one before and the flushes since. Old ones are deleted, so
 * the newest is found by listing; this room's work is in the background, where that is allowed.
 */
export interface Compactor {
  /** Takes over the newest compaction that can be read. @throws AppError the store's, `document_newer` */
  readNewest(): Promise<void>;
  /** Adds the ledger's flushes to a new compaction; returns whether this process wrote one. @throws AppError */
  compact(flushes: readonly FlushName[]): Promise<boolean>;
  /** Deletes what has been in a compaction for a day, and old compactions. @throws AppError */
  clean(flushes: readonly FlushName[]): Promise<void>;
}

export interface CompactorDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly minutesKeptMs: number;
}

/** Until then a reader of an older compaction, or of one found corrupt, has its flushes to read. */
export const FLUSHES_KEPT_MS = DAY_MS;
const COMPACTIONS_KEPT_MS = 2 * DAY_MS;
const COMPACTIONS_KEPT_MIN = 8;
const DELETES_AT_ONCE = 4;

interface Stored {
  readonly number: number;
  readonly info: ObjectInfo;
}

export function createCompactor(deps: CompactorDeps): Compactor {
  const { store, clock, log, ledger } = deps;
  const corrupt = new Set<number>();
  /** The highest number that was seen to be taken. */
  let taken = 0;

  const listNewestFirst = async (): Promise<Stored[]> => {
    const found: Stored[] = [];
    for await (const info of store.list(COMPACTIONS_PREFIX)) {
      const number = parseCompactionKey(info.key);
      if (number !== undefined) found.push({ number, info });
    }
    return found.sort((a, b) => b.number - a.number);
  };

  /** Undefined for one that is corrupt, which is said once, or gone. */
  const readOne = async (number: number): Promise<Compaction | undefined> => {
    if (corrupt.has(number)) return undefined;
    try {
      const document = await readDocument(store, compactionSequence(number - 1), 1);
      return document === undefined ? undefined : openCompaction(document);
    } catch (error) {
      if (!isAppError(error, 'document_corrupt')) throw error;
      corrupt.add(number);
      log.error({ number, reason: error.message }, 'a corrupt compaction of counters is left out');
      return undefined;
    }
  };

  const readNewest = async (): Promise<void> => {
    const found = await listNewestFirst();
    taken = Math.max(0, ...found.map(({ number }) => number));
    for (const { number } of found) {
      if (number <= (ledger.compaction()?.number ?? 0)) return;
      const compaction = await readOne(number);
      if (compaction === undefined) continue;
      ledger.adopt(compaction);
      return;
    }
  };

  const compact = async (flushes: readonly FlushName[]): Promise<boolean> => {
    const instances = new Set(flushes.map(({ instance }) => instance));
    const own = ledger.compaction();
    // Where all of them are gone, what this process has read goes on.
    const offset = Math.max(taken - 1, own !== undefined && own.number > taken ? own.number : 0);
    const { outcome } = await appendDocument(deps, compactionSequence(offset), (base) => {
      const number = offset + base.number;
      // The one that was the newest is gone: others are days ahead, and its number must not come back.
      if (number <= taken) throw overtaken();
      const newest = base.newest && openCompaction(base.newest.document);
      // What this process has read of a compaction is whole, whatever became of its object since.
      const previous = (own?.number ?? 0) > (newest?.number ?? 0) ? own : newest;
      return nextCompaction(previous, ledger.flushes(), {
        number,
        changeId: base.changeId,
        skipped: base.skipped.map((one) => ({ ...one, number: offset + one.number })),
        now: clock.now(),
        minutesKeptMs: deps.minutesKeptMs,
        isListed: (instance) => instances.has(instance),
      });
    });
    await readNewest();
    return outcome === 'created';
  };

  const clean = async (flushes: readonly FlushName[]): Promise<void> => {
    const found = await listNewestFirst();
    const isOlder = ({ info }: Stored, ms: number) =>
      info.lastModified.getTime() <= clock.now() - ms;
    let settled: Compaction | undefined;
    for (const stored of found.filter((one) => isOlder(one, FLUSHES_KEPT_MS))) {
      settled ??= await readOne(stored.number);
    }
    if (settled === undefined) return;
    const { through, number } = settled;
    const named = flushes.filter(
      (name) => name.number <= (through.get(name.instance)?.number ?? 0),
    );
    const old = found
      .slice(COMPACTIONS_KEPT_MIN)
      .filter((one) => isOlder(one, COMPACTIONS_KEPT_MS) && one.number < number);
    const limit = pLimit(DELETES_AT_ONCE);
    const keys = [...named.map(({ key }) => key), ...old.map(({ info }) => info.key)];
    await Promise.all(keys.map((key) => limit(() => store.delete(key))));
  };

  return { readNewest, compact, clean };
}

function overtaken(): AppError {
  return new AppError('store_unavailable', 'Other processes compacted the counters meanwhile.');
}
