import { openPlainFile } from '../../core/plain-file.ts';
import type { Arch, Platform } from '../../domain/platform.ts';

/** Reads the machine that a program is for from the header of the program. */

export interface Machine {
  readonly platform: Platform;
  readonly arch: Arch;
}

/** Enough for every header: linkers write the header of PE files within the first page. */
export const HEADER_BYTES = 4096;

const PE_MACHINES: Readonly<Record<number, Arch>> = {
  34404: 'x64',
  43620: 'arm64',
  332: 'ia32',
  452: 'armv7',
};
const ELF_MACHINES: Readonly<Record<number, Arch>> = {
  62: 'x64',
  183: 'arm64',
  3: 'ia32',
  40: 'armv7',
};
const MACH_O_CPUS: Readonly<Record<number, Arch>> = {
  16777223: 'x64',
  16777228: 'arm64',
  7: 'ia32',
};

/** Reads Mach-O, ELF and PE; undefined for other files and other architectures. */
export function machineOfHeader(bytes: Buffer): Machine | undefined {
  return peMachine(bytes) ?? elfMachine(bytes) ?? machOMachine(bytes);
}

/** Reads the header of a file, like {@link machineOfHeader}. */
export async function machineOfFile(path: string): Promise<Machine | undefined> {
  return machineOfHeader(await readStart(path, HEADER_BYTES));
}

/** Texts that NSIS writes into the manifest of a program, and at the beginning of the data behind the program. */
const NSIS_MARKS = ['Nullsoft.NSIS.exehead', 'NullsoftInst'];
const NSIS_STUB_BYTES_MAX = 1024 * 1024;

/** True when NSIS made a Windows program. Installers of NSIS are 32-bit, also for 64-bit applications. */
export async function isNsisProgram(path: string): Promise<boolean> {
  const start = await readStart(path, NSIS_STUB_BYTES_MAX);
  return start.toString('latin1', 0, 2) === 'MZ' && NSIS_MARKS.some((mark) => start.includes(mark));
}

/** Reads at most `bytesMax` bytes from the beginning of a file. */
async function readStart(path: string, bytesMax: number): Promise<Buffer> {
  const file = await openPlainFile(path);
  try {
    const buffer = Buffer.alloc(bytesMax);
    const { bytesRead } = await file.read(buffer, 0, bytesMax, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function peMachine(bytes: Buffer): Machine | undefined {
  if (bytes.length < 0x40 || bytes.toString('latin1', 0, 2) !== 'MZ') return undefined;
  const header = bytes.readUInt32LE(0x3c);
  if (header + 6 > bytes.length) return undefined;
  if (bytes.toString('latin1', header, header + 4) !== 'PE\0\0') return undefined;
  return machine('windows', PE_MACHINES[bytes.readUInt16LE(header + 4)]);
}

function elfMachine(bytes: Buffer): Machine | undefined {
  if (bytes.length < 20 || bytes.toString('latin1', 0, 4) !== '\x7fELF') return undefined;
  return machine('linux', ELF_MACHINES[bytes.readUInt16LE(18)]);
}

function machOMachine(bytes: Buffer): Machine | undefined {
  if (bytes.length < 8) return undefined;
  const little = bytes.readUInt32LE(0);
  if (little === 0xfeedfacf || little === 0xfeedface) {
    return machine('macos', MACH_O_CPUS[bytes.readUInt32LE(4)]);
  }
  const big = bytes.readUInt32BE(0);
  if (big !== 0xcafebabe && big !== 0xcafebabf) return undefined;
  return machine('macos', fatArch(bytes, big === 0xcafebabf ? 32 : 20));
}

/**
 * Java classes begin with the same magic number. Where a universal program has its count of architectures, a Java class
 * has its version, which is 45 or more.
 */
function fatArch(bytes: Buffer, entryBytes: number): Arch | undefined {
  const count = bytes.readUInt32BE(4);
  if (count === 0 || count > 16 || 8 + count * entryBytes > bytes.length) return undefined;
  const arches = new Set<Arch>();
  for (let i = 0; i < count; i++) {
    const arch = MACH_O_CPUS[bytes.readUInt32BE(8 + i * entryBytes)];
    if (arch !== undefined) arches.add(arch);
  }
  if (arches.has('x64') && arches.has('arm64')) return 'universal';
  return arches.size === 1 ? [...arches][0] : undefined;
}

function machine(platform: Platform, arch: Arch | undefined): Machine | undefined {
  return arch === undefined ? undefined : { platform, arch };
}
