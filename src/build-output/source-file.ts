import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Statement } from './descriptor.ts';
import { hasCode, refusal } from './refusal.ts';

/** A file to look at, and what lies around it. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Names of the folders above it, outermost first, as they are written. */
  readonly folders: readonly string[];
  /** Names in its directory, its own among them. */
  readonly siblings: readonly string[];
  /** What its publisher says of it; null when it was only found in a directory. */
  readonly statement: Statement | null;
}

/** Describes one file, reading its directory unless the caller has. */
export async function describeFile(
  path: string,
  statement: Statement | null,
  siblings?: readonly string[],
): Promise<SourceFile> {
  const { size } = await stat(path);
  return {
    path,
    name: basename(path),
    size,
    folders: dirname(path)
      .split(/[/\\]/)
      .filter((folder) => folder !== ''),
    siblings: siblings ?? (await namesIn(dirname(path))),
    statement,
  };
}

/** As messages and sidecars of its directory call it. */
export function beside(file: SourceFile, name: string): string {
  return join(dirname(file.path), name);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    // One may be allowed to open a file in a directory that one may not list.
    if (hasCode(error, 'EACCES', 'EPERM')) return [];
    throw refusal(directory, 'it cannot be read', error);
  }
}
