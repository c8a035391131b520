import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from './filesystem-errors.ts';
import { parsePart, partsOf } from './filesystem-names.ts';
import { compareKeys, isKey, TEMPORARY_PREFIX } from './key.ts';

export interface FoundFile {
  readonly key: string;
  readonly path: string;
}

interface Entry extends FoundFile {
  readonly isDirectory: boolean;
}

/**
 * The files whose key starts with the prefix, in key order.
 *
 * What vanishes meanwhile is left out, and so is everything that is not a plain file under the name of
 * a valid key.
 */
export async function* listFiles(root: string, prefix: string): AsyncGenerator<FoundFile> {
  for await (const file of walk(root, '', prefix)) {
    if (isKey(file.key)) {
      yield file;
    }
  }
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

async function* walk(directory: string, parent: string, prefix: string): AsyncGenerator<FoundFile> {
  const entries: Entry[] = [];
  for await (const { key: segment, ...entry } of readSegments(directory, [])) {
    // A directory sorts as its files do, which all begin with its name and a slash: `a-b` is before `a/b`.
    const key = `${parent}${segment}${entry.isDirectory ? '/' : ''}`;
    if (key.startsWith(prefix) || (entry.isDirectory && prefix.startsWith(key))) {
      entries.push({ key, ...entry });
    }
  }
  entries.sort((a, b) => compareKeys(a.key, b.key));
  for (const { key, path, isDirectory } of entries) {
    if (isDirectory) {
      yield* walk(path, key, prefix);
    } else {
      yield { key, path };
    }
  }
}

/** The segments that have a file or a directory here, those too long for one name put together. */
async function* readSegments(directory: string, before: readonly string[]): AsyncGenerator<Entry> {
  for (const entry of await readDirectory(directory)) {
    const path = join(directory, entry.name);
    const names = [...before, entry.name];
    const { isContinued } = parsePart(entry.name);
    if (isContinued && entry.isDirectory()) {
      yield* readSegments(path, names);
    } else if (!isContinued && (entry.isDirectory() || entry.isFile())) {
      const key = names.map((name) => parsePart(name).text).join('');
      // A name that partsOf would not make is ignored, for example a file of the desktop.
      if (!key.includes('/') && partsOf(key).join('/') === names.join('/')) {
        yield { key, path, isDirectory: entry.isDirectory() };
      }
    }
  }
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

/** The file's status, or undefined when it has vanished. */
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
