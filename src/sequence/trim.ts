import type { ObjectStore } from '../object-store/object-store.ts';
import { END_KEPT_MS_MIN, type EndDeps } from './end.ts';

/** Deleting what nobody reads any more of sequences that are no history: the newest document says it all. */

/** So many of the newest are kept, whatever their numbers: a corrupt one is stepped over. */
export const NEWEST_KEPT = 3;

/**
 * The lowest newest number from which on galloping does not need a number any more: see `findLast`, which
 * probes the powers of two, and bisects then. The taken numbers that it meets on its way to the newest are
 * those of its leading bits: a number is met as long as the newest one is below the next with as many
 * trailing zeros. Infinite for powers of two.
 *
 * Of n documents fewer than 2 · log2(n) + 3 are needed.
 */
export function neededBelow(number: number): number {
  const lowestBit = number & -number;
  if (number === lowestBit) return Number.POSITIVE_INFINITY;
  return number + Math.max(lowestBit, NEWEST_KEPT);
}

/**
 * Whether documents are missing between the newest sound one and the last number: with everything corrupt
 * that trimming keeps at the end, the next sound one is of long ago, and must not count as the present
 * state: what was withdrawn since then would be good again.
 *
 * @param corrupt how many documents above the newest sound one are corrupt
 */
export function isLongGone(newest: number, last: number, corrupt: number): boolean {
  return last - newest > corrupt;
}

/** The documents of one sequence, as a listing names them. */
export interface Listed {
  /** What `parse` named it. */
  readonly of: string;
  readonly documents: readonly {
    readonly key: string;
    readonly number: number;
    readonly writtenAt: number;
  }[];
}

/**
 * The sequences below a root, one after the other.
 *
 * @param parse names the sequence and the number of a key; undefined for any other key
 */
export async function* listSequences(
  store: ObjectStore,
  root: string,
  parse: (key: string) => { readonly of: string; readonly number: number } | undefined,
): AsyncIterable<Listed> {
  let current: { of: string; documents: Listed['documents'][number][] } | undefined;
  // In key order: all of a sequence comes in one piece.
  for await (const { key, lastModified } of store.list(root)) {
    const parsed = parse(key);
    if (parsed === undefined) continue;
    const { of, number } = parsed;
    if (current?.of !== of) {
      if (current !== undefined) yield current;
      current = { of, documents: [] };
    }
    current.documents.push({ key, number, writtenAt: lastModified.getTime() });
  }
  if (current !== undefined) yield current;
}

/**
 * The keys of documents that can be deleted, the oldest first: those that galloping has not needed for
 * longer than any reader or writer can be under way. A reader that found a number free a moment before
 * another process wrote it still bisects down to the documents that were needed until then.
 */
export function removableKeys({ clock }: EndDeps, { documents }: Listed): readonly Removable[] {
  const inOrder = [...documents].sort((a, b) => a.number - b.number);
  return inOrder.filter(({ number }) => {
    const unneededFrom = neededBelow(number);
    const first = inOrder.find((other) => other.number >= unneededFrom);
    return first !== undefined && clock.now() - first.writtenAt > END_KEPT_MS_MIN;
  });
}

export interface Removable {
  readonly key: string;
  readonly number: number;
}
