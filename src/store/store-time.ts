import type { Clock } from '../core/clock.ts';

/**
 * The number of answers that give the median: more than one, so that a single wrong date does not change the median.
 */
const ANSWERS_KEPT = 5;

/** Estimates the offset of a store's clock from the `Date` headers of its answers. */
export interface StoreTime {
  /** @param date the `Date` header of an answer that came from the store just now */
  note(date: string | undefined): void;
  /**
   * The time by which the store's clock is ahead, in milliseconds: the median of the last answers; undefined before the
   * first answer.
   */
  offsetMs(): number | undefined;
}

export function createStoreTime({ now }: Pick<Clock, 'now'>): StoreTime {
  const offsets: number[] = [];
  let median: number | undefined;
  return {
    note: (date) => {
      const at = Date.parse(date ?? '');
      if (Number.isNaN(at)) return;
      // The header has whole seconds, so the actual time was half a second later on average.
      offsets.push(at + 500 - now());
      if (offsets.length > ANSWERS_KEPT) offsets.shift();
      median = offsets.toSorted((a, b) => a - b)[offsets.length >> 1];
    },
    offsetMs: () => median,
  };
}
