import { randomUUID } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { isMissing } from './filesystem-errors.ts';
import type { Volume } from './filesystem-volume.ts';
import { createFile } from './filesystem-write.ts';

/** Cannot be the file of a key: `!` stands before a letter only. */
const FILE = 'store!.json';

/**
 * The id of the store in a directory, from a file of its own; undefined when the directory holds no store.
 *
 * Tells an empty store from a volume that is not mounted, which shows as an empty directory or none.
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

/** Gives the store in the volume's root an id, unless it has one. */
export async function ensureIdentity(volume: Volume): Promise<void> {
  if ((await readIdentity(volume.root)) !== undefined) return;
  const identity = { schema_version: 1, type: 'store', id: randomUUID() };
  // Of several processes that open a new store at once, the first one's id counts.
  await createFile(volume, join(volume.root, FILE), (file) =>
    file.writeFile(`${JSON.stringify(identity)}\n`),
  );
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
