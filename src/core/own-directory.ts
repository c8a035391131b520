import { access, constants, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from './errors.ts';

const NOT_ALLOWED = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST'];

/**
 * Creates a directory and its parents, readable by their owner alone: accounts, messages and secrets are stored there.
 *
 * @returns the first directory that it created; undefined if all of them existed
 * @throws AppError `store_denied` when this process may not create it; otherwise the system's error
 */
export async function createOwnDirectory(directory: string): Promise<string | undefined> {
  try {
    return await createBelow(directory);
  } catch (error) {
    if (!NOT_ALLOWED.includes(systemCode(error) ?? '')) throw error;
    throw new AppError(
      'store_denied',
      `Could not create the directory ${directory}: ${await findWriteProblem(directory, error)}. Set DATA_DIR to a directory that this process may write.`,
      { cause: error },
    );
  }
}

/**
 * Creates one directory at a time, because Node's recursive mkdir does not report the reason of a failure, and never
 * ends below /proc.
 */
async function createBelow(directory: string): Promise<string | undefined> {
  if ((await stat(directory).catch(() => undefined))?.isDirectory()) return undefined;
  const parent = path.dirname(directory);
  const first = parent === directory ? undefined : await createBelow(parent);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the directory first.
    const isThere = (await stat(directory).catch(() => undefined))?.isDirectory();
    if (systemCode(error) !== 'EEXIST' || isThere !== true) throw error;
  }
  return first ?? directory;
}

/**
 * Returns the reason why this process cannot write in a directory or create it, as a clause; undefined when it can.
 * Creates nothing.
 *
 * On a read-only volume, mkdir may fail with ENOENT: the nearest existing directory tells the reason.
 *
 * @param failure the failure of an earlier attempt; it is the reason when this process has the right to write
 */
export async function findWriteProblem(
  directory: string,
  failure?: unknown,
): Promise<string | undefined> {
  const found = await stat(directory).catch(() => undefined);
  const parent = path.dirname(directory);
  if (found === undefined && parent !== directory) return findWriteProblem(parent, failure);
  if (found?.isDirectory() === false) return `${directory} is not a directory`;
  const refusal = await access(directory, constants.W_OK).then(
    () => failure,
    (refused: unknown) => refused,
  );
  if (refusal === undefined) return undefined;
  const code = systemCode(refusal) ?? String(refusal);
  if (code === 'EROFS') return `${directory} is on a read-only volume`;
  return code === 'EACCES' ? `this process may not write in ${directory}` : code;
}
