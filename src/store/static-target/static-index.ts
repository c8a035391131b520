import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { AppError, systemCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import { parseKey } from '../key.ts';
import { STATIC_MARK, type StaticContent } from './static-target.ts';

/**
 * The record of the files that exports have written into a directory: a line of JSON for each file that was written or
 * removed.
 *
 * An export writes a file first, and then the line with the file's size and hash. When an interrupted export has
 * written a file without this line, the next export writes the file again.
 */
export interface StaticIndex {
  readonly files: ReadonlyMap<string, StaticContent>;
  add(path: string, content: StaticContent): Promise<void>;
  remove(path: string): Promise<void>;
  /** Closes the index, and leaves one line for each file. */
  close(): Promise<void>;
}

/** Enough for a million addresses. */
const INDEX_BYTES_MAX = 256 * 1024 * 1024;

const HEADER = { made_by: 'slipway export', schema_version: 1 };

/**
 * Opens the index in a directory, and creates a missing index at the first write.
 *
 * @param file the path of the index
 */
export async function openStaticIndex(file: string): Promise<StaticIndex> {
  const files = parseIndex(await readIfThere(file));
  let opening: Promise<FileHandle> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const append = (line: object): Promise<void> => {
    opening ??= replaceWhole(file, new Map(files));
    const handle = opening;
    // Appends run one after the other: Node does not allow several appends to one handle at the same time.
    const appending = last.then(async () => {
      await (await handle).appendFile(`${JSON.stringify(line)}\n`);
    });
    last = appending.catch(() => undefined);
    return appending;
  };
  return {
    files,
    add: async (name, { size, sha256 }) => {
      files.set(name, { size, sha256 });
      await append({ path: name, size, sha256 });
    },
    remove: async (name) => {
      files.delete(name);
      await append({ path: name, removed: true });
    },
    close: async () => {
      if (opening === undefined) return;
      await last;
      await (await opening).close();
      opening = undefined;
      await (await replaceWhole(file, files)).close();
    },
  };
}

async function readIfThere(file: string): Promise<string> {
  const found = await lstat(file).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return '';
  const bytes = found.isFile() ? await readPlainFile(file, INDEX_BYTES_MAX) : undefined;
  if (bytes !== undefined) return bytes.toString();
  const why = found.isFile() ? `has more than ${INDEX_BYTES_MAX} bytes` : 'is not a plain file';
  throw new AppError(
    'invalid_configuration',
    `${STATIC_MARK}/index.jsonl ${why}, so no export has written it. Export into a new directory.`,
  );
}

/**
 * Writes the index under another name, and renames it to `file`. Another process may have made `file` a link, or a
 * second name of another file. The rename replaces only the name, and does not change the other file.
 *
 * @returns the open file, for appends
 */
async function replaceWhole(
  file: string,
  files: ReadonlyMap<string, StaticContent>,
): Promise<FileHandle> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'ax', 0o644);
  try {
    const lines: object[] = [HEADER];
    for (const [name, content] of files) lines.push({ path: name, ...content });
    // Writes in portions, because one text of hundreds of thousands of lines would be too large.
    for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
      const portion = lines.slice(from, from + LINES_AT_ONCE);
      await handle.appendFile(portion.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }
    await handle.sync();
    await rename(temporary, file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const LINES_AT_ONCE = 10_000;

/**
 * Returns the names of a file's directories, and then the name of the file.
 *
 * @throws AppError `invalid_key` for a path that would leave the directory
 */
export function segmentsOf(name: string): string[] {
  const segments = parseKey(name).split('/');
  if (segments[0] === STATIC_MARK) {
    throw new AppError('invalid_key', `${JSON.stringify(name)} is a name that exports use.`);
  }
  return segments;
}

/** Skips a line that no export writes; the export then writes the file of this line again. */
function parseIndex(text: string): Map<string, StaticContent> {
  const files = new Map<string, StaticContent>();
  for (const line of text.split('\n')) {
    const entry = parseLine(line);
    if (entry === undefined) continue;
    const { path: name, size, sha256, removed } = entry;
    if (removed === true) files.delete(name);
    else if (typeof size === 'number' && typeof sha256 === 'string') {
      files.set(name, { size, sha256 });
    }
  }
  return files;
}

function parseLine(
  line: string,
): (Readonly<Record<string, unknown>> & { readonly path: string }) | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || !('path' in value)) return undefined;
    return { ...value, path: segmentsOf(String(value.path)).join('/') };
  } catch {
    return undefined;
  }
}
