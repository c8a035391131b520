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
 * The path of a file: in the folder of its release, else beside the index. Beside the index, a file with the name of
 * several releases could be of any of them, so it is not taken.
 *
 * @param own where the release's folder has it, relative to the source
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
 * True when a feed of a build tool is not in a folder of its release. Every release has a `latest.yml`, and in one
 * directory each overwrites the one before it: its release is imported without it.
 */
export function isLostFeed(
  { name, path }: { readonly name: string; readonly path: string | undefined },
  once: ReadonlySet<string>,
): boolean {
  return path === undefined && isFeedName(name) && !once.has(name.normalize('NFC'));
}
