/** Limits the memory that clients make this process hold: unread answers and unfinished bodies. */

/** A connection, as the budget sees it. */
export interface Holder {
  /** Changed by the budget only. */
  heldBytes: number;
  /** Whether its client stopped reading the answer, or sending the rest of the request. */
  readonly isStalled: boolean;
  /** Closes the connection at once. */
  cut(reason: 'memory'): void;
}

export interface MemoryBudget {
  /**
   * Cuts stalled holders when memory runs out, and never one that makes progress. False when that is not enough:
   * the caller must refuse the request.
   */
  reserve(holder: Holder, bytes: number): boolean;
  release(holder: Holder, bytes?: number): void;
  heldBytes(): number;
}

export function createMemoryBudget({ bytesMax }: { readonly bytesMax: number }): MemoryBudget {
  /** In the order in which they started to hold memory. */
  const holders = new Set<Holder>();
  let total = 0;

  const release = (holder: Holder, bytes = holder.heldBytes): void => {
    const released = Math.min(bytes, holder.heldBytes);
    holder.heldBytes -= released;
    total -= released;
    if (holder.heldBytes === 0) holders.delete(holder);
  };

  const makeRoom = (bytes: number, asking: Holder): void => {
    for (const holder of holders) {
      if (total + bytes <= bytesMax) return;
      if (holder === asking || !holder.isStalled) continue;
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
