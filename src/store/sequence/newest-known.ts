import type { Entry, Sequence } from './sequence.ts';

/**
 * The newest documents that a process has read or written. Without this object, a long run of changes, such as an
 * import of a thousand releases, would find, read and check the same document several times for each change.
 *
 * This object only says where a search begins, so an old entry does no harm. No process replaces a document, the search
 * looks for newer documents, and a commit still creates its number or learns that another writer has created it.
 */
export interface NewestKnown {
  get<T>(sequence: Sequence<T>): Entry<T> | undefined;
  note<T>(sequence: Sequence<T>, entry: Entry<T>): void;
}

export function createNewestKnown(): NewestKnown {
  const entries = new Map<string, Entry<unknown>>();
  return {
    // No two sequences share a key, so an entry under a sequence's first key is a document of this sequence.
    get: <T>(sequence: Sequence<T>) => entries.get(sequence.key(1)) as Entry<T> | undefined,
    note: (sequence, entry) => {
      // The service deletes documents of a sequence that can end, and may use their numbers again.
      if (sequence.endKey === undefined) entries.set(sequence.key(1), entry);
    },
  };
}
