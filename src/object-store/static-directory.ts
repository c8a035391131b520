import { randomUUID } from 'node:crypto';
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { isMissing } from './filesystem-errors.ts';
import { parseKey } from './key.ts';
import type { UploadSource } from './object-store.ts';
import { readChunks } from './source-chunks.ts';
import { openStaticIndex, type StaticIndex } from './static-index.ts';
import { STATIC_MARK, type StaticTarget } from './static-target.ts';
import { createUploadCheck } from './upload-check.ts';

const BUFFER_BYTES = 1024 * 1024;

interface Place {
  readonly root: string;
  /** Has only unfinished files. On the volume of the root, so that a file gets its name at once. */
  readonly unfinished: string;
  readonly index: StaticIndex;
}

/**
 * A directory that a static server serves. The same bytes at several addresses are one file with several names, where
 * the volume can do that.
 *
 * @param location for messages
 */
export function createStaticDirectory(root: string, location: string): StaticTarget {
  let place: Place | undefined;
  const opened = (): Place => {
    if (place === undefined) throw new Error('The target is not open.');
    return place;
  };
  const explained = <T>(name: string, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw targetError(error, path.join(root, name));
    });
  return {
    location,
    keepsNestedPaths: false,
    open: (onlyReads) =>
      explained(
        '',
        openPlace(root, location, onlyReads).then((found) => {
          place = found;
          return [...found.index.files.keys()];
        }),
      ),
    has: async (name, { size, sha256 }) => {
      const known = opened().index.files.get(name);
      if (known?.size !== size || known.sha256 !== sha256) return false;
      const found = await stat(fileAt(root, name)).catch(() => undefined);
      return found?.isFile() === true && found.size === size;
    },
    put: (name, source, _facts, twin) => explained(name, putFile(opened(), name, source, twin)),
    remove: (name) => explained(name, removeOwn(opened(), name)),
    close: async () => {
      if (place === undefined) return;
      await place.index.close();
      await rm(place.unfinished, { recursive: true, force: true });
    },
  };
}

async function openPlace(root: string, location: string, onlyReads: boolean): Promise<Place> {
  const names = await readdir(root).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (systemCode(error) === 'ENOTDIR') throw refuse(`${location} is not a directory.`);
    throw error;
  });
  if (names !== undefined && names.length > 0 && !names.includes(STATIC_MARK)) {
    throw refuse(
      `${location} has files that no export has written, such as ${JSON.stringify(names.sort()[0])}. Name an empty or a new directory.`,
    );
  }
  const own = path.join(root, STATIC_MARK);
  const unfinished = path.join(own, 'unfinished');
  if (!onlyReads) {
    // What an interrupted export has left.
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
  }
  return { root, unfinished, index: await openStaticIndex(path.join(own, 'index.jsonl')) };
}

async function putFile(
  place: Place,
  name: string,
  source: UploadSource,
  twin: string | undefined,
): Promise<void> {
  const temporary = path.join(place.unfinished, randomUUID());
  try {
    if (twin === undefined) await writeBytes(temporary, name, source);
    else await linkOrCopy(fileAt(place.root, twin), temporary);
    await makeDirectory(place, name);
    // Before the rename: the next export may then remove the file, also when this one is killed here.
    if (!place.index.files.has(name)) await place.index.add(name, UNKNOWN);
    await renameInto(place, temporary, name);
  } finally {
    // A rename onto another name of the same file does nothing, and leaves both.
    await rm(temporary, { force: true });
  }
  const { size, sha256 } = source;
  await place.index.add(name, { size, sha256: sha256.toLowerCase() });
}

const UNKNOWN = { size: -1, sha256: '' };

async function writeBytes(temporary: string, name: string, source: UploadSource): Promise<void> {
  const check = createUploadCheck(name, source);
  const buffer = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, source.size + 1));
  const file = await open(temporary, 'wx', 0o644);
  try {
    for await (const bytes of readChunks(source, () => buffer, undefined)) {
      check.update(bytes);
      await writeAll(file, bytes);
    }
    check.verify();
    // The next export trusts the index and the size of the file. After a power failure, both could be right for a large
    // file without all of its bytes.
    if (source.size > BUFFER_BYTES) await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten;
  }
}

/** Some volumes have no hard links, and others limit how many names a file has. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (systemCode(error) === undefined || isMissing(error)) throw error;
    await copyFile(from, to);
  }
}

/** Creates the directory of a file. An earlier export may have written a file that is a directory now. */
async function makeDirectory({ root, index }: Place, name: string): Promise<void> {
  const directory = path.dirname(fileAt(root, name));
  try {
    await mkdir(directory, { recursive: true });
  } catch (error) {
    if (!['ENOTDIR', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
    for (let above = path.posix.dirname(name); above !== '.'; above = path.posix.dirname(above)) {
      if (!index.files.has(above)) continue;
      await unlink(fileAt(root, above));
      await index.remove(above);
    }
    await mkdir(directory, { recursive: true });
  }
}

/** An earlier export may have written a directory that is a file now. */
async function renameInto(place: Place, temporary: string, name: string): Promise<void> {
  const file = fileAt(place.root, name);
  try {
    await rename(temporary, file);
  } catch (error) {
    if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
    const below = [...place.index.files.keys()].filter((each) => each.startsWith(`${name}/`));
    // The folder above stays: other files are written into it at the same time.
    for (const each of below) await removeOwn(place, each, path.posix.dirname(name));
    // With files that no export has written, the directory stays, and this fails.
    await rename(temporary, file);
  }
}

/** @param kept the folder above which nothing is removed; `.`: that of the export */
async function removeOwn({ root, index }: Place, name: string, kept = '.'): Promise<boolean> {
  if (!index.files.has(name)) return false;
  await rm(fileAt(root, name), { force: true });
  await index.remove(name);
  // Ends at a directory with other files.
  for (let above = path.posix.dirname(name); above !== kept; above = path.posix.dirname(above)) {
    const isEmpty = await rmdir(path.join(root, ...above.split('/'))).then(
      () => true,
      () => false,
    );
    if (!isEmpty) break;
  }
  return true;
}

/** @throws AppError `invalid_key` for a path that would leave the directory */
function fileAt(root: string, name: string): string {
  const [first, ...rest] = parseKey(name).split('/');
  if (first === undefined || first === STATIC_MARK) {
    throw new AppError('invalid_key', `${JSON.stringify(name)} is a name that exports use.`);
  }
  return path.join(root, first, ...rest);
}

/** Translates the error of a file operation. Returns an AppError unchanged. */
function targetError(error: unknown, file: string): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  const failed = `Could not write ${file} (${code})`;
  if (['ENOSPC', 'EDQUOT'].includes(code)) {
    const detail = `${failed}: no space is left on the volume. Free space, and run the export again: it continues.`;
    return new AppError('store_full', detail, { cause: error });
  }
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    const detail = `${failed}: this process may not write there. Check the owner and mode of the directory, or name another one.`;
    return new AppError('store_denied', detail, { cause: error });
  }
  const detail = `${failed}. Run the export again: it continues.`;
  return new AppError('store_unavailable', detail, { cause: error });
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
