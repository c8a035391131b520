import { appendFile, lstat, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from '../../../src/errors.ts';
import type { IgnoredNames } from './git-ignore.ts';
import type { PlannedFile } from './planned-files.ts';

/** Creates files, and never replaces one. */

/**
 * @throws AppError `status_forbids` when the path exists, also when another process has just created it; errors of the
 *   file system, after deleting the incomplete file
 */
export async function createFile({ path: file, text }: Pick<PlannedFile, 'path' | 'text'>) {
  await refuseLinks(path.dirname(file));
  await mkdir(path.dirname(file), { recursive: true });
  const handle = await open(file, 'wx').catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new AppError('status_forbids', `${file} exists, and was left alone.`, { cause: error });
  });
  try {
    await handle.writeFile(text);
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(file, { force: true });
    throw error;
  }
}

/** A folder such as `.github` that is a link could lead out of the project. */
async function refuseLinks(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => undefined);
  if (found === undefined) return refuseLinks(path.dirname(directory));
  if (!found.isSymbolicLink()) return;
  const why = `${directory} is a link, and no file is written through it. Replace the link with a directory, or run the command in the directory that it leads to.`;
  throw new AppError('status_forbids', why);
}

/**
 * Adds lines to the end of a file, or creates it with them.
 *
 * @throws AppError `status_forbids` for anything but a regular file
 */
export async function addIgnored({ path: file, added }: IgnoredNames): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile()) {
    const why = `${file} is not a regular file, so nothing was added to it. Make Git ignore .env in another way.`;
    throw new AppError('status_forbids', why);
  }
  await appendFile(file, added);
}
