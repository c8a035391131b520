import { etagOf } from './conditional.ts';

/** A document as it is sent: its bytes are shared by every answer that is on its way. */
export interface Rendered {
  readonly body: Buffer;
  readonly etag: string;
}

export function rendered(content: string | Uint8Array): Rendered {
  const body = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
  return { body, etag: etagOf(body) };
}

/** What is made once from what it depends on, and not for every client that asks. */
export interface Once<T> {
  /**
   * @param key what is asked for, out of what there is: a word that clients choose would only fill it
   * @param parts what it is made from, compared by identity
   */
  get(key: string, parts: readonly unknown[], make: () => T): T;
}

const ENTRIES_MAX = 1_000;

/** Forgets what was made first when there are too many: memory must not depend on what clients ask. */
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
