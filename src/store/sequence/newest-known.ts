import type { Entry, Sequence } from './sequence.ts';

/**
 * The newest documents that a process has read or written. A long run of changes, such as an import of a thousand
 * releases, would otherwise find, read and check the same document several times for each of them.
 *
 * It only says where a search begins. Documents are never replaced, the search looks for newer ones, and a commit still
 * creates its number or learns that another writer did.
 */
export interface NewestKnown {
  get<T>(sequence: Sequence<T>): Entry<T> | undefined;
  note<T>(sequence: Sequence<T>, entry: Entry<T>): void;
}

export function createNewestKnown(): NewestKnown {
  const entries = new Map<string, Entry<unknown>>();
  return {
    // A sequence has its keys for itself, so an entry under its key is one of its documents.
    get: <T>(sequence: Sequence<T>) => entries.get(sequence.key(1)) as Entry<T> | undefined,
    note: (sequence, entry) => {
      // The documents of a sequence that ends are deleted, and their numbers are used again.
      if (sequence.endKey === undefined) entries.set(sequence.key(1), entry);
    },
  };
}
