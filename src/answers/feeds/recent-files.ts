import type { Companion } from '../../domain/companion.ts';

type ReadFile = (application: string, file: Companion) => Promise<Uint8Array>;

/** The size of all kept files, in bytes. */
const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads each small file of a release once, however many clients ask for a document that is made from it. The files are
 * stored by content, so they never change.
 *
 * @param bytesMax the most bytes in memory; above it, the function forgets the files that it read first
 */
export function createRecentFiles(read: ReadFile, bytesMax = BYTES_MAX): ReadFile {
  /** The oldest first. A file counts with its stated size from the time when its reading begins. */
  const files = new Map<string, { readonly size: number; readonly bytes: Promise<Uint8Array> }>();
  let total = 0;

  const forget = (key: string): void => {
    total -= files.get(key)?.size ?? 0;
    files.delete(key);
  };

  return (application, file) => {
    const key = `${application} ${file.object}`;
    const known = files.get(key);
    if (known !== undefined) return known.bytes;
    const bytes = read(application, file).catch((error: unknown) => {
      // An outage of the store ends, so the next request reads again.
      if (files.get(key)?.bytes === bytes) forget(key);
      throw error;
    });
    files.set(key, { size: file.size, bytes });
    total += file.size;
    for (const oldest of files.keys()) {
      if (total <= bytesMax) break;
      forget(oldest);
    }
    return bytes;
  };
}
