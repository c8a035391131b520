import { createHash, randomUUID } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cacheError, diskFull, ignoreMissing } from './file-errors.ts';
import { type Http, unavailable } from './http.ts';
import { makeOwnFolder, openOwnFile, openOwnFileToWrite, sizeOfOwnFile } from './own-files.ts';
import { LEFT_AFTER_MS, removeOlder } from './saved-metadata.ts';
import type { DownloadOptions, SignedFile } from './types.ts';
import { UpdaterError } from './updater-error.ts';

/** Downloads a signed file. It gets its name only after every byte was verified. */

const PARTIAL = 'partial.tmp';

interface DownloadDeps {
  readonly http: Http;
  /** The directory of the downloads. */
  readonly directory: string;
  readonly now: () => number;
  /** True when the requests have an access token of the service. */
  readonly hasToken: boolean;
}

/**
 * Several processes of an application may download the same file. They share the partial file, into which each writes
 * the same bytes at the same places. So the bytes are verified while they are copied into a file that no other process
 * has open.
 *
 * @returns the path of the verified file
 * @throws UpdaterError
 */
export async function downloadFile(
  deps: DownloadDeps,
  file: SignedFile,
  options: DownloadOptions,
): Promise<string> {
  const { http, hasToken } = deps;
  // The digest keeps files of different releases apart, and the name is for the program that installs the file.
  const folder = path.join(deps.directory, file.sha256.slice(0, 16));
  const target = path.join(folder, safeName(file.filename));
  const partial = path.join(folder, PARTIAL);
  try {
    await makeOwnFolder(deps.directory);
    await makeOwnFolder(folder);
    const isCopy = (name: string): boolean => name.endsWith('.tmp') && name !== PARTIAL;
    await removeOlder(folder, deps.now() - LEFT_AFTER_MS, isCopy);
    if (await hasSignedBytes(target, file)) return target;
    // Bytes of an earlier try may be wrong. Then the file is downloaded once more, from its first byte.
    for (let isFirst = true; ; isFirst = false) {
      const start = await resumeFrom(partial, file);
      if (start < file.size) await receive(http, partial, file, start, hasToken, options);
      const verified = path.join(folder, `${randomUUID()}.tmp`);
      if (await copySigned(partial, verified, file)) {
        try {
          await rename(verified, target);
        } catch (error) {
          await rm(verified, { force: true });
          throw error;
        }
        await rm(partial, { force: true });
        return target;
      }
      await rm(partial, { force: true });
      // Another process was faster, and has removed the partial file.
      if (await hasSignedBytes(target, file)) return target;
      if (start === 0 || !isFirst) {
        const message = `${file.url} is not the file that the keys of the channel signed. It was deleted.`;
        throw new UpdaterError('file_rejected', message);
      }
    }
  } catch (error) {
    throw cacheError(folder, error);
  }
}

/** Writes the rest of the file, from a byte on. A service that ignores the range sends the whole file. */
async function receive(
  http: Http,
  partial: string,
  { url, size }: SignedFile,
  start: number,
  hasToken: boolean,
  { signal, onProgress }: DownloadOptions,
): Promise<void> {
  let position = start;
  const handle = await openOwnFileToWrite(partial);
  try {
    await http.stream(url, {
      max: size,
      signal,
      // The service sends a range for an access token itself. For a whole file it redirects to the store, and a `fetch`
      // that cannot stop at a redirect would have to ask for it without the token.
      headers: start === 0 && !hasToken ? {} : { range: `bytes=${start}-` },
      begin: async ({ status, headers }) => {
        if (status === 206) {
          const range = headers.get('content-range');
          if (range === `bytes ${start}-${size - 1}/${size}`) return true;
          // The next try begins with the first byte.
          await rm(partial, { force: true });
          throw new UpdaterError(
            'service_refused',
            `${url} sent the range ${range}, which the client did not ask for.`,
          );
        }
        if (status === 200) {
          position = 0;
          return true;
        }
        if (status === 416) await rm(partial, { force: true });
        if (status === 429 || status >= 500) throw unavailable(url, `it answers ${status}`);
        throw new UpdaterError('service_refused', `${url} answers ${status}.`);
      },
      write: async (bytes) => {
        // The file never grows beyond its signed size.
        if (position + bytes.length > size) {
          throw new UpdaterError('service_refused', `${url} has more than ${size} bytes.`);
        }
        const { bytesWritten } = await handle.write(bytes, 0, bytes.length, position);
        if (bytesWritten < bytes.length) throw diskFull(partial);
        position += bytes.length;
        onProgress?.({ received: position, total: size });
      },
    });
  } finally {
    await handle.close();
  }
  if (position < size) throw unavailable(url, `it ended after ${position} of ${size} bytes`);
}

/** The number of bytes of an earlier try that the client can continue. Deletes a file that is too long. */
async function resumeFrom(partial: string, { size }: SignedFile): Promise<number> {
  const known = await sizeOfOwnFile(partial);
  if (known === undefined || known <= size) return known ?? 0;
  await rm(partial, { force: true });
  return 0;
}

async function hasSignedBytes(file: string, signed: SignedFile): Promise<boolean> {
  const known = await lstat(file).catch(ignoreMissing);
  if (known?.isFile() !== true || known.size !== signed.size) return false;
  return isHashedAs(signed, createReadStream(file), () => {});
}

/** Copies a file, and deletes the copy when its bytes are not the signed ones. */
async function copySigned(from: string, to: string, signed: SignedFile): Promise<boolean> {
  const source = await openOwnFile(from, constants.O_RDONLY).catch(ignoreMissing);
  if (source === undefined) return false;
  const chunks = source.createReadStream();
  let copy: FileHandle | undefined;
  let isGood = false;
  try {
    copy = await open(to, 'wx');
    const write = (chunk: Buffer) => copy?.writeFile(chunk);
    const isSame = await isHashedAs(signed, chunks, write);
    await copy.sync();
    isGood = isSame;
    return isGood;
  } finally {
    chunks.destroy();
    await copy?.close();
    if (!isGood) await rm(to, { force: true });
  }
}

async function isHashedAs(
  { sha256, sha512 }: SignedFile,
  chunks: AsyncIterable<Buffer>,
  use: (chunk: Buffer) => unknown,
): Promise<boolean> {
  const hashes = [createHash('sha256'), createHash('sha512')] as const;
  for await (const chunk of chunks) {
    for (const hash of hashes) hash.update(chunk);
    await use(chunk);
  }
  return hashes[0].digest('hex') === sha256 && hashes[1].digest('hex') === sha512;
}

/**
 * A name that stays in its folder on every system. The signed names have no slash already. Windows reserves some names,
 * and drops dots and spaces at their end.
 */
function safeName(filename: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a hostile manifest may have them
  const name = filename.replaceAll(/[\\/:*?"<>|\u0000-\u001f]/g, '_').replace(/[. ]+$/, '_');
  return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.tmp$/i.test(name) ? `_${name}` : name;
}
