import { randomUUID } from 'node:crypto';
import { link, lstat, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { isMissing, systemCode } from './filesystem-errors.ts';
import { TEMPORARY_PREFIX } from './key.ts';

/** No key is spelled like this. */
const FILE = 'store!.json';

/**
 * The id of the store in a directory, in a file of its own: a directory without it is no store, whatever
 * it holds. A volume that is not mounted shows as an empty directory, or none.
 */
export async function readIdentity(root: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(join(root, FILE), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    if (typeof id === 'string') return id;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AppError(
    'document_corrupt',
    `${join(root, FILE)} holds no id of a store. Restore it from a backup, or delete it to have a new one made.`,
  );
}

/** The id of the store in the directory, which is made when there is none. */
export async function ensureIdentity(root: string): Promise<string> {
  const known = await readIdentity(root);
  if (known !== undefined) return known;
  const id = randomUUID();
  const temporary = join(root, `${TEMPORARY_PREFIX}${id}`);
  try {
    await writeFile(temporary, `${JSON.stringify({ schema_version: 1, type: 'store', id })}\n`, {
      flag: 'wx',
      flush: true,
    });
    await link(temporary, join(root, FILE));
    return id;
  } catch (error) {
    // Another process was first.
    if (systemCode(error) !== 'EEXIST') throw error;
    return ensureIdentity(root);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @throws AppError `store_unavailable` when the file is gone that was there before */
export async function refuseVanished(root: string): Promise<void> {
  try {
    await lstat(join(root, FILE));
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new AppError(
      'store_unavailable',
      `The store in ${root} is gone: ${FILE} was there before. Is its volume still mounted?`,
    );
  }
}
