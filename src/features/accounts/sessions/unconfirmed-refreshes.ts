/** Above this number, the process forgets the oldest entries first. */
const ENTRIES_MAX = 10_000;

/**
 * Refreshes that this process answered with an error because the store failed. The store may have created the next
 * state all the same. The client returns with the old token, perhaps much later. The cause is the failure of the store,
 * so the return is not a sign of theft.
 */
export interface UnconfirmedRefreshes {
  /** The store may have created the state under this key, but no client has the token of that state. */
  note(key: string): void;
  /** True when the service may still answer the token of the previous state with the state under this key. */
  has(key: string, now: number): boolean;
  /** A client now has the token. From now on, the ordinary grace time applies. */
  noteAnswered(key: string, now: number): void;
}

export function createUnconfirmedRefreshes(graceMs: number): UnconfirmedRefreshes {
  const untilByKey = new Map<string, number>();
  return {
    note: (key) => {
      const oldest = untilByKey.keys().next();
      if (untilByKey.size >= ENTRIES_MAX && oldest.done !== true) untilByKey.delete(oldest.value);
      untilByKey.set(key, Number.POSITIVE_INFINITY);
    },
    has: (key, now) => now <= (untilByKey.get(key) ?? Number.NEGATIVE_INFINITY),
    noteAnswered: (key, now) => {
      if (untilByKey.get(key) === Number.POSITIVE_INFINITY) untilByKey.set(key, now + graceMs);
    },
  };
}
