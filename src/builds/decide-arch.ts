import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ARCHES, type Arch, type Format, type Platform } from '../domain/platform.ts';
import { type Machine, machineOfFile } from './archive/file-magic.ts';
import { type ApplicationArch, readMacArch } from './archive/mac-application.ts';
import { isBundle, readMsix } from './archive/msix.ts';
import { type NupkgClues, readNupkg } from './archive/nupkg.ts';
import { fileByProduct } from './by-product.ts';
import type { Clues, Evidence } from './clues.ts';
import { statedWords } from './descriptor.ts';
import { archInName } from './infer.ts';
import { containsVersion, otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import { beside, type SourceFile } from './source-file.ts';
import { diskImageEvidence, isAppArchive } from './tauri/tauri.ts';

/** Decides which architecture a package is for. */

export interface ArchFindings {
  readonly clues: Clues;
  readonly nupkg: NupkgClues | undefined;
  readonly machine: Machine | undefined;
}

/**
 * The architecture on which name, folder, channel and contents agree. When no source states an architecture, the
 * architecture is the usual one of the tool, if the tool has one.
 *
 * @throws AppError `invalid_artifact` when these sources contradict each other, and when nothing states an architecture
 */
export async function decideArch(
  file: SourceFile,
  { clues, nupkg, machine }: ArchFindings,
  platform: Platform,
  format: Format,
  version: string,
): Promise<Arch> {
  const named = archInName(file.name);
  const stated = archInName(nupkg?.runtime ?? '') ?? machine?.arch;
  const { arch: inside, problem } =
    stated === undefined ? await readInside(file, nupkg, platform, format) : { arch: stated };
  // The name of a bundle may list only some of the bundle's architectures: `App_1.0.0_x64_arm64.msixbundle`.
  if (inside === 'universal' && isBundle(file.name)) return inside;
  const evidence: Evidence[] = [
    ...(named === undefined ? [] : [{ arch: named, source: 'its name' }]),
    ...(clues.arch === undefined ? [] : [clues.arch]),
    ...(inside === undefined ? [] : [{ arch: inside, source: sourceInside(format) }]),
  ];
  const [first] = evidence;
  if (first !== undefined) {
    checkAgreement(file, format, evidence);
    return first.arch;
  }
  const usual = clues.usualArch ?? file.imported?.usualArch;
  const last = (await lastResort(file, format, version)) ?? usual;
  if (last !== undefined) return last;
  const why = problem === undefined ? '' : `, and ${problem}`;
  const add =
    file.imported === undefined ? `"${file.path}${statedWords(file.statement)},arch=…"` : '--arch';
  throw refusal(
    file.path,
    `its arch (processor architecture) is unclear${why}. Add ${add} with one of ${ARCHES.join(', ')}.`,
  );
}

/** A universal program runs on several architectures, so its name may state only one of them. */
function checkAgreement(file: SourceFile, format: Format, evidence: readonly Evidence[]): void {
  const [first, ...others] = evidence as [Evidence, ...Evidence[]];
  const other = others.find(
    ({ arch, source }) =>
      arch !== first.arch && !(arch === 'universal' && source === sourceInside(format)),
  );
  if (other === undefined) return;
  // An import reads the files of many releases, and its command line cannot describe a file.
  const advice =
    file.imported === undefined ? `Add "${file.path},arch=…".` : 'Replace or rename the file.';
  throw refusal(
    file.path,
    `its arch is unclear: ${first.source} says ${first.arch}, ${other.source} says ${other.arch}. ${advice}`,
  );
}

function sourceInside(format: Format): string {
  return format === 'msix' ? 'its manifest' : 'the program in it';
}

/** A corrupt archive is no evidence. The error mentions the archive only when nothing else states the architecture. */
async function readInside(
  file: SourceFile,
  nupkg: NupkgClues | undefined,
  platform: Platform,
  format: Format,
): Promise<Partial<ApplicationArch>> {
  if (/\.nupkg$/i.test(file.name) && nupkg === undefined) {
    return { problem: 'it is not a NuGet package that can be read' };
  }
  if (format === 'appimage') return { arch: (await machineOfFile(file.path))?.arch };
  if (format === 'msix') return readMsix(file.path);
  const isArchive = format === 'tar.gz' || format === 'zip';
  if (platform === 'macos' && isArchive) return readMacArch(file.path, format);
  return {};
}

async function lastResort(
  file: SourceFile,
  format: Format,
  version: string,
): Promise<Arch | undefined> {
  if (isAppArchive(file.name)) {
    // Tauri writes the disk image into `dmg/` beside `macos/`. CI jobs may collect all files in one directory. A
    // directory that is missing or cannot be read has no evidence.
    const images = await readdir(join(dirname(file.path), '..', 'dmg')).catch(() => []);
    const current = [...images, ...file.siblings].filter(
      (name) => /\.dmg$/i.test(name) && !fileByProduct(name) && containsVersion(name, version),
    );
    return diskImageEvidence(file, current)?.arch;
  }
  // Squirrel's tool may write an MSI beside its setup program.
  if (format !== 'squirrel-setup' && format !== 'msi') return undefined;
  const packages = file.siblings.filter(
    (name) => /-full\.nupkg$/i.test(name) && otherVersionIn(name, version) === undefined,
  );
  const [only] = packages;
  if (only === undefined || packages.length > 1) return undefined;
  return (await readNupkg(beside(file, only)))?.machine?.arch;
}
