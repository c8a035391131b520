import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
// Uses the parser of tar: it hands over the bytes of entries as they come and keeps none, so memory stays bounded for any
// archive.
import { Parser } from 'tar';
// Uses yauzl, because it reads zip64 and unpacks no more than the caller asks for. Archivers need zip64 above 4 GiB,
// and some archivers also use zip64 for smaller files.
import { fromFdPromise } from 'yauzl';
import { isAppError, systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import { brokenFile } from '../refusal.ts';

/** Reads some files in an archive. Unpacks nothing else, so an archive that unpacks to any size takes no memory. */

/** Gets the bytes of one file in order. Returns true when it needs no more. */
export type EntryReader = (chunk: Buffer) => boolean;
/** Returns the reader of the named file; undefined: its bytes are not needed; `stop`: no later file is needed. */
export type Visit = (name: string) => EntryReader | 'stop' | undefined;

/** The limit of the unpacked bytes of all files together: a small archive may unpack to any size. */
const SCAN_BYTES_MAX = 2 * 1024 ** 3;

/** The first bytes of gzipped data. */
const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * @returns the reason why the archive cannot be read; undefined when it can
 * @throws AppError `invalid_artifact` when the archive has a second file with the name of a file that was read; the
 *   system's error when the file itself cannot be read
 */
export async function visitArchive(
  path: string,
  format: 'zip' | 'tar.gz',
  visit: Visit,
): Promise<string | undefined> {
  const visitOnce = refuseRepeated(path, visit);
  try {
    await (format === 'zip' ? visitZip(path, visitOnce) : visitTar(path, visitOnce));
    return undefined;
  } catch (error) {
    const isOwn = isAppError(error) || systemCode(error) !== undefined;
    if (!(error instanceof Error) || isOwn) throw error;
    const kind = format === 'zip' ? 'zip archive' : 'gzipped tar archive';
    return `it is not a ${kind} that can be read (${error.message})`;
  }
}

/**
 * Refuses a second file with the name of a file that was read. The two may say different things, and clients may install
 * either. Also, a list of some megabytes can name one file 60,000 times, and to read the file each time takes minutes. On
 * Windows and macOS, two names are one file when they differ only in case or in the form of Unicode.
 */
function refuseRepeated(path: string, visit: Visit): Visit {
  const read = new Set<string>();
  return (name) => {
    const key = name.replace(/^\.\//, '').normalize('NFC').toLowerCase();
    if (read.has(key)) {
      throw brokenFile(
        path,
        `it has two files with the name ${JSON.stringify(name.slice(0, 120))}, and clients may install either of them`,
      );
    }
    const reader = visit(name);
    if (typeof reader === 'function') read.add(key);
    return reader;
  };
}

async function visitZip(path: string, visit: Visit): Promise<void> {
  const file = await openPlainFile(path);
  try {
    const zip = await fromFdPromise(file.fd, { autoClose: false });
    const scanned = { bytes: 0 };
    for await (const entry of zip.eachEntry()) {
      const read = visit(entry.fileName);
      if (read === 'stop') return;
      if (read === undefined) continue;
      for await (const chunk of limitScan(await zip.openReadStreamPromise(entry), scanned)) {
        if (read(chunk)) break;
      }
    }
  } finally {
    await file.close();
  }
}

async function visitTar(path: string, visit: Visit): Promise<void> {
  const file = await openPlainFile(path);
  const unpacked = createGunzip();
  // The streams close the file. The callback does nothing, because the loop below receives every error.
  pipeline(file.createReadStream(), unpacked, () => {});
  let isStopped = false;
  let failure: Error | undefined;
  // Strict: an entry with a wrong checksum is an error, and not the end of the archive.
  const parser = new Parser({ strict: true, zstd: false });
  parser.on('error', (error) => {
    failure ??= error;
  });
  parser.on('entry', (entry) => {
    const isFile = entry.type === 'File' || entry.type === 'OldFile';
    let read: ReturnType<Visit>;
    try {
      read = isFile && !isStopped ? visit(entry.path) : undefined;
    } catch (error) {
      failure ??= error as Error;
    }
    if (read === 'stop') isStopped = true;
    if (typeof read !== 'function') {
      entry.resume();
      return;
    }
    let isDone = false;
    entry.on('data', (chunk: Buffer) => {
      if (!isDone) isDone = read(chunk);
    });
  });
  for await (const chunk of refuseGzip(limitScan(unpacked))) {
    // The entries take their bytes at once, so the parser never asks to wait.
    parser.write(chunk);
    if (failure !== undefined) throw failure;
    if (isStopped) return;
  }
  parser.end();
  if (failure !== undefined) throw failure;
}

/**
 * The parser would unpack a second layer of gzip without a limit.
 *
 * @throws Error when the bytes are gzipped
 */
async function* refuseGzip(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let start = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start.length < GZIP.length) {
      start = Buffer.concat([start, chunk]).subarray(0, GZIP.length);
      if (start.equals(GZIP)) throw new Error('it is compressed twice');
    }
    yield chunk;
  }
}

/**
 * @param scanned counts the bytes of these chunks, and of the files before them
 * @throws Error when the chunks have more bytes than any application
 */
async function* limitScan(
  chunks: AsyncIterable<Buffer>,
  scanned = { bytes: 0 },
): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    scanned.bytes += chunk.length;
    if (scanned.bytes > SCAN_BYTES_MAX) throw new Error('it unpacks to more than 2 GiB');
    yield chunk;
  }
}
