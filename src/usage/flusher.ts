import type { Clock, Randomness } from '../clock.ts';
import { isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { type Counted, DAY_MS } from './counts.ts';
import { type Flush, renderFlush } from './flush-document.ts';
import { flushKey } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { Tally } from './tally.ts';

/** Moves counts from the tally to the store and, the moment they are surely there, to the ledger. */
export interface Flusher {
  /**
   * Writes what was counted; what the store does not confirm stays, and is written again next time.
   *
   * @throws AppError the store's
   */
  flush(): Promise<void>;
  /** The flushes of this process up to this number have been seen in the store. */
  confirm(number: number): void;
  /** What is not in the ledger yet. */
  unflushed(): readonly Counted[];
}

export interface FlusherDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly tally: Tally;
  readonly ledger: Ledger;
  readonly instance: string;
}

interface Pending {
  readonly flush: Flush;
  readonly key: string;
  readonly bytes: Uint8Array;
}

const ATTEMPTS = 3;
const PAUSE_MS = 200;
/**
 * An unclear write may have been read, compacted and deleted; written again, it is ignored for as long
 * as compactions name this process. Before they may forget it, which is after a week, it is given up.
 */
const ABANDONED_AFTER_MS = 6 * DAY_MS;

export function createFlusher(deps: FlusherDeps): Flusher {
  const { clock, tally, ledger, instance } = deps;
  let pending: Pending | undefined;
  let written = 0;

  const freeze = (): Pending | undefined => {
    const counted = tally.take();
    if (counted === undefined) return undefined;
    const flush = { instance, number: written + 1, ...counted };
    return { flush, key: flushKey(counted.to, instance, flush.number), bytes: renderFlush(flush) };
  };

  const settle = (): void => {
    if (pending === undefined) return;
    written = pending.flush.number;
    // Does nothing when a compaction has it already.
    ledger.apply(pending.flush);
    pending = undefined;
  };

  /** Whether somebody has read it in the store and put it into a compaction. */
  const isCounted = ({ flush }: Pending): boolean => ledger.last(instance) >= flush.number;

  const write = async (): Promise<void> => {
    if (pending === undefined) return;
    if (isCounted(pending)) return settle();
    const age = clock.now() - pending.flush.to;
    if (age > ABANDONED_AFTER_MS) {
      deps.log.error({ key: pending.key }, 'counts were given up: the store did not confirm them');
      // Its number stays unused or was taken by it; either way the next one is free.
      written = pending.flush.number;
      pending = undefined;
      return;
    }
    await createSurely(deps, pending);
    settle();
  };

  return {
    flush: async () => {
      await write();
      pending ??= freeze();
      await write();
    },
    confirm: (number) => {
      if (pending !== undefined && pending.flush.number <= number) settle();
    },
    unflushed: () => {
      const waiting = pending === undefined || isCounted(pending) ? undefined : pending.flush;
      return [waiting, tally.peek()].filter((counted) => counted !== undefined);
    },
  };
}

/** The key is this process's own: whoever finds it taken took it. */
async function createSurely(deps: FlusherDeps, { key, bytes }: Pending): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await deps.store.create(key, bytes, { contentType: 'application/json' });
      return;
    } catch (error) {
      if (!isAppError(error, 'store_unavailable') || attempt === ATTEMPTS) throw error;
      await deps.clock.sleep(PAUSE_MS * attempt * (0.5 + deps.randomness.fraction() / 2));
    }
  }
}
