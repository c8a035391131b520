import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
// Uses tar-stream: the library returns one entry at a time and keeps no entry, so memory stays bounded for any archive.
import { extract } from 'tar-stream';
import { systemCode } from '../../core/errors.ts';
import { openPlainFile } from '../../core/plain-file.ts';
import type { Arch } from '../../domain/platform.ts';
import { HEADER_BYTES, machineOfHeader } from './file-magic.ts';
import { readZip } from './zip.ts';

/** Finds the architecture that the macOS application in an archive was built for. */

/** The architecture of all programs in an application. */
export interface ApplicationArch {
  /** Undefined when the programs differ, and when there is no program. */
  readonly arch: Arch | undefined;
  /** Says why the archive cannot be read; undefined when it can. */
  readonly problem: string | undefined;
}

const PROGRAMS_MAX = 8;
/** A limit of unpacked bytes: a small archive may unpack to any size. */
const SCAN_BYTES_MAX = 2 * 1024 ** 3;

export function isMacProgram(name: string): boolean {
  return /\.app\/Contents\/MacOS\/[^/]+$/.test(name);
}

/**
 * Reads an application in a `.zip`.
 *
 * @throws the system's error when the file itself cannot be read
 */
export async function readAppZip(path: string): Promise<ApplicationArch> {
  let programs = 0;
  const entries = await readZip(path, (name) =>
    isMacProgram(name) && programs++ < PROGRAMS_MAX ? HEADER_BYTES : 0,
  );
  if ('problem' in entries) return { arch: undefined, problem: entries.problem };
  return agreement(entries.map(({ start }) => start));
}

/**
 * Reads an application in a `.app.tar.gz`.
 *
 * @throws the system's error when the file itself cannot be read
 */
export async function readAppTar(path: string): Promise<ApplicationArch> {
  const programs: Buffer[] = [];
  const archive = extract();
  const file = await openPlainFile(path);
  // The stream closes the file. The callback does nothing, because the loop below receives every error.
  pipeline(file.createReadStream(), createGunzip(), limitScan, archive, () => {});
  try {
    for await (const entry of archive) {
      const isProgram = entry.header.type === 'file' && isMacProgram(entry.header.name);
      // Archivers write the files of a directory one after another. After the programs, the first other file shows that
      // no more programs follow.
      if (programs.length === PROGRAMS_MAX || (programs.length > 0 && !isProgram)) break;
      if (isProgram) programs.push(await readStart(entry));
      else entry.resume();
    }
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error) !== undefined) throw error;
    const problem = `it is not a gzipped tar archive that can be read (${error.message})`;
    return { arch: undefined, problem };
  }
  return agreement(programs);
}

/** @throws Error when the chunks have more bytes than any application */
export async function* limitScan(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > SCAN_BYTES_MAX) throw new Error('it unpacks to more than 2 GiB');
    yield chunk;
  }
}

/** Reads the entry to its end. When a reader leaves an entry early, tar-stream ends the whole archive. */
async function readStart(entry: AsyncIterable<unknown>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  for await (const chunk of entry) {
    const isWanted = chunk instanceof Uint8Array && start.length < HEADER_BYTES;
    if (isWanted) start = Buffer.concat([start, chunk]);
  }
  return start;
}

function agreement(programs: readonly Buffer[]): ApplicationArch {
  const arches = new Set(programs.flatMap((start) => machineOfHeader(start)?.arch ?? []));
  return { arch: arches.size === 1 ? [...arches][0] : undefined, problem: undefined };
}
