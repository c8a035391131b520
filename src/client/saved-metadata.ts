import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { systemCode } from '../core/errors.ts';
import { cacheError, ignoreMissing } from './file-errors.ts';
import { type Found, LEFT_AFTER_MS, removeLeft } from './left-downloads.ts';
import { removeUnlessFolder } from './own-files.ts';

/**
 * Keeps the verified metadata of an application in one file, which is replaced as a whole. The role of a channel is a
 * file of its own: it may be large, and only a check that ends with an offer needs it.
 */

const savedSchema = z.object({
  application: z.string(),
  /** The digest of each root that was verified, by its version: see `digestOfSigned`. */
  roots: z.record(z.string(), z.string()),
  /** The texts of root, timestamp, snapshot and targets, by these names. */
  files: z.record(z.string(), z.string()).refine(areMetadata),
});

/** A damaged text would fail at each check, and would never be replaced. */
function areMetadata(files: Readonly<Record<string, string>>): boolean {
  return Object.entries(files).every(([name, text]) => isMetadata(name, text));
}

/** True for a text that is metadata of a role, signed or not. */
export function isMetadata(name: string, text: string): boolean {
  const { success, data } = metadataSchema.safeParse(parseOrUndefined(text));
  return success && data.signed._type === name;
}

const metadataSchema = z.object({
  signed: z.object({ _type: z.string(), version: z.int().positive() }),
});

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type SavedMetadata = z.output<typeof savedSchema>;

/** @returns undefined when there is none, or only a damaged one */
export async function readSaved(directory: string): Promise<SavedMetadata | undefined> {
  try {
    const text = await readFile(path.join(directory, NAME), 'utf8');
    return savedSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw cacheError(directory, error);
  }
}

/**
 * Replaces the saved metadata at once: after a crash, the file has either the old or the new content.
 *
 * @throws UpdaterError `cache_unusable`, `disk_full`
 */
export async function writeSaved(directory: string, saved: SavedMetadata): Promise<void> {
  await replaceFile(directory, NAME, JSON.stringify(saved));
}

/** The text of a role; undefined: there is none. @throws UpdaterError `cache_unusable` */
export async function readSavedRole(directory: string, role: string): Promise<string | undefined> {
  try {
    return await readFile(path.join(directory, `${role}.json`), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw cacheError(directory, error);
  }
}

/** @throws UpdaterError `cache_unusable`, `disk_full` */
export function writeSavedRole(directory: string, role: string, text: string): Promise<void> {
  return replaceFile(directory, `${role}.json`, text);
}

async function replaceFile(directory: string, name: string, text: string): Promise<void> {
  const temporary = path.join(directory, `${name}.${randomUUID()}.tmp`);
  try {
    await writeDurably(temporary, text);
    await rename(temporary, path.join(directory, name));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw cacheError(directory, error);
  }
}

const NAME = 'metadata.json';
/** The client removes downloads after this time. */
const DOWNLOAD_LEFT_AFTER_MS = 30 * 24 * 3_600_000;

/** The directory of the downloads in the cache. */
export function downloadsIn(cache: string): string {
  return path.join(cache, 'downloads');
}

/** Creates the directory, and removes old downloads, and what killed processes left. */
export async function openCache(directory: string, now: number): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    const isTemporary = (name: string): boolean => name.includes('.tmp');
    await removeOlder(directory, now - LEFT_AFTER_MS, isTemporary);
    // A link in place of the folder would make the client delete old files elsewhere.
    await removeUnlessFolder(downloadsIn(directory));
    const isOld = ({ changedAt }: Found) => changedAt < now - DOWNLOAD_LEFT_AFTER_MS;
    await removeLeft(downloadsIn(directory), now, isOld);
  } catch (error) {
    throw cacheError(directory, error);
  }
}

/** @param than milliseconds since the epoch */
async function removeOlder(
  directory: string,
  than: number,
  isMeant: (name: string) => boolean,
): Promise<void> {
  for (const name of (await readdir(directory).catch(ignoreMissing)) ?? []) {
    const entry = path.join(directory, name);
    const known = isMeant(name) ? await lstat(entry).catch(ignoreMissing) : undefined;
    if (known !== undefined && known.mtimeMs < than)
      await rm(entry, { recursive: true, force: true });
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
