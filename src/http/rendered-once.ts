/**
 * A cache of rendered documents: rendering one for every client would cost more time and memory than everything
 * else that its route does.
 */
interface Once<T> {
  /**
   * @param key must not contain free text of clients, which could fill the cache
   * @param parts the objects that the document is rendered from; it is rendered again when one of them is another
   *   object
   */
  get(key: string, parts: readonly unknown[], make: () => T): T;
}

const ENTRIES_MAX = 1_000;

/** @param entriesMax above it, the oldest entry is dropped: clients must not decide how much memory it takes */
export function createOnce<T>(entriesMax = ENTRIES_MAX): Once<T> {
  const entries = new Map<string, { readonly parts: readonly unknown[]; readonly made: T }>();
  return {
    get: (key, parts, make) => {
      const known = entries.get(key);
      if (known !== undefined && isSame(known.parts, parts)) return known.made;
      const made = make();
      entries.delete(key);
      entries.set(key, { parts, made });
      const [oldest] = entries.keys();
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest);
      return made;
    },
  };
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}
