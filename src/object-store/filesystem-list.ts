import type { BigIntStats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from './filesystem-errors.ts';
import { compareKeys, isKey, TEMPORARY_PREFIX } from './key.ts';

export interface FoundFile {
  /** Relative to the root, with `/`. */
  readonly key: string;
  readonly path: string;
}

/**
 * The files whose key starts with the prefix, in key order.
 *
 * What vanishes meanwhile is left out, and so is everything that is not a plain file under a valid key.
 */
export async function* listFiles(root: string, prefix: string): AsyncGenerator<FoundFile> {
  for await (const file of walk(root, '', prefix)) {
    if (isKey(file.key)) {
      yield file;
    }
  }
}

/** Unfinished files anywhere below the root. */
export async function* listTemporaryFiles(root: string): AsyncGenerator<FoundFile> {
  for await (const file of walk(root, '', '')) {
    if (isTemporary(file.key)) {
      yield file;
    }
  }
}

async function* walk(root: string, parent: string, prefix: string): AsyncGenerator<FoundFile> {
  const entries: { key: string; sortKey: string; isDirectory: boolean }[] = [];
  for (const entry of await readDirectory(join(root, parent))) {
    const key = `${parent}${entry.name}`;
    // A directory sorts as its files do, which all begin with its name and a slash: `a-b` is before `a/b`.
    const sortKey = entry.isDirectory() ? `${key}/` : key;
    const leadsToPrefix = entry.isDirectory() && prefix.startsWith(sortKey);
    if ((entry.isDirectory() || entry.isFile()) && (sortKey.startsWith(prefix) || leadsToPrefix)) {
      entries.push({ key, sortKey, isDirectory: entry.isDirectory() });
    }
  }
  entries.sort((a, b) => compareKeys(a.sortKey, b.sortKey));
  for (const { key, sortKey, isDirectory } of entries) {
    if (isDirectory) {
      yield* walk(root, sortKey, prefix);
    } else {
      yield { key, path: join(root, key) };
    }
  }
}

async function readDirectory(path: string) {
  const entries = [];
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

function isTemporary(key: string): boolean {
  return key.slice(key.lastIndexOf('/') + 1).startsWith(TEMPORARY_PREFIX);
}
