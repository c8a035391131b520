import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasCode, misuse, refusal } from '../../../builds/refusal.ts';
import { readPlainText } from '../../../core/plain-file.ts';

/** The files of a source on disk. */

/**
 * The deepest folder that is listed. A tag may contain slashes, and a server may keep a folder for each version and
 * platform.
 */
const DEPTH_MAX = 6;

/**
 * The absolute paths of the regular files below a directory. The keys are the paths relative to the directory, with `/`
 * and in NFC.
 */
export type Files = ReadonlyMap<string, string>;

/**
 * Lists files. It follows no links, because they could lead to files outside the source.
 *
 * @param depth 1: only the files of the directory itself
 * @throws AppError `invalid_artifact` for a directory that cannot be read
 */
export async function listFiles(directory: string, depth = DEPTH_MAX): Promise<Files> {
  const files = new Map<string, string>();
  const walk = async (at: string, prefix: string, left: number): Promise<void> => {
    for (const entry of await entriesOf(at)) {
      const path = join(at, entry.name);
      const relative = `${prefix}${entry.name.normalize('NFC')}`;
      if (entry.isFile()) files.set(relative, path);
      else if (entry.isDirectory() && left > 1) await walk(path, `${relative}/`, left - 1);
    }
  };
  await walk(directory, '', depth);
  return files;
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw refusal(directory, 'it cannot be read', error);
  }
}

/**
 * Reads an index as text, without a byte order mark.
 *
 * @throws AppError `invalid_request` when the index is missing, cannot be read or is too large
 */
export async function readIndex(path: string, bytesMax: number): Promise<string> {
  try {
    const text = await readPlainText(path, bytesMax);
    if (text !== undefined) return text;
    throw misuse(path, `it has more than the ${bytesMax} bytes that an index may have. Split it`);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw misuse(path, 'there is no such file. Check the path');
    if (hasCode(error, 'EACCES', 'EPERM', 'EISDIR')) {
      throw misuse(path, 'it cannot be read as a file', error);
    }
    throw error;
  }
}

/** The last part of an address or a path, decoded; undefined when this part cannot be the name of a file. */
export function nameInAddress(address: string): string | undefined {
  const bare = /^[a-z][a-z0-9+.-]*:/i.test(address) ? address.replace(/[?#].*$/s, '') : address;
  const last = bare.split(/[/\\]/).at(-1) ?? '';
  const name = decoded(last).normalize('NFC');
  return name === '' || name !== basename(name) || name === '..' || name === '.' ? undefined : name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A name may contain a percent sign that begins no escape.
    return text;
  }
}
