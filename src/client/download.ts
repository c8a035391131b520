import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCode } from '../core/errors.ts';
import { cacheError } from './cache-error.ts';
import { type Http, unavailable } from './http.ts';
import type { DownloadOptions, SignedFile } from './types.ts';
import { UpdaterError } from './updater-error.ts';

/** Downloads a signed file. It gets its name only after every byte was verified. */

interface DownloadDeps {
  readonly http: Http;
  /** The directory of the downloads. */
  readonly directory: string;
}

/**
 * @returns the path of the verified file
 * @throws UpdaterError
 */
export async function downloadFile(
  deps: DownloadDeps,
  file: SignedFile,
  options: DownloadOptions,
): Promise<string> {
  const { http } = deps;
  // The digest keeps files of different releases apart, and the name is for the program that installs the file.
  const folder = path.join(deps.directory, file.sha256.slice(0, 16));
  const target = path.join(folder, safeName(file.filename));
  const partial = path.join(folder, 'partial');
  try {
    await mkdir(folder, { recursive: true });
    if (await isSigned(target, file)) return target;
    // Bytes of an earlier try may be wrong. Then the file is downloaded once more, from its first byte.
    for (let start = await sizeOf(partial, file); ; start = 0) {
      const handle = await open(partial, start === 0 ? 'w' : 'r+');
      try {
        if (start < file.size) await receive(http, handle, file, start, options);
        await handle.sync();
      } finally {
        await handle.close();
      }
      if (await isSigned(partial, file)) break;
      await rm(partial, { force: true });
      if (start === 0) {
        const message = `${file.url} is not the file that the keys of the channel signed. It was deleted.`;
        throw new UpdaterError('file_rejected', message);
      }
    }
    await rename(partial, target);
    return target;
  } catch (error) {
    throw cacheError(folder, error);
  }
}

/** Appends the rest of the file, from a byte on. A service that ignores the range sends the whole file. */
async function receive(
  http: Http,
  handle: FileHandle,
  { url, size }: SignedFile,
  start: number,
  { signal, onProgress }: DownloadOptions,
): Promise<void> {
  let position = start;
  await http.stream(url, {
    max: size,
    signal,
    headers: start === 0 ? {} : { range: `bytes=${start}-` },
    begin: async ({ status, headers }) => {
      if (status === 206) {
        const range = headers.get('content-range');
        if (start > 0 && range === `bytes ${start}-${size - 1}/${size}`) return true;
        throw new UpdaterError('service_refused', `${url} answers with other bytes: ${range}.`);
      }
      if (status === 200) {
        position = 0;
        await handle.truncate(0);
        return true;
      }
      if (status === 429 || status >= 500) throw unavailable(url, `it answers ${status}`);
      throw new UpdaterError('service_refused', `${url} answers ${status}.`);
    },
    write: async (bytes) => {
      // The file never grows beyond its signed size.
      if (position + bytes.length > size) {
        throw new UpdaterError('file_rejected', `${url} has more than ${size} bytes.`);
      }
      await handle.write(bytes, 0, bytes.length, position);
      position += bytes.length;
      onProgress?.({ received: position, total: size });
    },
  });
  if (position < size) throw unavailable(url, `it ended after ${position} of ${size} bytes`);
}

/** The bytes of an earlier try; 0: none that can be continued. */
async function sizeOf(partial: string, { size }: SignedFile): Promise<number> {
  const known = await stat(partial).catch(ignoreMissing);
  return known === undefined || known.size > size ? 0 : known.size;
}

async function isSigned(file: string, { size, sha256, sha512 }: SignedFile): Promise<boolean> {
  const known = await stat(file).catch(ignoreMissing);
  if (known?.size !== size) return false;
  const hashes = [createHash('sha256'), createHash('sha512')] as const;
  await pipeline(createReadStream(file), async (chunks) => {
    for await (const chunk of chunks) for (const hash of hashes) hash.update(chunk);
  });
  return hashes[0].digest('hex') === sha256 && hashes[1].digest('hex') === sha512;
}

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

/** A name that stays in its folder on every system. The signed names have no slash already. */
function safeName(filename: string): string {
  const name = filename.replaceAll(/[\\/:*?"<>|]/g, '_');
  return name === '.' || name === '..' || name === 'partial' ? `_${name}` : name;
}
