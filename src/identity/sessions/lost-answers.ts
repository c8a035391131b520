/** So many are remembered; the oldest are forgotten first. */
const REMEMBERED_MAX = 10_000;

/**
 * Refreshes that this process could not answer because the store did not say whether it had made them.
 * Whoever comes back for one later lost it to the store's failure: no thief, however late.
 */
export interface LostAnswers {
  /** The document under the key may have been created, and nobody was told. */
  note(key: string): void;
  /** Whether a token whose successor is under the key may still be answered with it. */
  excuses(key: string, now: number): boolean;
  /** From the first answer on, it has the time of any other: its client may lose that one as well. */
  noteAnswered(key: string, now: number): void;
}

export function createLostAnswers(graceMs: number): LostAnswers {
  const excusedUntil = new Map<string, number>();
  return {
    note: (key) => {
      const oldest = excusedUntil.keys().next();
      if (excusedUntil.size >= REMEMBERED_MAX && oldest.done !== true) {
        excusedUntil.delete(oldest.value);
      }
      excusedUntil.set(key, Number.POSITIVE_INFINITY);
    },
    excuses: (key, now) => now <= (excusedUntil.get(key) ?? Number.NEGATIVE_INFINITY),
    noteAnswered: (key, now) => {
      if (excusedUntil.get(key) === Number.POSITIVE_INFINITY) excusedUntil.set(key, now + graceMs);
    },
  };
}
