import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SkippedFile } from './build-output.ts';
import { directoryByProduct, fileByProduct } from './by-product.ts';
import { refusal } from './refusal.ts';
import { describeFile, type SourceFile } from './source-file.ts';

/** Finds files in a directory that may be packages or sidecars. */

/** The scan skips links in a directory, because a link could lead to files outside the build. */
export const LINK_REASON = 'a link, which is not followed; name the file itself';

/** Reading a pipe would block, and a device has no end. */
export const OTHER_REASON = 'not a regular file';

/** Build output is shallow: a deeper tree is a whole project, or mounts that form a loop. */
const DEPTH_MAX = 12;

interface Scan {
  readonly files: SourceFile[];
  readonly skipped: SkippedFile[];
}

/**
 * Walks `root` in the order of names, without following links.
 *
 * @throws AppError `invalid_artifact` for a directory that cannot be read
 */
export async function scanDirectory(root: string): Promise<Scan> {
  const scan: Scan = { files: [], skipped: [] };
  await walk(root, await list(root), 0, scan);
  return scan;
}

async function walk(
  directory: string,
  entries: readonly Dirent[],
  depth: number,
  scan: Scan,
): Promise<void> {
  const siblings = entries.map((entry) => entry.name);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) {
      scan.skipped.push({ path, reason: LINK_REASON });
    } else if (entry.isDirectory()) {
      await enter(path, basename(directory), siblings, depth, scan);
    } else if (!entry.isFile()) {
      scan.skipped.push({ path, reason: OTHER_REASON });
    } else {
      const reason = fileByProduct(entry.name);
      if (reason === undefined) scan.files.push(await describeFile(path, null, siblings));
      else scan.skipped.push({ path, reason });
    }
  }
}

async function enter(
  path: string,
  parent: string,
  siblings: readonly string[],
  depth: number,
  scan: Scan,
): Promise<void> {
  const entries = await list(path);
  const children = entries.map((entry) => entry.name);
  const reason =
    depth >= DEPTH_MAX
      ? 'too deep to be build output'
      : directoryByProduct({ name: basename(path), parent, children, siblings });
  if (reason === undefined) await walk(path, entries, depth + 1, scan);
  else scan.skipped.push({ path, reason });
}

async function list(directory: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw refusal(directory, 'it cannot be read', error);
  }
}
