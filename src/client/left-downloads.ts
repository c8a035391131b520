import type { Stats } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isOfThisUser, isOwnerGone } from '../core/owner-mark.ts';
import { DAY, MARK, partialOf, pipeOf } from './download-owner.ts';
import { ignoreMissing } from './file-errors.ts';
import { sizeOfOwnFile } from './own-files.ts';

/** What killed and ended processes left in the directory of the downloads. */

/** The client removes temporary files of killed processes after this time. A newer file may belong to a running process. */
export const LEFT_AFTER_MS = 24 * 3_600_000;

/** An entry of the directory, never what a link points to. */
export interface Found {
  readonly name: string;
  readonly kind: 'folder' | 'mark' | 'other';
  /** Belongs to this user. */
  readonly isOwn: boolean;
  /** A mark whose process may live. */
  readonly isLiving: boolean;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/**
 * The entries to remove: marks of processes that have ended, and the folders that no living process uses. Links, and what
 * other users or other programs made, stay.
 *
 * @param isObsolete true for a folder that may go
 */
export function decideLeft(
  all: readonly Found[],
  isObsolete: (folder: Found) => boolean,
): readonly string[] {
  const used = new Set(all.filter(({ isLiving }) => isLiving).map(({ name }) => folderOf(name)));
  const isLeft = (each: Found): boolean => {
    if (each.kind === 'mark') return !each.isLiving;
    return each.kind === 'folder' && !used.has(each.name) && isObsolete(each);
  };
  return all.filter((each) => each.isOwn && isLeft(each)).map(({ name }) => name);
}

const folderOf = (mark: string): string | undefined => MARK.exec(mark)?.[1];

/** Removes what `decideLeft` says. What cannot be removed stays: an installer that runs is locked on Windows. */
export async function removeLeft(
  directory: string,
  now: number,
  isObsolete: (folder: Found) => boolean,
): Promise<void> {
  for (const name of decideLeft(await findAll(directory, now), isObsolete)) {
    await rm(path.join(directory, name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Renames the largest partial file of ended processes to `own`, and removes the other unused ones.
 *
 * @param own the path of the partial file of the download
 * @param max bytes of the whole file
 */
export async function takeOver(own: string, max: number, now: number): Promise<void> {
  const folder = path.dirname(own);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
  const used = (await findAll(path.dirname(folder), now))
    .filter(({ name, isLiving }) => isLiving && folderOf(name) === path.basename(folder))
    .map(({ name }) => partialOf(MARK.exec(name)?.[2] ?? ''));
  let largest = 0;
  for (const name of names.filter((each) => !used.includes(each))) {
    const left = path.join(folder, name);
    const size = (await sizeOfOwnFile(left)) ?? 0;
    const found = await lstat(left).catch(ignoreMissing);
    if (found !== undefined && isOfThisUser(found) && size > largest && size <= max) {
      // Another process may take it over at the same time. One of the two gets it.
      await rename(left, own).catch(ignoreMissing);
      largest = size;
    } else {
      await rm(left, { recursive: true, force: true });
    }
  }
}

async function findAll(directory: string, now: number): Promise<readonly Found[]> {
  const list = async () => (await readdir(directory).catch(ignoreMissing)) ?? [];
  // A process makes its mark before it uses a folder. So the marks are listed after the folders.
  const names = (await list()).filter((name) => !MARK.test(name));
  names.push(...(await list()).filter((name) => MARK.test(name)));
  const all: Found[] = [];
  for (const name of names) {
    const file = path.join(directory, name);
    const found = await lstat(file).catch(ignoreMissing);
    if (found === undefined) continue;
    const kind = kindOf(name, found);
    const changedAt = found.mtimeMs;
    const isLiving = kind === 'mark' && (await isMarkLiving(file, changedAt, now));
    all.push({ name, kind, isOwn: isOfThisUser(found), isLiving, changedAt });
  }
  return all;
}

/** A mark is a file on Windows and with the suffix `.day`, else a socket. */
function kindOf(name: string, found: Stats): Found['kind'] {
  if (/^[0-9a-f]{16}$/.test(name)) return found.isDirectory() ? 'folder' : 'other';
  if (!MARK.test(name)) return 'other';
  const isFile = process.platform === 'win32' || name.endsWith(DAY);
  return (isFile ? found.isFile() : found.isSocket()) ? 'mark' : 'other';
}

async function isMarkLiving(file: string, madeAt: number, now: number): Promise<boolean> {
  if (file.endsWith(DAY)) return madeAt > now - LEFT_AFTER_MS;
  return !(await isOwnerGone({ file, pipe: pipeOf(file) }));
}
