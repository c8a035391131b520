/** What clients can make this process hold: answers they do not read, and bodies they do not finish. */

/** A connection, as far as the budget is concerned. */
export interface Holder {
  /** Of the budget; only the budget changes it. */
  heldBytes: number;
  /** Its client has stopped to read its answer, or to send the rest of its request. */
  readonly isStalled: boolean;
  /** Gives everything up, at once. */
  cut(reason: 'memory'): void;
}

export interface MemoryBudget {
  /**
   * False when there is no room: the request is to be refused. Holders that are stalled are cut first; one that
   * makes progress never is, however long it takes and however many others ask.
   */
  reserve(holder: Holder, bytes: number): boolean;
  release(holder: Holder, bytes?: number): void;
  heldBytes(): number;
}

export function createMemoryBudget({ bytesMax }: { readonly bytesMax: number }): MemoryBudget {
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
