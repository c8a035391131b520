import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError, isAppError, systemCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { createOwnDirectory } from '../../core/own-directory.ts';
import { parseStateFile, stateDirectoryOf } from '../../core/state-file.ts';
import { isMissing } from '../filesystem/errors.ts';
import { findIdIn, type KnownStore, UNSAVED } from '../filesystem/identity.ts';

/**
 * Remembers in the saved state which store a directory contained. The service, its workers and the commands share this
 * record when they use the same DATA_DIR.
 *
 * @param directory the directory of the saved state
 * @param location the location of the store
 */
export function createKnownStore(directory: string, location: string): KnownStore {
  const file = path.join(directory, 'store.json');
  const load = async (): Promise<string | undefined> => {
    try {
      return parseId(await readFile(file, 'utf8'), file);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return await readEarlierId(stateDirectoryOf({ directory, location }));
    }
  };
  return {
    place: directory,
    load,
    save: async (id) => {
      const text = JSON.stringify({ id, location });
      try {
        if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
        await createOwnDirectory(directory);
        await writeSynced(file, text);
      } catch (error) {
        // Ignores a full or read-only volume: the service logs this problem already when it saves its catalog here.
        if (systemCode(error) === undefined && !isAppError(error)) throw error;
      }
    },
  };
}

/**
 * Reads the id that earlier versions saved in the list of applications, which the service saves with its catalog.
 * {@link UNSAVED} when the list has no id; undefined when there is no list.
 */
async function readEarlierId(directory: string): Promise<string | undefined> {
  try {
    const list = parseStateFile(await readFile(path.join(directory, 'applications.json'), 'utf8'));
    return isRecord(list) && typeof list.storeId === 'string' ? list.storeId : UNSAVED;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Writes a file so that a power cut leaves the old file or the new file. */
async function writeSynced(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * @throws AppError `store_unavailable`: without the id, the process could make a new store where a volume is not
 *   mounted
 */
function parseId(text: string, file: string): string {
  const id = findIdIn(text);
  if (id !== undefined) return id;
  throw new AppError(
    'store_unavailable',
    `${file} is corrupt: it does not say which store belongs to this DATA_DIR. If the right volume is mounted, delete this file and start again.`,
  );
}
