import { visitArchive } from './visit-archive.ts';

/** The first bytes of one file in an archive. */
interface ArchiveEntry {
  readonly name: string;
  readonly start: Buffer;
}

/**
 * Reads the beginnings of some files in an archive. A `.nupkg` and an `.msix` are zip archives.
 *
 * @param bytesWanted returns the number of bytes to read from the beginning of the named file; 0: the file is not
 *   wanted; `stop`: no later file is wanted
 * @returns the beginnings of the wanted files, or the reason why the archive cannot be read
 * @throws AppError `invalid_artifact` for two files with the name of a wanted file; the system's error when the file itself
 *   cannot be read
 */
export async function readStarts(
  path: string,
  format: 'zip' | 'tar.gz',
  bytesWanted: (name: string) => number | 'stop',
): Promise<readonly ArchiveEntry[] | { readonly problem: string }> {
  const entries: { name: string; start: Buffer }[] = [];
  const problem = await visitArchive(path, format, (name) => {
    const bytesMax = bytesWanted(name);
    if (bytesMax === 'stop') return 'stop';
    if (bytesMax === 0) return undefined;
    const entry = { name, start: Buffer.alloc(0) };
    entries.push(entry);
    return (chunk) => {
      entry.start = Buffer.concat([entry.start, chunk]).subarray(0, bytesMax);
      return entry.start.length === bytesMax;
    };
  });
  return problem === undefined ? entries : { problem };
}
