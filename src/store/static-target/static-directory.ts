import { randomUUID } from 'node:crypto';
import {
  copyFile,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import { AppError, systemCode } from '../../core/errors.ts';
import {
  findOddPlace,
  type OpenDirectory,
  openBelow,
  openDirectory,
} from '../../core/plain-directory.ts';
import { isMissing } from '../filesystem/errors.ts';
import type { UploadSource } from '../object-store.ts';
import { readChunks } from '../source-chunks.ts';
import { createUploadCheck } from '../upload-check.ts';
import { openStaticIndex, type StaticIndex, segmentsOf } from './static-index.ts';
import { STATIC_MARK, type StaticTarget } from './static-target.ts';

const BUFFER_BYTES = 1024 * 1024;

interface Place {
  readonly root: OpenDirectory;
  /**
   * The path of a directory for unfinished files. It is on the volume of the root, so that one rename can give a
   * finished file its name.
   */
  readonly unfinished: string;
  readonly index: StaticIndex;
  /**
   * On a volume that ignores case: the files, by their names in the form of {@link foldCase}. On any other volume:
   * undefined.
   */
  readonly folded: Map<string, FoldedFile> | undefined;
  close(): Promise<void>;
}

interface FoldedFile {
  readonly name: string;
  /** True when this export has found or written the file. False when only an earlier export has written the file. */
  readonly isCurrent: boolean;
}

/**
 * A directory that a static server serves. When several addresses have the same bytes, the directory has one file with
 * several names, if the volume allows this.
 *
 * The directory may itself be a link, such as `current`; the export follows this link once. It writes, replaces and
 * removes nothing through a link below the directory: otherwise a process that makes a link there could make the export
 * change files elsewhere.
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
      const { index, root: directory, folded } = opened();
      const known = index.files.get(name);
      if (known?.size !== size || known.sha256 !== sha256) return false;
      const file = path.join(directory.path, ...segmentsOf(name));
      const found = await lstat(file).catch(() => undefined);
      const isThere = found?.isFile() === true && found.size === size;
      if (isThere) folded?.set(foldCase(name), { name, isCurrent: true });
      return isThere;
    },
    put: (name, source, _facts, twin) => explained(name, putFile(opened(), name, source, twin)),
    remove: (name) => explained(name, removeOwn(opened(), name)),
    close: async () => place?.close(),
  };
}

async function openPlace(named: string, location: string, onlyReads: boolean): Promise<Place> {
  const isThere = await refuseForeign(named, location);
  // A dry run writes nothing.
  if (onlyReads) return readPlace(named, isThere);
  await mkdir(named, { recursive: true });
  const open: OpenDirectory[] = [];
  const close = async (): Promise<void> => {
    for (const directory of open.reverse()) await directory.close();
  };
  try {
    const root = await openDirectory(named);
    open.push(root);
    // Checks the open directory, which stays the same. Another process may have made the name a link to another
    // directory.
    await refuseForeign(root.path, location);
    const own = await openBelow(root, [STATIC_MARK], true, linked);
    open.push(own);
    const index = await openStaticIndex(path.join(own.path, INDEX));
    await refuseLinks(named, index);
    // An interrupted export may have left this directory. If the name is a link, `rm` removes the link, and not the
    // target of the link.
    const left = path.join(own.path, UNFINISHED);
    const removeLeft = (): Promise<void> => rm(left, { recursive: true, force: true });
    await removeLeft();
    const unfinished = await openBelow(own, [UNFINISHED], true, linked);
    open.push(unfinished);
    const closeAll = (): Promise<void> => index.close().then(removeLeft).finally(close);
    const ignoresCase = await lstat(path.join(own.path, UNFINISHED.toUpperCase())).then(
      () => true,
      () => false,
    );
    const earlier = [...index.files.keys()].map(
      (name) => [foldCase(name), { name, isCurrent: false }] as const,
    );
    const folded = ignoresCase ? new Map(earlier) : undefined;
    return { root, unfinished: unfinished.path, index, folded, close: closeAll };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @returns whether the directory exists */
async function refuseForeign(directory: string, location: string): Promise<boolean> {
  const names = await readdir(directory).catch(async (error: unknown) => {
    const code = systemCode(error);
    if (code === 'ENOTDIR') throw refuse(`${location} is not a directory.`);
    const isLink = (await lstat(directory).catch(() => undefined))?.isSymbolicLink();
    if (code === 'ELOOP' || (code === 'ENOENT' && isLink)) {
      throw refuse(
        `${location} is a link that leads to no directory. Create that directory, or remove the link.`,
      );
    }
    if (code === 'ENOENT') return undefined;
    throw error;
  });
  if (names !== undefined && names.length > 0 && !names.includes(STATIC_MARK)) {
    throw refuse(
      `${location} has files that no export has written, such as ${JSON.stringify(names.sort()[0])}. Name an empty or a new directory.`,
    );
  }
  return names !== undefined;
}

const UNFINISHED = 'unfinished';
const INDEX = 'index.jsonl';

async function readPlace(named: string, isThere: boolean): Promise<Place> {
  const own = path.join(named, STATIC_MARK);
  if ((await lstat(own).catch(() => undefined))?.isSymbolicLink()) throw linked(STATIC_MARK);
  const index = await openStaticIndex(path.join(own, INDEX));
  if (isThere) await refuseLinks(named, index);
  const close = async (): Promise<void> => {};
  return { root: { path: named, close }, unfinished: '', index, folded: undefined, close };
}

/**
 * Refuses the target when a link has replaced a directory of an earlier export. Runs before the export writes or
 * removes anything.
 */
async function refuseLinks(named: string, { files }: StaticIndex): Promise<void> {
  const root = await realpath(named);
  const folders = new Set([...files.keys()].map((name) => path.posix.dirname(name)));
  const odd = await findOddPlace(
    root,
    [...folders].map((folder) => path.join(root, folder)),
  );
  // Refuses only links: a file in place of a directory may come from an earlier export.
  if (odd?.isLink) throw linked(path.relative(root, odd.path));
}

function linked(name: string): AppError {
  return refuse(
    `${name} is a link, and no file is written or removed through it. Replace the link in the directory of the export with a directory, or export into the directory that it leads to.`,
  );
}

/** Opens the directory of a file, and runs work; `entry` is the path of the file in the open directory. */
async function beside<T>(
  { root }: Pick<Place, 'root'>,
  name: string,
  creates: boolean,
  work: (entry: string) => Promise<T>,
): Promise<T> {
  const segments = segmentsOf(name);
  const last = segments.pop() ?? '';
  const directory = await openBelow(root, segments, creates, linked);
  try {
    return await work(path.join(directory.path, last));
  } finally {
    await directory.close();
  }
}

async function putFile(
  place: Place,
  name: string,
  source: UploadSource,
  twin: string | undefined,
): Promise<void> {
  const temporary = path.join(place.unfinished, randomUUID());
  await claimName(place, name);
  try {
    if (twin === undefined) await writeBytes(temporary, name, source);
    else await beside(place, twin, false, (entry) => linkOrCopy(entry, temporary));
    await makeDirectory(place, name);
    // Adds the name before the rename, so that the next export may remove the file even if this export is killed here.
    if (!place.index.files.has(name)) await place.index.add(name, UNKNOWN);
    await renameInto(place, temporary, name);
  } finally {
    // Removes the temporary name: a rename onto another name of the same file does nothing, and leaves both names.
    await rm(temporary, { force: true });
  }
  const { size, sha256 } = source;
  await place.index.add(name, { size, sha256: sha256.toLowerCase() });
}

/**
 * On a volume that ignores case, refuses a second name that differs only in case: both names would be one file, with
 * the bytes of the later file. When an earlier export has written the file in another case, removes that file now: a
 * removal at the end would remove the new file.
 */
async function claimName(place: Place, name: string): Promise<void> {
  const known = place.folded?.get(foldCase(name));
  if (known?.isCurrent === true && known.name !== name) {
    throw refuse(
      `${known.name} and ${name} differ only in case, and are one file on this volume. Export to a volume where names differ by case, or into a bucket.`,
    );
  }
  place.folded?.set(foldCase(name), { name, isCurrent: true });
  if (known !== undefined && known.name !== name) await removeOwn(place, known.name);
}

function foldCase(name: string): string {
  return name.normalize().toLowerCase();
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
    // The next export trusts the index and the size of the file. After a power failure, both could be right although a
    // large file lacks some of its bytes.
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

/**
 * Copies the file when the volume refuses a hard link: some volumes have no hard links, and others limit the number of
 * names of a file.
 */
async function linkOrCopy(from: string, to: string): Promise<void> {
  // A hard link to a symbolic link is a symbolic link as well.
  if (!(await lstat(from)).isFile()) throw refuse('A file of the export was replaced meanwhile.');
  try {
    await link(from, to);
  } catch (error) {
    if (systemCode(error) === undefined || isMissing(error)) throw error;
    await copyFile(from, to);
  }
}

/** Creates the directory of a file. An earlier export may have written a file where this export needs a directory. */
async function makeDirectory(place: Place, name: string): Promise<void> {
  const make = (): Promise<void> => beside(place, name, true, async () => {});
  try {
    await make();
  } catch (error) {
    if (!['ENOTDIR', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
    for (let above = path.posix.dirname(name); above !== '.'; above = path.posix.dirname(above)) {
      if (!place.index.files.has(above)) continue;
      await beside(place, above, false, unlink);
      await place.index.remove(above);
    }
    await make();
  }
}

/** Renames a finished file. An earlier export may have written a directory where this export needs the file. */
async function renameInto(place: Place, temporary: string, name: string): Promise<void> {
  const move = (): Promise<void> => beside(place, name, true, (entry) => rename(temporary, entry));
  try {
    await move();
  } catch (error) {
    if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
    const below = [...place.index.files.keys()].filter((each) => each.startsWith(`${name}/`));
    // Keeps the folder above, because the export writes other files into it at the same time.
    for (const each of below) await removeOwn(place, each, path.posix.dirname(name));
    // When the directory has files that no export has written, the directory stays, and this rename fails.
    await move();
  }
}

/** @param kept the folder that stays, with every folder above it; `.` is the folder of the export */
async function removeOwn(place: Place, name: string, kept = '.'): Promise<boolean> {
  if (!place.index.files.has(name)) return false;
  await beside(place, name, false, removeFile).catch(ignoreMissing);
  await place.index.remove(name);
  // Removes the directories that are empty now, and ends at a directory with other files.
  for (let above = path.posix.dirname(name); above !== kept; above = path.posix.dirname(above)) {
    const isEmpty = await beside(place, above, false, rmdir).then(
      () => true,
      () => false,
    );
    if (!isEmpty) break;
  }
  return true;
}

/** Removes the file. When another program has put a directory in place of the file, the directory stays. */
async function removeFile(entry: string): Promise<void> {
  if (!(await lstat(entry)).isDirectory()) await unlink(entry);
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
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
  if (['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(code)) {
    const detail = `${failed}: a file is where the export needs a directory, or a directory where it needs a file, and no export has written it. Move it away, and run the export again.`;
    return new AppError('invalid_configuration', detail, { cause: error });
  }
  const detail = `${failed}. Run the export again: it continues.`;
  return new AppError('store_unavailable', detail, { cause: error });
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
