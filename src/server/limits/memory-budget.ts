import { inCutOrder, type Sender } from './slow-sender.ts';

/** Limits the memory that clients make this process hold: unread answers and unfinished bodies. */

/** A connection, as the budget sees it. */
export interface Holder extends Sender {
  /** Only the budget changes this number. */
  heldBytes: number;
  /** Closes the connection at once. */
  cut(reason: 'memory'): void;
}

export interface MemoryBudget {
  /**
   * Reserves memory. When memory runs out, it cuts holders that stopped reading, and then holders with unfinished
   * requests, the slowest first. It never cuts a holder that reads its answer. False when the memory still does not
   * suffice: the caller must refuse the request.
   */
  reserve(holder: Holder, bytes: number): boolean;
  release(holder: Holder, bytes?: number): void;
  heldBytes(): number;
}

/**
 * When memory runs out, the budget cuts holders until only this share is in use. It cuts several at a time, because it
 * takes time to find the slowest.
 */
const ROOMY_SHARE = 0.99;

export function createMemoryBudget({ bytesMax }: { readonly bytesMax: number }): MemoryBudget {
  /** The holders, in the order in which they started to hold memory. */
  const holders = new Set<Holder>();
  let total = 0;

  const release = (holder: Holder, bytes = holder.heldBytes): void => {
    const released = Math.min(bytes, holder.heldBytes);
    holder.heldBytes -= released;
    total -= released;
    if (holder.heldBytes === 0) holders.delete(holder);
  };

  const makeRoom = (bytes: number, asking: Holder): void => {
    if (total + bytes <= bytesMax) return;
    for (const holder of inCutOrder(holders)) {
      if (total + bytes <= bytesMax * ROOMY_SHARE) return;
      if (holder === asking) continue;
      release(holder);
      holder.cut('memory');
    }
  };

  return {
    reserve: (holder, bytes) => {
      if (total + bytes > bytesMax) makeRoom(bytes, holder);
      if (total + bytes > bytesMax) return false;
      holders.add(holder);
      holder.heldBytes += bytes;
      total += bytes;
      return true;
    },
    release,
    heldBytes: () => total,
  };
}
