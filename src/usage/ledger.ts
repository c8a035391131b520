import type { Compaction } from './compaction-document.ts';
import type { MinuteRow, Row } from './counts.ts';
import type { Flush } from './flush-document.ts';

/**
 * What all processes counted, as far as this one has read it: a compaction, and the flushes after it.
 *
 * Of every instance it holds each flush up to a number, `last`, once, and none above it: either in the
 * compaction or on its own. Everything that is done here keeps that true, so nothing counts twice.
 */
export interface Ledger {
  compaction(): Compaction | undefined;
  /** Goes on from a newer compaction; an older one changes nothing. */
  adopt(compaction: Compaction): void;
  /** The highest number of the instance's flushes that is counted here; 0 for none. */
  last(instance: string): number;
  /** Counts a flush if it is the instance's next. */
  apply(flush: Flush): void;
  /** Leaves out flushes that are gone: the next is number + 1. */
  stepOver(instance: string, number: number): void;
  /** The flushes that are not in the compaction. */
  flushes(): readonly Flush[];
  /** Forgets them: those that are still in the store are to be read again. */
  forgetFlushes(): void;
  rows(): Iterable<Row>;
  minutes(): Iterable<MinuteRow>;
}

/** @param self the instance of this process, which knows its own numbers best */
export function createLedger(self: string): Ledger {
  let compaction: Compaction | undefined;
  let flushes: Flush[] = [];
  let lasts = new Map<string, number>();

  const startFrom = (through: Compaction['through'] | undefined): void => {
    lasts = new Map([...(through ?? [])].map(([instance, { number }]) => [instance, number]));
  };

  return {
    compaction: () => compaction,
    adopt: (newer) => {
      if (newer.number <= (compaction?.number ?? 0)) return;
      const own = lasts.get(self) ?? 0;
      compaction = newer;
      // One that the compaction does not name has been idle for long: what is here came after that.
      flushes = flushes.filter(
        ({ instance, number }) => number > (newer.through.get(instance)?.number ?? 0),
      );
      startFrom(newer.through);
      for (const { instance, number } of flushes) lasts.set(instance, number);
      if (own > (lasts.get(self) ?? 0)) lasts.set(self, own);
    },
    last: (instance) => lasts.get(instance) ?? 0,
    apply: (flush) => {
      if (flush.number !== (lasts.get(flush.instance) ?? 0) + 1) return;
      flushes.push(flush);
      lasts.set(flush.instance, flush.number);
    },
    stepOver: (instance, number) => {
      lasts.set(instance, number);
    },
    flushes: () => flushes,
    forgetFlushes: () => {
      flushes = [];
      startFrom(compaction?.through);
    },
    *rows() {
      yield* compaction?.rows ?? [];
      for (const { rows } of flushes) yield* rows;
    },
    *minutes() {
      yield* compaction?.minutes ?? [];
      for (const { minutes } of flushes) yield* minutes;
    },
  };
}
