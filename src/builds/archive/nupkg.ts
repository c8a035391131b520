import {
  compareSquirrelVersions,
  isSquirrelVersion,
  squirrelTextOf,
} from '../../domain/squirrel-version.ts';
import { HEADER_BYTES, type Machine, machineOfHeader } from './file-magic.ts';
import { isMacProgram } from './mac-application.ts';
import { readStarts } from './read-starts.ts';

/** The facts that a NuGet package of Squirrel or Velopack states about itself. */
export interface NupkgClues {
  /** True when the nuspec has an element that only Velopack writes. */
  readonly isVelopack: boolean;
  readonly version: string | undefined;
  /** Velopack's runtime id, such as `win-x64`. */
  readonly runtime: string | undefined;
  /** The machine that all programs in the package are for. */
  readonly machine: Machine | undefined;
}

const PROGRAMS_MAX = 8;
const NUSPEC_BYTES_MAX = 64 * 1024;
const ELEMENT_LENGTH_MAX = 128;

/**
 * @returns undefined for a file that is not a NuGet package
 * @throws AppError `invalid_artifact`; the system's error when the file itself cannot be read
 */
export async function readNupkg(path: string): Promise<NupkgClues | undefined> {
  let programs = 0;
  let nuspecs = 0;
  const entries = await readStarts(path, 'zip', (name) => {
    // A package has one .nuspec, and a hostile package may have any number.
    if (isNuspec(name)) return nuspecs++ === 0 ? NUSPEC_BYTES_MAX : 0;
    return isProgram(name) && programs++ < PROGRAMS_MAX ? HEADER_BYTES : 0;
  });
  if ('problem' in entries) return undefined;
  const nuspec = entries.find(({ name }) => isNuspec(name))?.start.toString();
  if (nuspec === undefined) return undefined;
  const element = (name: string) => {
    const text = new RegExp(`<${name}>([^<]*)</${name}>`, 'i').exec(nuspec)?.[1]?.trim() ?? '';
    return text === '' || text.length > ELEMENT_LENGTH_MAX ? undefined : text;
  };
  const os = element('os');
  const arch = element('machineArchitecture');
  const machines = entries
    .filter(({ name }) => !isNuspec(name))
    .flatMap(({ start }) => machineOfHeader(start) ?? []);
  return {
    isVelopack: element('mainExe') !== undefined || element('channel') !== undefined,
    version: element('version'),
    runtime: element('rid') ?? (os && arch ? `${os}-${arch}` : undefined),
    machine: machines.every((machine) => machine.arch === machines[0]?.arch)
      ? machines[0]
      : undefined,
  };
}

/**
 * The version that a package states, when this version differs from `version`. Squirrel's packages state `1.0.0-beta1`
 * for `1.0.0-beta.1`.
 */
export function otherVersionInside(
  { isVelopack, version: stated }: Pick<NupkgClues, 'isVelopack' | 'version'>,
  version: string,
): string | undefined {
  if (stated === version) return undefined;
  if (isVelopack) return stated ?? 'unknown';
  const text = squirrelTextOf(version);
  const isReadable = stated !== undefined && isSquirrelVersion(stated) && isSquirrelVersion(text);
  return isReadable && compareSquirrelVersions(stated, text) !== 0 ? stated : undefined;
}

function isNuspec(name: string): boolean {
  return /^[^/]+\.nuspec$/i.test(name);
}

/** Leaves out updater stubs, because a stub is 32-bit even in a 64-bit package. */
function isProgram(name: string): boolean {
  return (
    isMacProgram(name) ||
    (/^lib\/[^/]+\/[^/]+\.exe$/i.test(name) &&
      !/(squirrel|update|executionstub|createdump)\.exe$/i.test(name))
  );
}
