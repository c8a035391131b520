import { randomUUID } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { isMissing } from './filesystem-errors.ts';
import type { Volume } from './filesystem-volume.ts';
import { createFile } from './filesystem-write.ts';

/** No key has this file name: in the file name of a key, a letter follows each `!`. */
const FILE = 'store!.json';

/**
 * Reads the id of the store in a directory; undefined when the directory holds no store.
 *
 * The id distinguishes an empty store from a volume that is not mounted: its directory is empty or missing.
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
    `${join(root, FILE)} holds no store id. Restore the file from a backup, or delete it: the next write then makes a new one.`,
  );
}

/** Gives the store in the volume's root an id, unless it has one. */
export async function ensureIdentity(volume: Volume): Promise<void> {
  if ((await readIdentity(volume.root)) !== undefined) return;
  const identity = { schema_version: 1, type: 'store', id: randomUUID() };
  // When several processes open a new store at the same time, only the first creates the file.
  await createFile(volume, join(volume.root, FILE), (file) =>
    file.writeFile(`${JSON.stringify(identity)}\n`),
  );
}

/** @throws AppError `store_unavailable` when the id's file, which existed before, is gone */
export async function refuseVanished(root: string): Promise<void> {
  try {
    await lstat(join(root, FILE));
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new AppError(
      'store_unavailable',
      `The store in ${root} is gone: ${FILE} existed before. Is the volume still mounted?`,
    );
  }
}
