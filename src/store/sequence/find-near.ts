import type { ObjectStore } from '../object-store.ts';
import { isPresent } from '../presence.ts';
import type { ReadableSequence } from './read-checked.ts';

/** Finds the number at which the search of a publisher begins, in few round trips. */

const PROBES_AT_ONCE = 16;
/** The keys that one page of a listing names. */
const PAGE_KEYS = 1_000;

/**
 * Returns a taken number, or 0. One page of a listing names all numbers above it, and the caller looks for the newest
 * among them.
 *
 * Probes 16 numbers at once: first powers of two, until one is free; then numbers between the highest taken and the
 * lowest free number. Returns 0 for a sequence that is not listed in the order of its numbers, because the caller lists
 * such a sequence as a whole.
 */
export async function findNear(
  store: ObjectStore,
  sequence: Pick<ReadableSequence<unknown>, 'key'>,
): Promise<number> {
  if (!isListedInOrder(sequence)) return 0;
  let taken = 0;
  let free = Number.POSITIVE_INFINITY;
  while (free - taken > PAGE_KEYS) {
    const step = (free - taken) / (PROBES_AT_ONCE + 1);
    const numbers = Array.from({ length: PROBES_AT_ONCE }, (_, index) =>
      free === Number.POSITIVE_INFINITY
        ? Math.max(1, 2 * taken) * 2 ** index
        : taken + Math.floor((index + 1) * step),
    );
    const found = await Promise.all(numbers.map((each) => isPresent(store, sequence.key(each))));
    const end = found.indexOf(false);
    taken = numbers[(end < 0 ? numbers.length : end) - 1] ?? taken;
    free = numbers[end] ?? free;
  }
  return taken;
}

/** True when a listing names the documents in the order of their numbers. */
export function isListedInOrder({ key }: Pick<ReadableSequence<unknown>, 'key'>): boolean {
  return key(1).length === key(10).length;
}
