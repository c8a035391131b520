import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Arch } from '../domain/platform.ts';
import type { Statement } from './descriptor.ts';
import { hasCode, refusal } from './refusal.ts';

/** A file of the build, and the names around it. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Names of the folders above the file, outermost first. */
  readonly folders: readonly string[];
  /** The names in the file's directory, with its own name. */
  readonly siblings: readonly string[];
  /** The facts that the publisher stated about the file; null for a file that was found in a directory. */
  readonly statement: Statement | null;
  /** Set for a file of another update server; absent for a file of a build. */
  readonly imported?: {
    /** The architecture that counts when no source states one. */
    readonly usualArch: Arch | undefined;
  };
}

/** Describes a file. Reads the directory of the file, unless the caller gives `siblings`. */
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

/** The path of another name in the directory of a file. */
export function beside(file: SourceFile, name: string): string {
  return join(dirname(file.path), name);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    // A user may be allowed to open a file in a directory that the user may not list.
    if (hasCode(error, 'EACCES', 'EPERM')) return [];
    throw refusal(directory, 'it cannot be read', error);
  }
}
