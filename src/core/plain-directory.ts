import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './errors.ts';

/**
 * Directories below a directory that a user named. A link in place of such a directory could lead out of the named
 * directory, and the program would write or remove files elsewhere. On Windows, junctions count as links.
 */

/**
 * Finds the first place with something other than a directory. Looks at the root, at the given directories, and at
 * every directory between the root and them. Undefined when each of these places has a directory or nothing.
 */
export async function findOddPlace(
  root: string,
  directories: readonly string[],
): Promise<{ readonly path: string; readonly isLink: boolean } | undefined> {
  const places = new Set([root]);
  for (const directory of directories) {
    let at = root;
    for (const name of path.relative(root, directory).split(path.sep)) {
      at = path.join(at, name);
      places.add(at);
    }
  }
  for (const place of places) {
    const found = await lstat(place).catch(() => undefined);
    if (found?.isDirectory() === false) return { path: place, isLink: found.isSymbolicLink() };
  }
  return undefined;
}

/** A directory that stays the same while it is open, whatever other processes rename or link above it. */
export interface OpenDirectory {
  /** The path of the directory. Callers add the names of entries to it. */
  readonly path: string;
  close(): Promise<void>;
}

/** Linux shows open directories here. A path through an open directory does not look up the names above it again. */
const OPEN_FILES = '/proc/self/fd';
const STAYS_OPEN = process.platform === 'linux' && existsSync(OPEN_FILES);

/** Opens a directory that a user named. Follows links. */
export function openDirectory(directory: string): Promise<OpenDirectory> {
  return hold(directory, 0);
}

/**
 * Opens a directory below another directory, and follows no links. On systems other than Linux, it follows a link that
 * another process makes between the check and the use.
 *
 * @param creates true: creates missing directories
 * @param onLink makes the error for a link; gets the path of the link relative to `root`
 * @throws the error of `onLink`; errors of the system: ENOTDIR for a file, ENOENT for a missing directory
 */
export async function openBelow(
  root: OpenDirectory,
  names: readonly string[],
  creates: boolean,
  onLink: (name: string) => Error,
): Promise<OpenDirectory> {
  let at: OpenDirectory = { path: root.path, close: async () => {} };
  for (const [index, name] of names.entries()) {
    try {
      const next = path.join(at.path, name);
      const refuseLink = async (): Promise<void> => {
        const found = await lstat(next).catch(() => undefined);
        if (found?.isSymbolicLink()) throw onLink(names.slice(0, index + 1).join('/'));
      };
      if (!STAYS_OPEN) await refuseLink();
      const opened = await openOrMake(next, creates).catch(async (error: unknown) => {
        await refuseLink();
        throw error;
      });
      await at.close();
      at = opened;
    } catch (error) {
      await at.close();
      throw error;
    }
  }
  return at;
}

async function openOrMake(directory: string, creates: boolean): Promise<OpenDirectory> {
  try {
    return await hold(directory, constants.O_NOFOLLOW);
  } catch (error) {
    if (!creates || systemCode(error) !== 'ENOENT') throw error;
    await mkdir(directory).catch((failure: unknown) => {
      // A concurrent write of another file may have created the directory.
      if (systemCode(failure) !== 'EEXIST') throw failure;
    });
    return hold(directory, constants.O_NOFOLLOW);
  }
}

async function hold(directory: string, flags: number): Promise<OpenDirectory> {
  if (!STAYS_OPEN) {
    await (await opendir(directory)).close();
    return { path: directory, close: async () => {} };
  }
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | flags);
  return { path: `${OPEN_FILES}/${handle.fd}`, close: () => handle.close() };
}
