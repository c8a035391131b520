import type { ObjectStore } from '../object-store.ts';
import { END_KEPT_MS_MIN, type EndDeps } from './end.ts';

/** Deletes old documents of sequences that need no history: the newest document contains the whole state. */

/** Trimming always keeps this many of the newest documents, because readers skip corrupt documents. */
export const NEWEST_KEPT = 3;

/**
 * Returns the limit for the newest number: galloping needs the given number only while the newest number is below this
 * limit. Infinite for a power of two.
 *
 * `findLast` probes the powers of two, then bisects. On its way to the newest number, it reads the taken numbers that
 * consist of the leading bits of the newest number. So it reads a number until the newest number reaches the next
 * number with as many trailing zeros. Of n documents, it needs fewer than 2 · log2(n) + 3.
 */
export function neededBelow(number: number): number {
  const lowestBit = number & -number;
  if (number === lowestBit) return Number.POSITIVE_INFINITY;
  return number + Math.max(lowestBit, NEWEST_KEPT);
}

/**
 * True when documents are missing between the newest sound document and the last number. When all documents that
 * trimming keeps at the end are corrupt, the newest sound document is old. A process must not use it as the present
 * state: everything withdrawn since then would be valid again.
 *
 * @param newest the number of the newest sound document
 * @param last the highest number that is taken
 * @param corrupt the number of corrupt documents above the newest sound document
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
 * @param parse returns, for the key of a document, the name of its sequence and its number; undefined for any other key
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
 * The documents that the service can delete, the oldest first. Galloping has not needed them for longer than any read
 * or write takes. The delay protects a reader that found a number free just before another process took the number:
 * this reader still reads the documents that galloping needed before.
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
