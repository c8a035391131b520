import type { ObjectStore } from '../object-store/object-store.ts';
import { END_KEPT_MS_MIN, type EndDeps } from './end.ts';

/** Deleting what nobody reads any more of sequences that are no history: the newest document says it all. */

/** So many of the newest are kept, whatever their numbers: a corrupt one is stepped over. */
export const NEWEST_KEPT = 3;

/**
 * Whether galloping still needs a number to find the newest: see `findLast`, which probes the powers of
 * two, and bisects then. The taken numbers that it meets on its way to `newest` are those of its leading
 * bits: a number is met as long as the newest one is below the next with as many trailing zeros.
 *
 * What is not needed now is not needed later either; of n documents fewer than 2 · log2(n) + 3 are.
 */
export function isNeeded(number: number, newest: number): boolean {
  const lowestBit = number & -number;
  return number === lowestBit || number + lowestBit > newest || number > newest - NEWEST_KEPT;
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
 * The keys of documents that can be deleted, the oldest first: not needed, and superseded for longer than
 * any reader or writer can be under way that has seen them as the newest.
 */
export function removableKeys({ clock }: EndDeps, { documents }: Listed): readonly Removable[] {
  const inOrder = [...documents].sort((a, b) => a.number - b.number);
  const newest = inOrder.at(-1)?.number ?? 0;
  return inOrder.filter(({ number }, index) => {
    const supersededAt = inOrder[index + 1]?.writtenAt ?? Number.POSITIVE_INFINITY;
    return !isNeeded(number, newest) && clock.now() - supersededAt > END_KEPT_MS_MIN;
  });
}

export interface Removable {
  readonly key: string;
  readonly number: number;
}
