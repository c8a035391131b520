import type { Clock } from '../clock.ts';

/** What clients can make this process hold: answers they do not read, and bodies they do not finish. */

/** A connection, as far as the budget is concerned. */
export interface Holder {
  /** Of the budget; only the budget changes it. */
  heldBytes: number;
  heldSince: number;
  /** Gives everything up, at once. */
  cut(reason: 'memory'): void;
}

export interface MemoryBudget {
  /**
   * False when there is no room: the request is to be refused. Holders that have held theirs for ten
   * seconds are cut first: a client that reads has long read its answer by then.
   */
  reserve(holder: Holder, bytes: number): boolean;
  release(holder: Holder, bytes?: number): void;
  heldBytes(): number;
}

const HELD_MIN_MS = 10_000;

export function createMemoryBudget(options: {
  readonly bytesMax: number;
  readonly clock: Pick<Clock, 'now'>;
}): MemoryBudget {
  const { bytesMax, clock } = options;
  /** In the order in which they began to hold something. */
  const holders = new Set<Holder>();
  let total = 0;

  const release = (holder: Holder, bytes = holder.heldBytes): void => {
    const released = Math.min(bytes, holder.heldBytes);
    holder.heldBytes -= released;
    total -= released;
    if (holder.heldBytes === 0) holders.delete(holder);
  };

  const makeRoom = (bytes: number, asking: Holder): void => {
    const now = clock.now();
    for (const holder of holders) {
      if (total + bytes <= bytesMax || now - holder.heldSince < HELD_MIN_MS) return;
      if (holder === asking) continue;
      release(holder);
      holder.cut('memory');
    }
  };

  return {
    reserve: (holder, bytes) => {
      if (total + bytes > bytesMax) makeRoom(bytes, holder);
      if (total + bytes > bytesMax) return false;
      if (holder.heldBytes === 0) {
        holder.heldSince = clock.now();
        holders.add(holder);
      }
      holder.heldBytes += bytes;
      total += bytes;
      return true;
    },
    release,
    heldBytes: () => total,
  };
}
