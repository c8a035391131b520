import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../errors.ts';
import type { StaticContent } from './static-target.ts';

/**
 * What exports have written into a directory: a line of JSON for each file that was written or removed.
 *
 * A line follows its file. A file that an interrupted export has written without its line is written again.
 */
export interface StaticIndex {
  readonly files: ReadonlyMap<string, StaticContent>;
  add(path: string, content: StaticContent): Promise<void>;
  remove(path: string): Promise<void>;
  /** Leaves one line for each file. */
  close(): Promise<void>;
}

const HEADER = { made_by: 'slipway export', schema_version: 1 };

/**
 * Opens the index in a directory, and creates a missing one at the first write.
 *
 * @param file the path of the index
 */
export async function openStaticIndex(file: string): Promise<StaticIndex> {
  const files = parseIndex(await readIfThere(file));
  let opening: Promise<FileHandle> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const append = (line: object): Promise<void> => {
    opening ??= openForAppends(file);
    const handle = opening;
    // One after the other: Node does not allow several appends to one handle at the same time.
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
      const lines = [...files].map(([name, content]) => ({ path: name, ...content }));
      await replaceWhole(file, [HEADER, ...lines]);
    },
  };
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
}

async function openForAppends(file: string): Promise<FileHandle> {
  await mkdir(path.dirname(file), { recursive: true });
  const handle = await open(file, 'a', 0o644);
  // An interrupted export may have left a part of a line.
  const { size } = await handle.stat();
  await handle.appendFile(size === 0 ? `${JSON.stringify(HEADER)}\n` : '\n');
  return handle;
}

async function replaceWhole(file: string, lines: readonly object[]): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, 'w', 0o644);
  try {
    // In portions: hundreds of thousands of lines do not fit into one text comfortably.
    for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
      const portion = lines.slice(from, from + LINES_AT_ONCE);
      await handle.appendFile(portion.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

const LINES_AT_ONCE = 10_000;

/** A line that cannot be read is skipped: its file is then written again. */
function parseIndex(text: string): Map<string, StaticContent> {
  const files = new Map<string, StaticContent>();
  for (const line of text.split('\n')) {
    const entry = parseLine(line);
    if (typeof entry?.path !== 'string') continue;
    const { path: name, size, sha256, removed } = entry;
    if (removed === true) files.delete(name);
    else if (typeof size === 'number' && typeof sha256 === 'string') {
      files.set(name, { size, sha256 });
    }
  }
  return files;
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
