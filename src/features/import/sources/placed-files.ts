import { isFeedName } from '../../../builds/electron/feed.ts';
import type { Files } from './files.ts';

/** Finds the files of a release where several releases may have files of the same name. */

/** The names that only one release has. */
export function namesOnce(lists: readonly (readonly string[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const name of lists.flat()) {
    const key = name.normalize('NFC');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([name, count]) => (count === 1 ? [name] : [])));
}

/**
 * The path of a file in the folder of its release, else beside the index. When several releases have a file of this
 * name, the file beside the index could belong to any of them, so the import does not use it.
 *
 * @param own the paths that the file may have in the folder of its release, relative to the source
 */
export function findPlaced(
  files: Files,
  own: readonly string[],
  name: string,
  once: ReadonlySet<string>,
): string | undefined {
  const key = name.normalize('NFC');
  for (const relative of own) {
    const found = files.get(relative.normalize('NFC'));
    if (found !== undefined) return found;
  }
  return once.has(key) ? files.get(key) : undefined;
}

/**
 * True when a feed of a build tool is not in a folder of its release, and several releases have a feed of this name.
 * Every release has a `latest.yml`, and in one directory each release overwrites the feed of the previous release. The
 * import takes such a release without its feed.
 */
export function isLostFeed(
  { name, path }: { readonly name: string; readonly path: string | undefined },
  once: ReadonlySet<string>,
): boolean {
  return path === undefined && isFeedName(name) && !once.has(name.normalize('NFC'));
}
