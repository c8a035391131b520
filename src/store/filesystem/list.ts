import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys, isKey, TEMPORARY_PREFIX } from '../key.ts';
import { isMissing } from './errors.ts';
import { isPlain, parsePart, partsOf } from './names.ts';

interface FoundFile {
  readonly key: string;
  readonly path: string;
}

interface FoundEntry extends FoundFile {
  readonly isDirectory: boolean;
}

/**
 * Lists the files whose key starts with the prefix, in key order.
 *
 * Leaves out files that are deleted meanwhile, and everything that is not a regular file with the name of a
 * valid key.
 *
 * @param after lists only the keys after this key
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
  for await (const file of walk(directory, parent, prefix, after)) {
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

async function* walk(
  directory: string,
  parent: string,
  prefix: string,
  after: string,
): AsyncGenerator<FoundFile> {
  const entries: FoundEntry[] = [];
  // A directory may have thousands of files, so the files up to `after` are left out first.
  const isLeftOut = (entry: Dirent): boolean =>
    !entry.isDirectory() &&
    compareKeys(`${parent}${entry.name}`, after) <= 0 &&
    isPlain(entry.name);
  for await (const { key: segment, ...entry } of readSegments(directory, [], isLeftOut)) {
    // Sorts a directory by its name and a slash, because the keys of its files begin with this text: `a-b` is before
    // `a/b`.
    const key = `${parent}${segment}${entry.isDirectory ? '/' : ''}`;
    const isLater = compareKeys(key, after) > 0 || (entry.isDirectory && after.startsWith(key));
    if (!isLater) continue;
    if (key.startsWith(prefix) || (entry.isDirectory && prefix.startsWith(key))) {
      entries.push({ key, ...entry });
    }
  }
  entries.sort((a, b) => compareKeys(a.key, b.key));
  for (const { key, path, isDirectory } of entries) {
    if (isDirectory) {
      yield* walk(path, key, prefix, after);
    } else {
      yield { key, path };
    }
  }
}

/** The key segments of this directory's entries. Joins segments that are split over several directories. */
async function* readSegments(
  directory: string,
  before: readonly string[],
  isLeftOut: (entry: Dirent) => boolean = () => false,
): AsyncGenerator<FoundEntry> {
  for (const entry of await readDirectory(directory, isLeftOut)) {
    const path = join(directory, entry.name);
    const names = [...before, entry.name];
    const { isContinued } = parsePart(entry.name);
    if (isContinued && entry.isDirectory()) {
      yield* readSegments(path, names);
    } else if (!isContinued && (entry.isDirectory() || entry.isFile())) {
      const key = names.map((name) => parsePart(name).text).join('');
      // Ignores names that partsOf would not make, such as files that a desktop system leaves.
      if (!key.includes('/') && partsOf(key).join('/') === names.join('/')) {
        yield { key, path, isDirectory: entry.isDirectory() };
      }
    }
  }
}

async function readDirectory(
  path: string,
  isLeftOut: (entry: Dirent) => boolean = () => false,
): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      if (!isLeftOut(entry)) entries.push(entry);
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
