import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fromFdPromise } from 'yauzl';
import { openPlainFile } from '../../../core/plain-file.ts';

/** Unpacks a NuGet package, so that its files can be compared. */

/** A limit of unpacked bytes: a small archive may unpack to any size. */
const UNPACKED_BYTES_MAX = 4 * 1024 ** 3;
const FILES_MAX = 50_000;

export interface UnpackedFile {
  /** The name in the package, with `/`. */
  readonly name: string;
  /** The path on the disk. Its name is a number, so that no name in a package can leave the directory. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The type and the permissions of the file on Unix; a plain file when the package does not state them. */
  readonly mode: number;
  /** Hex. */
  readonly sha1: string;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Unpacks the files of a package into a directory, which it creates.
 *
 * @throws Error for an archive that is corrupt, unpacks to more than 4 GiB, or has a name such as `../a`; the system's
 *   error when a file cannot be read or written
 */
export async function unpackPackage(
  packagePath: string,
  directory: string,
): Promise<ReadonlyMap<string, UnpackedFile>> {
  await mkdir(directory);
  const files = new Map<string, UnpackedFile>();
  const file = await openPlainFile(packagePath);
  try {
    // yauzl refuses names that lead out of the package, and a file with more bytes than the archive states.
    const zip = await fromFdPromise(file.fd, { autoClose: false });
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName;
      if (name.endsWith('/')) continue;
      bytes += entry.uncompressedSize;
      if (bytes > UNPACKED_BYTES_MAX) throw new Error('it unpacks to more than 4 GiB');
      if (files.size === FILES_MAX) throw new Error(`it has more than ${FILES_MAX} files`);
      if (files.has(name)) throw new Error(`it has two files with the name ${name}`);
      const to = path.join(directory, String(files.size));
      const hashes = [createHash('sha1'), createHash('sha256')] as const;
      const hash = async function* (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
        for await (const chunk of chunks) {
          for (const each of hashes) each.update(chunk);
          yield chunk;
        }
      };
      await pipeline(await zip.openReadStreamPromise(entry), hash, createWriteStream(to));
      const [sha1, sha256] = hashes.map((each) => each.digest('hex')) as [string, string];
      const mode = entry.externalFileAttributes >>> 16 || 0o100644;
      files.set(name, { name, path: to, size: entry.uncompressedSize, mode, sha1, sha256 });
    }
  } finally {
    await file.close();
  }
  return files;
}
