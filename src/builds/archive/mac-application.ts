import type { Arch } from '../../domain/platform.ts';
import { HEADER_BYTES, machineOfHeader } from './file-magic.ts';
import { readStarts } from './read-starts.ts';

/** Finds the architecture that the macOS application in an archive was built for. */

/** The architecture of all programs in an application. */
export interface ApplicationArch {
  /** Undefined when the programs differ, and when there is no program. */
  readonly arch: Arch | undefined;
  /** Says why the archive cannot be read; undefined when it can. */
  readonly problem: string | undefined;
}

const PROGRAMS_MAX = 8;

export function isMacProgram(name: string): boolean {
  return /\.app\/Contents\/MacOS\/[^/]+$/.test(name);
}

/** @throws AppError `invalid_artifact`; the system's error when the file itself cannot be read */
export async function readMacArch(
  path: string,
  format: 'zip' | 'tar.gz',
): Promise<ApplicationArch> {
  let programs = 0;
  const entries = await readStarts(path, format, (name) => {
    const isProgram = isMacProgram(name);
    // A tar archive has no list of its files. Archivers write the files of a directory one after another, so after the
    // programs, the first other file shows that no more programs follow.
    const isTar = format === 'tar.gz';
    if (programs === PROGRAMS_MAX || (isTar && programs > 0 && !isProgram)) return 'stop';
    if (!isProgram) return 0;
    programs++;
    return HEADER_BYTES;
  });
  if ('problem' in entries) return { arch: undefined, problem: entries.problem };
  const arches = new Set(entries.flatMap(({ start }) => machineOfHeader(start)?.arch ?? []));
  return { arch: arches.size === 1 ? [...arches][0] : undefined, problem: undefined };
}
