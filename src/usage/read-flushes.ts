import pLimit from 'p-limit';
import type { Clock } from '../clock.ts';
import { type AppError, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { getOrCreate } from './counts.ts';
import { FLUSH_BYTES_MAX, type Flush, parseFlush } from './flush-document.ts';
import { FLUSHES_PREFIX, type FlushName, flushHourPrefix, parseFlushKey } from './keys.ts';
import type { Ledger } from './ledger.ts';

/** Reads other processes' flushes into the ledger, each of them once. */
export interface FlushReader {
  /** Lists the hours that flushes may still come for, and reads what is new there. @throws AppError */
  readRecent(): Promise<void>;
  /** Lists all flushes there are, and reads those that are not in the ledger. @throws AppError */
  readAll(): Promise<readonly FlushName[]>;
  /** Whether only a listing of all can tell what is missing. */
  isIncomplete(): boolean;
}

export interface FlushReaderDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Ledger;
  /** Called for flushes that are seen in the store: a process learns so of its own unclear writes. */
  onSeen(name: FlushName): void;
}

/** Flushes that come later than this, after an outage, wait for the next listing of all. */
const GRACE_MS = 30 * 60_000;
const CLOCK_SKEW_MS = 5 * 60_000;
const READS_MAX = 1_000;
const READS_AT_ONCE = 8;

export function createFlushReader(deps: FlushReaderDeps): FlushReader {
  const { store, clock, log, ledger } = deps;
  /** By instance, the number that the last listing of all lacked. */
  let gaps = new Map<string, number>();
  let isIncomplete = true;
  /** Flushes of a newer schema, which nothing after them may overtake. */
  const refused = new Set<string>();

  /** What to read next of one instance, in order and without a gap. */
  const nextOf = (names: readonly FlushName[], newGaps: Map<string, number> | undefined) => {
    const ahead = names
      .filter(({ instance, number }) => number > ledger.last(instance))
      .sort((a, b) => a.number - b.number);
    const first = ahead[0];
    if (first === undefined) return [];
    const expected = ledger.last(first.instance) + 1;
    if (first.number > expected) {
      isIncomplete = true;
      if (newGaps === undefined) return [];
      // A listing is no snapshot: what it lacked once may have been written while it ran.
      if (gaps.get(first.instance) !== expected) {
        newGaps.set(first.instance, expected);
        return [];
      }
      log.warn({ key: first.key, expected }, 'flushes of counters before this one are gone');
      ledger.stepOver(first.instance, first.number - 1);
    }
    const end = ahead.findIndex(
      (name, i) => name.number !== first.number + i || refused.has(name.key),
    );
    return end < 0 ? ahead : ahead.slice(0, end);
  };

  const readOne = async (name: FlushName): Promise<Flush | undefined> => {
    const { instance, number } = name;
    const nothing = { instance, number, from: clock.now(), to: clock.now(), rows: [], minutes: [] };
    try {
      const object = await store.get(name.key, { bytesMax: FLUSH_BYTES_MAX });
      return object === undefined ? undefined : parseFlush(object.body, name);
    } catch (error) {
      if (isAppError(error, 'document_newer')) {
        refused.add(name.key);
        log.error({ key: name.key, reason: error.message }, 'counters of a newer Slipway wait');
        return undefined;
      }
      if (!isDamage(error)) throw error;
      // Stepped over, and named by the next compaction, so that this is said once.
      log.error(
        { key: name.key, reason: error.message },
        'a corrupt flush of counters is left out',
      );
      return nothing;
    }
  };

  const read = async (names: readonly FlushName[], isAll: boolean): Promise<void> => {
    const newGaps = isAll ? new Map<string, number>() : undefined;
    if (isAll) isIncomplete = false;
    const byInstance = new Map<string, FlushName[]>();
    for (const name of names) getOrCreate(byInstance, name.instance, () => []).push(name);
    const wanted = [...byInstance.values()].flatMap((own) => nextOf(own, newGaps));
    if (newGaps !== undefined) gaps = newGaps;
    if (wanted.length > READS_MAX) isIncomplete = true;
    const limit = pLimit(READS_AT_ONCE);
    const read = await Promise.allSettled(
      wanted.slice(0, READS_MAX).map((name) => limit(() => readOne(name))),
    );
    for (const result of read) {
      // The ledger takes none that comes after one it lacks.
      if (result.status === 'fulfilled' && result.value !== undefined) ledger.apply(result.value);
    }
    const failed = read.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    isIncomplete = true;
    throw failed.reason;
  };

  const list = async (prefixes: Iterable<string>): Promise<FlushName[]> => {
    const names: FlushName[] = [];
    for (const prefix of prefixes) {
      for await (const { key } of store.list(prefix)) {
        const name = parseFlushKey(key);
        if (name === undefined) continue;
        deps.onSeen(name);
        names.push(name);
      }
    }
    return names;
  };

  return {
    isIncomplete: () => isIncomplete,
    readRecent: async () => {
      const now = clock.now();
      const hours = [now - GRACE_MS, now, now + CLOCK_SKEW_MS].map(flushHourPrefix);
      await read(await list(new Set(hours)), false);
    },
    readAll: async () => {
      const names = await list([FLUSHES_PREFIX]);
      await read(names, true);
      return names;
    },
  };
}

function isDamage(error: unknown): error is AppError {
  return isAppError(error, 'document_corrupt') || isAppError(error, 'document_too_large');
}
