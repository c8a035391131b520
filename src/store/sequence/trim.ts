import type { ObjectStore } from '../object-store.ts';
import { END_KEPT_MS_MIN, type EndDeps } from './end.ts';

/** Deletes old documents of sequences that need no history: the newest document has the whole state. */

/** This many of the newest documents are always kept: readers step over a corrupt one. */
export const NEWEST_KEPT = 3;

/**
 * From this newest number on, galloping no longer needs the given number; infinite for a power of two.
 *
 * `findLast` probes the powers of two, then bisects. On its way to the newest number it reads the taken numbers that
 * consist of its leading bits. So it reads a number while the newest one is below the next number with as many
 * trailing zeros. It needs fewer than 2 · log2(n) + 3 of n documents.
 */
export function neededBelow(number: number): number {
  const lowestBit = number & -number;
  if (number === lowestBit) return Number.POSITIVE_INFINITY;
  return number + Math.max(lowestBit, NEWEST_KEPT);
}

/**
 * True when documents are missing between the newest sound one and the last number. When all documents that trimming
 * keeps at the end are corrupt, the next sound one is old. It must not be used as the present state: everything
 * withdrawn since then would be valid again.
 *
 * @param newest the number of the newest sound document
 * @param last the highest number that is taken
 * @param corrupt how many documents above the newest sound one are corrupt
 */
export function isLongGone(newest: number, last: number, corrupt: number): boolean {
  return last - newest > corrupt;
}

/** The documents of one sequence, as listed. */
interface Listed {
  /** The name that `parse` gave the sequence. */
  readonly of: string;
  readonly documents: readonly {
    readonly key: string;
    readonly number: number;
    readonly writtenAt: number;
  }[];
}

/**
 * Lists the sequences below a root, one after the other.
 *
 * @param parse gives the name of the sequence and the number of a key; undefined for any other key
 */
export async function* listSequences(
  store: ObjectStore,
  root: string,
  parse: (key: string) => { readonly of: string; readonly number: number } | undefined,
): AsyncIterable<Listed> {
  let current: { of: string; documents: Listed['documents'][number][] } | undefined;
  // Keys come in order, so all documents of a sequence come together.
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
 * The documents that can be deleted, the oldest first: galloping has not needed them for longer than any reader or
 * writer can be under way. The delay is for a reader that found a number free just before another process took it: it
 * still reads the documents that were needed before.
 */
export function removableKeys({ clock }: EndDeps, { documents }: Listed): readonly Removable[] {
  const inOrder = [...documents].sort((a, b) => a.number - b.number);
  return inOrder.filter(({ number }) => {
    const unneededFrom = neededBelow(number);
    const first = inOrder.find((other) => other.number >= unneededFrom);
    return first !== undefined && clock.now() - first.writtenAt > END_KEPT_MS_MIN;
  });
}

interface Removable {
  readonly key: string;
  readonly number: number;
}
