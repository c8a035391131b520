import type { Clock } from '../clock.ts';

/** Several, so that one wrong answer moves nothing. */
const ANSWERS_KEPT = 5;

/** How far a store's clock is from this process's, as the `Date` of its answers tells. */
export interface StoreTime {
  /** @param date the header of an answer that is the store's, received now */
  note(date: string | undefined): void;
  /** Milliseconds that the store is ahead, the median of the last answers; undefined before the first. */
  offsetMs(): number | undefined;
}

export function createStoreTime({ now }: Pick<Clock, 'now'>): StoreTime {
  const offsets: number[] = [];
  return {
    note: (date) => {
      const at = Date.parse(date ?? '');
      if (Number.isNaN(at)) return;
      // The header has whole seconds: on the average it was half a second later.
      offsets.push(at + 500 - now());
      if (offsets.length > ANSWERS_KEPT) offsets.shift();
    },
    offsetMs: () => offsets.toSorted((a, b) => a - b)[offsets.length >> 1],
  };
}
