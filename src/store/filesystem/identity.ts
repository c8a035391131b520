import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import { isMissing } from './errors.ts';
import { listFiles } from './list.ts';
import type { Volume } from './volume.ts';
import { createFile } from './write.ts';

/**
 * The id of a directory store distinguishes the store from a directory that is empty or missing because its volume is
 * not mounted, and from another store that is mounted in its place.
 */

/** No key has this file name: in the file name of a key, a letter follows each `!`. */
const FILE = 'store!.json';
const FILE_BYTES_MAX = 4_096n;

/** Stands for the id of a store whose file contains no id. No id can be equal to this text. */
const UNREADABLE = '(its id cannot be read)';

/** Stands for the id of a store that a process has used before, when the saved state does not contain this id. */
export const UNSAVED = '(its id was not saved)';

/** Remembers the store that belongs in a directory. The record lies outside of this directory. */
export interface KnownStore {
  /** The directory with the record, for messages. */
  readonly place: string;
  /**
   * The id of the store that a process has used in the directory before, or {@link UNSAVED}; undefined when no process
   * has used a store there.
   */
  load(): Promise<string | undefined>;
  save(id: string): Promise<void>;
}

/** Prevents a process from using a directory that is not its store. */
export interface IdentityGuard {
  /**
   * The id of the store; undefined when the directory has no store, and had no store before.
   *
   * @throws AppError `store_unavailable` when the known store is gone, or another store is in its place
   */
  confirm(): Promise<string | undefined>;
  /** Gives the store an id, unless the store has an id already, and remembers the id. */
  establish(): Promise<void>;
}

/** @param known undefined when only this process remembers the id */
export function createIdentityGuard(volume: Volume, known: KnownStore | undefined): IdentityGuard {
  const file = join(volume.root, FILE);
  let expected: string | undefined;
  let isSaved = false;
  let read: { readonly state: string; readonly id: string } | undefined;

  /** Reads the file only after it changed, because every request to the store asks for the id. */
  const findId = async (): Promise<string | undefined> => {
    try {
      const stats = await stat(file, { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs } = stats;
      const state = [dev, ino, size, mtimeNs, ctimeNs].join();
      if (read?.state === state) return read.id;
      const isSmall = stats.isFile() && size <= FILE_BYTES_MAX;
      read = { state, id: findIdIn(isSmall ? await readFile(file, 'utf8') : '') ?? UNREADABLE };
      return read.id;
    } catch (error) {
      // A root that is a link to itself has no store either.
      if (isMissing(error) || systemCode(error) === 'ELOOP') return undefined;
      throw error;
    }
  };

  const hasObject = async (): Promise<boolean> =>
    (await listFiles(volume.root, '').next()).done !== true;

  const confirm = async (): Promise<string | undefined> => {
    expected ??= await known?.load();
    const found = await findId();
    const isAnyExpected = expected === undefined || expected === UNSAVED;
    if (found === UNREADABLE && isAnyExpected) throw unreadable(file);
    if (found !== undefined && isAnyExpected) expected = found;
    // The first versions gave a store no id, so a directory with objects is the known store. `establish` gives it an
    // id.
    if (found === undefined && expected === UNSAVED && (await hasObject())) return undefined;
    if (found !== expected) throw notTheStore(volume.root, expected, found, known?.place);
    return found;
  };

  return {
    confirm,
    establish: async () => {
      if ((await confirm()) === undefined) {
        const identity = { schema_version: 1, type: 'store', id: randomUUID() };
        // When several processes open a new store at the same time, only the first creates the file.
        await createFile(volume, file, (handle) =>
          handle.writeFile(`${JSON.stringify(identity)}\n`),
        );
      }
      const id = await confirm();
      if (id === undefined || isSaved) return;
      await known?.save(id);
      isSaved = true;
    },
  };
}

/** The id in the text of a file that names a store; undefined when the text holds no id. */
export function findIdIn(text: string): string | undefined {
  try {
    const document = JSON.parse(text) as { id?: unknown } | null;
    if (typeof document?.id === 'string') return document.id;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

function unreadable(file: string): AppError {
  return new AppError(
    'store_unavailable',
    `${file} has no store id. Restore the file from a backup, or delete it: the next write then makes a new one.`,
  );
}

function notTheStore(
  root: string,
  expected: string | undefined,
  found: string | undefined,
  place = 'the saved state',
): AppError {
  const there = found === undefined ? 'no store' : `the store ${found}`;
  return new AppError(
    'store_unavailable',
    `${root} holds ${there}, and ${place} says that it held the store ${expected}. Check that its volume is mounted: nothing is read or written until that store is back. To use ${found === undefined ? 'a new store' : 'this one'} in ${root} from now on, stop the service and the publishers, delete ${place}, and start again.`,
    { publicDetail: `Expected the store ${expected}, and found ${there}.` },
  );
}
