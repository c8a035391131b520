import type { Arch } from '../domain/platform.ts';
import { HEADER_BYTES, type Machine, machineOfHeader } from './file-magic.ts';
import { EXECUTABLE_IN_APP } from './tar-scan.ts';
import { readZip, type ZipEntry } from './zip.ts';

/** What is inside a zip or a NuGet package, where its name does not say. */

const PROGRAMS_MAX = 8;
const NUSPEC_BYTES_MAX = 64 * 1024;

/** What the programs of the macOS application in a zip agree on. */
export async function archOfAppZip(path: string): Promise<Arch | undefined> {
  const machine = await machineOfPrograms(path, (name) => EXECUTABLE_IN_APP.test(name));
  return machine?.arch;
}

export interface NupkgClues {
  /** Velopack writes elements into the nuspec that Squirrel does not know. */
  readonly isVelopack: boolean;
  readonly version: string | undefined;
  /** Velopack's runtime id, such as `win-x64`. */
  readonly runtime: string | undefined;
  readonly machine: Machine | undefined;
}

/** What a `.nupkg` says of itself, or undefined when it is not one. */
export async function readNupkg(path: string): Promise<NupkgClues | undefined> {
  const nuspec = await readZip(path, async (entries, startOf) => {
    const entry = entries.find(({ name }) => /^[^/]+\.nuspec$/i.test(name));
    return entry === undefined ? undefined : (await startOf(entry, NUSPEC_BYTES_MAX)).toString();
  });
  if (nuspec === undefined) return undefined;
  const element = (name: string) =>
    new RegExp(`<${name}>\\s*([^<]{1,128}?)\\s*</${name}>`, 'i').exec(nuspec)?.[1];
  const os = element('os');
  const arch = element('machineArchitecture');
  return {
    isVelopack: element('mainExe') !== undefined || element('channel') !== undefined,
    version: element('version'),
    runtime: element('rid') ?? (os && arch ? `${os}-${arch}` : undefined),
    machine: await machineOfPrograms(path, isProgram),
  };
}

/** Updater stubs are 32-bit whatever they update. */
function isProgram(name: string): boolean {
  return (
    EXECUTABLE_IN_APP.test(name) ||
    (/^lib\/[^/]+\/[^/]+\.exe$/i.test(name) &&
      !/(squirrel|update|executionstub|createdump)\.exe$/i.test(name))
  );
}

async function machineOfPrograms(
  path: string,
  isWanted: (name: string) => boolean,
): Promise<Machine | undefined> {
  const found = await readZip(path, async (entries, startOf) => {
    const programs: ZipEntry[] = entries.filter((entry) => isWanted(entry.name));
    const machines = await Promise.all(
      programs
        .slice(0, PROGRAMS_MAX)
        .map(async (entry) => machineOfHeader(await startOf(entry, HEADER_BYTES))),
    );
    return machines.filter((machine) => machine !== undefined);
  });
  const first = found?.[0];
  return found?.every((machine) => machine.arch === first?.arch) ? first : undefined;
}
