import { appendFile, lstat, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { findOddPlace } from '../../core/plain-directory.ts';
import type { IgnoredNames } from './git-ignore.ts';
import type { PlannedFile } from './planned-files.ts';

/** Creates files, and never replaces one. */

/** The changes of one run. */
export interface Changes {
  /** The directory of the repository: the command writes nothing outside it. */
  readonly root: string;
  readonly files: readonly PlannedFile[];
  readonly ignored: IgnoredNames;
}

/**
 * Checks every place that a run writes to, so that a refused run has changed nothing.
 *
 * @throws AppError `status_forbids` for a link or a file in place of a directory, and for a `.gitignore` that is not a
 *   regular file
 */
export async function checkPlaces({ root, files, ignored }: Changes): Promise<void> {
  const written = files.filter(({ exists }) => !exists).map((file) => file.path);
  if (ignored.added !== '') {
    await refuseOddIgnoreFile(ignored.path);
    written.push(ignored.path);
  }
  await refuseOddDirectories(root, written.map(path.dirname));
}

/** Writes `.gitignore` first, so that Git never sees the settings. Call `checkPlaces` before this function. */
export async function writeChanges({ files, ignored }: Changes): Promise<void> {
  if (ignored.added !== '') await appendFile(ignored.path, ignored.added);
  for (const file of files) if (!file.exists) await createFile(file);
}

/**
 * @throws AppError `status_forbids` when another process has just created the path; errors of the file system, after
 *   deleting the incomplete file
 */
async function createFile({ path: file, text }: PlannedFile): Promise<void> {
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

/** Refuses a link anywhere between the root and a file, such as `.github`: the link could lead out of the project. */
async function refuseOddDirectories(root: string, directories: readonly string[]): Promise<void> {
  const odd = await findOddPlace(root, directories);
  if (odd === undefined) return;
  const why = odd.isLink
    ? `${odd.path} is a link, and no file is written through it. Replace the link with a directory, or run the command in the directory that it leads to.`
    : `${odd.path} is not a directory, and the command writes files into a directory of that name. Rename it.`;
  throw new AppError('status_forbids', why);
}

async function refuseOddIgnoreFile(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  const why = `${file} is not a regular file, so nothing was added to it. Make Git ignore .env in another way.`;
  throw new AppError('status_forbids', why);
}
