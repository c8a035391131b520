import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys, isKey, TEMPORARY_PREFIX } from '../key.ts';
import { isMissing } from './errors.ts';
import { parsePart, partsOf } from './names.ts';

interface FoundFile {
  readonly key: string;
  readonly path: string;
}

interface FoundEntry extends FoundFile {
  readonly isDirectory: boolean;
}

/**
 * Lists the files whose key starts with the prefix and sorts after `after`, in key order.
 *
 * Leaves out files that are deleted meanwhile, and everything that is not a regular file with the name of a
 * valid key.
 */
export async function* listFiles(
  root: string,
  prefix: string,
  after = '',
): AsyncGenerator<FoundFile> {
  // The walk begins in the directory of the prefix: the directories above it may have thousands of other entries.
  const parent = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const directory = await descend(root, parent.split('/').slice(0, -1).flatMap(partsOf));
  if (directory === undefined) return;
  for await (const file of walk(directory, parent, { prefix, after })) {
    if (isKey(file.key)) {
      yield file;
    }
  }
}

/** The directory below `root`; undefined when it is missing. Follows no links, which could lead elsewhere. */
async function descend(root: string, names: readonly string[]): Promise<string | undefined> {
  let directory = root;
  for (const name of names) {
    directory = join(directory, name);
    if ((await statIfPresent(directory))?.isDirectory() !== true) return undefined;
  }
  return directory;
}

/** The paths of unfinished files anywhere below the directory. */
export async function* listTemporaryFiles(directory: string): AsyncGenerator<string> {
  for (const entry of await readDirectory(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      yield* listTemporaryFiles(path);
    } else if (entry.name.startsWith(TEMPORARY_PREFIX)) {
      yield path;
    }
  }
}

interface Wanted {
  readonly prefix: string;
  readonly after: string;
}

async function* walk(directory: string, parent: string, wanted: Wanted): AsyncGenerator<FoundFile> {
  const entries = await readEntries(directory, (segment, isDirectory) => {
    // Sorts a directory by its name and a slash, because the keys of its files begin with this text: `a-b` is before
    // `a/b`.
    const key = `${parent}${segment}${isDirectory ? '/' : ''}`;
    return isWanted(key, isDirectory, wanted) ? key : undefined;
  });
  entries.sort((a, b) => compareKeys(a.key, b.key));
  for (const { key, path, isDirectory } of entries) {
    if (isDirectory) {
      yield* walk(path, key, wanted);
    } else {
      yield { key, path };
    }
  }
}

/** True for a key that is listed, and for a directory that may have such keys. */
function isWanted(key: string, isDirectory: boolean, { prefix, after }: Wanted): boolean {
  if (!key.startsWith(prefix) && !(isDirectory && prefix.startsWith(key))) return false;
  return after === '' || compareKeys(key, after) > 0 || (isDirectory && after.startsWith(key));
}

/**
 * The entries of a directory. Joins segments that are split over several directories.
 *
 * @param keyOf returns undefined for a segment to leave out. It runs before the other checks, which cost much more: a
 *   directory may have a hundred thousand revisions, of which the caller wants the newest
 */
async function readEntries(
  directory: string,
  keyOf: (segment: string, isDirectory: boolean) => string | undefined,
  before: readonly string[] = [],
): Promise<FoundEntry[]> {
  const found: FoundEntry[] = [];
  for (const entry of await readDirectory(directory)) {
    const isDirectory = entry.isDirectory();
    const names = [...before, entry.name];
    const { isContinued } = parsePart(entry.name);
    if (isContinued && isDirectory) {
      const continued = await readEntries(join(directory, entry.name), keyOf, names);
      for (const each of continued) found.push(each);
    } else if (!isContinued && (isDirectory || entry.isFile())) {
      const segment = names.map((name) => parsePart(name).text).join('');
      const key = keyOf(segment, isDirectory);
      // Ignores names that partsOf would not make, such as files that a desktop system leaves.
      if (key === undefined || segment.includes('/')) continue;
      if (partsOf(segment).join('/') !== names.join('/')) continue;
      found.push({ key, path: join(directory, entry.name), isDirectory });
    }
  }
  return found;
}

async function readDirectory(path: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      entries.push(entry);
    }
  } catch (error) {
    if (!isMissing(error)) {
      throw error;
    }
  }
  return entries;
}

/** The file's status; undefined when the file does not exist. */
export async function statIfPresent(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}
