import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type DownloadOwner, keepUntilNext, ownDownload } from './download-owner.ts';
import { cacheError, diskFull, ignoreMissing } from './file-errors.ts';
import { type Http, unavailable } from './http.ts';
import { removeLeft, takeOver } from './left-downloads.ts';
import { makeOwnFolder, openOwnFile, openOwnFileToWrite, sizeOfOwnFile } from './own-files.ts';
import type { DownloadOptions, SignedFile } from './types.ts';
import { UpdaterError } from './updater-error.ts';

/** Downloads a signed file. It gets its name only after every byte was verified. */

interface DownloadDeps {
  readonly http: Http;
  /** The directory of the downloads. */
  readonly directory: string;
  readonly now: () => number;
  /** True when the requests have an access token of the service. */
  readonly hasToken: boolean;
}

/**
 * Each download has a partial file of its own, which no other process has open: see `download-owner.ts`. It may begin with
 * what a process that has ended left. So the bytes are verified where they are, and a second copy is not needed.
 *
 * @returns the path of the verified file
 * @throws UpdaterError
 */
export async function downloadFile(
  deps: DownloadDeps,
  file: SignedFile,
  options: DownloadOptions,
): Promise<string> {
  const { directory } = deps;
  // The digest keeps files of different releases apart, and the name is for the program that installs the file.
  const name = file.sha256.slice(0, 16);
  const folder = path.join(directory, name);
  const now = deps.now();
  let owner: DownloadOwner | undefined;
  try {
    await makeOwnFolder(directory);
    owner = await ownDownload(directory, name);
    await makeOwnFolder(folder);
    // The application asked for this release, so it needs no files of other releases.
    await removeLeft(directory, now, (each) => each.name !== name);
    const partial = path.join(folder, owner.partial);
    await takeOver(partial, file.size, now);
    const target = path.join(folder, safeName(file.filename));
    if (await hasSignedBytes(target, file)) await rm(partial, { force: true });
    else await receiveSigned(deps, partial, target, file, options);
    await keepUntilNext(directory, owner);
    return target;
  } catch (error) {
    await owner?.release();
    throw cacheError(folder, error);
  }
}

async function receiveSigned(
  { http, hasToken }: DownloadDeps,
  partial: string,
  target: string,
  file: SignedFile,
  options: DownloadOptions,
): Promise<void> {
  // Bytes of an earlier try may be wrong. Then the file is downloaded once more, from its first byte.
  for (let isFirst = true; ; isFirst = false) {
    const start = (await sizeOfOwnFile(partial)) ?? 0;
    if (start < file.size) await receive(http, partial, file, start, hasToken, options);
    if (await isSigned(partial, file)) return rename(partial, target);
    await rm(partial, { force: true });
    if (start === 0 || !isFirst) {
      const message = `${file.url} is not the file that the keys of the channel signed. It was deleted.`;
      throw new UpdaterError('file_rejected', message);
    }
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

async function hasSignedBytes(file: string, signed: SignedFile): Promise<boolean> {
  const known = await lstat(file).catch(ignoreMissing);
  if (known?.isFile() !== true || known.size !== signed.size) return false;
  return isHashedAs(signed, createReadStream(file));
}

/** Also writes the bytes to the disk, so that the file is whole after a power cut. */
async function isSigned(partial: string, signed: SignedFile): Promise<boolean> {
  const handle = await openOwnFile(partial, constants.O_RDWR);
  try {
    await handle.sync();
    return await isHashedAs(signed, handle.createReadStream({ autoClose: false }));
  } finally {
    await handle.close();
  }
}

async function isHashedAs(
  { sha256, sha512 }: SignedFile,
  chunks: AsyncIterable<Buffer>,
): Promise<boolean> {
  const hashes = [createHash('sha256'), createHash('sha512')] as const;
  for await (const chunk of chunks) {
    for (const hash of hashes) hash.update(chunk);
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
