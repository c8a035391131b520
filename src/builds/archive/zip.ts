import type { Readable } from 'node:stream';
// Uses yauzl, because it reads zip64 and unpacks no more than the caller asks for. Archivers need zip64 above 4 GiB,
// and some archivers also use zip64 for smaller files.
import { fromFdPromise } from 'yauzl';
import { systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';

/** The first bytes of one file in a zip. */
interface ZipEntry {
  readonly name: string;
  readonly start: Buffer;
}

/**
 * Reads the beginnings of some files in a zip (a `.nupkg` is one). Unpacks nothing else, so a zip bomb takes no memory.
 *
 * @param bytesWanted returns the number of bytes to read from the beginning of the named file; 0: the file is not
 *   wanted
 * @returns the beginnings of the wanted files, or the reason why the zip cannot be read
 * @throws the system's error when the file itself cannot be read
 */
export async function readZip(
  path: string,
  bytesWanted: (name: string) => number,
): Promise<readonly ZipEntry[] | { readonly problem: string }> {
  const file = await openPlainFile(path);
  try {
    const entries: ZipEntry[] = [];
    const zip = await fromFdPromise(file.fd, { autoClose: false });
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName;
      const bytesMax = bytesWanted(name);
      if (bytesMax === 0) continue;
      const start = await readStart(await zip.openReadStreamPromise(entry), bytesMax);
      entries.push({ name, start });
    }
    return entries;
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error) !== undefined) throw error;
    return { problem: `it is not a zip archive that can be read (${error.message})` };
  } finally {
    await file.close();
  }
}

async function readStart(stream: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}
