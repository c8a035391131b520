import {
  type Arch,
  FORMATS,
  type Format,
  PLATFORMS,
  type Platform,
  platformOf,
} from '../domain/platform.ts';
import type { ArtifactIdentity } from '../domain/release.ts';
import { isNsisProgram, type Machine, machineOfFile } from './archive/file-magic.ts';
import { otherVersionInside, readNupkg } from './archive/nupkg.ts';
import { fileByProduct } from './by-product.ts';
import type { Clues } from './clues.ts';
import { type ArchFindings, decideArch } from './decide-arch.ts';
import { statedWords } from './descriptor.ts';
import { cluesOfElectronBuilder } from './electron/electron-builder.ts';
import { cluesOfElectronForge } from './electron/electron-forge.ts';
import { checkFilename, insertArch } from './filename.ts';
import { inferFromName, looksLikePackage } from './infer.ts';
import { otherVersionIn } from './name-version.ts';
import { brokenFile, refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';
import { appArchiveName, cluesOfTauri, isAppArchive } from './tauri/tauri.ts';
import { cluesOfVelopack } from './velopack/velopack.ts';

/** The first words of a skip reason: the file may be a package, but Slipway does not recognize it. */
export const NOT_KNOWN = 'not a known package';

/** A file that will be published. */
export interface Package extends ArtifactIdentity {
  readonly file: SourceFile;
  readonly filename: string;
  readonly minimumOsVersion: string | null;
}

/** The known facts about a file before its architecture is decided. */
interface Findings extends ArchFindings {
  readonly platform: Platform | undefined;
  readonly format: Format | undefined;
}

/**
 * Identifies a file: by its descriptor, else by the conventions of its tool, its name and its contents.
 *
 * Skips a file that is not a known package. Refuses such a file only when the publisher named it.
 *
 * @param listedFor the platform for which an appcast lists the file; it counts when nothing else states a platform
 * @throws AppError `invalid_artifact`, which names the unclear fact and the descriptor that would state this fact
 */
export async function identify(
  file: SourceFile,
  version: string,
  listedFor?: Platform,
): Promise<Package | { readonly skip: string }> {
  const unwanted = whyUnwanted(file, version);
  if (unwanted !== undefined) return skipOrRefuse(file, unwanted);
  const found = await findOut(file, version, listedFor);
  if (found.clues.skip !== undefined) return skipOrRefuse(file, found.clues.skip);
  const other = found.nupkg && otherVersionInside(found.nupkg, version);
  if (other !== undefined) return skipOrRefuse(file, `it is of version ${other}, not ${version}`);
  const { platform, format } = found;
  if (platform === undefined || format === undefined) return unclear(file, found);
  if (file.size === 0) throw brokenFile(file.path, 'it is empty');
  const arch = file.statement?.arch ?? (await decideArch(file, found, platform, format, version));
  return {
    file,
    platform,
    arch,
    format,
    filename: checkFilename(file.path, publishedName(file, found, format, arch)),
    minimumOsVersion: file.statement?.minimumOsVersion ?? null,
  };
}

function whyUnwanted(file: SourceFile, version: string): string | undefined {
  const other = otherVersionIn(file.statement?.filename ?? file.name, version);
  if (other !== undefined) return `it is of version ${other}, not ${version}`;
  // A publisher who states the format of a by-product wants to publish the file.
  return file.statement?.format === undefined ? fileByProduct(file.name) : undefined;
}

function skipOrRefuse(file: SourceFile, reason: string): { skip: string } {
  if (isFound(file)) return { skip: reason };
  throw refusal(file.path, reason);
}

/**
 * True when the publisher did not name the file. An imported file may have a statement from the index of the other
 * server.
 */
function isFound({ statement, imported }: SourceFile): boolean {
  return statement === null || imported !== undefined;
}

async function findOut(
  file: SourceFile,
  version: string,
  listedFor: Platform | undefined,
): Promise<Findings> {
  const { statement } = file;
  const named = inferFromName(file.name);
  const clues = { ...(await cluesOf(file, version)), ...cluesOfAppcast(listedFor) };
  const isNupkg = /\.nupkg$/i.test(file.name);
  const nupkg = isNupkg ? await readNupkg(file.path) : undefined;
  const packaged = isNupkg && (nupkg?.isVelopack ? 'velopack' : 'squirrel');
  // A bare program that was found in a directory is more likely a tool of the build than a release.
  const isBare = statement !== null && !looksLikePackage(file.name);
  const isBinary = isBare || (statement?.format ?? clues.format) === 'binary';
  const machine = isBinary ? await machineOfProgram(file, clues) : nupkg?.machine;
  const bareFormat = isBare && machine !== undefined ? 'binary' : undefined;
  const packagedFor = packaged === 'squirrel' ? 'windows' : platformOfRuntime(nupkg?.runtime);
  return {
    platform:
      statement?.platform ??
      clues.platform ??
      packagedFor ??
      machine?.platform ??
      named.platform ??
      listedFor,
    format:
      statement?.format ?? clues.format ?? (packaged || undefined) ?? named.format ?? bareFormat,
    machine,
    clues,
    nupkg,
  };
}

/**
 * Sparkle offers a file of its appcast to every Mac, so the file counts as universal when nothing else states its
 * architecture.
 */
function cluesOfAppcast(listedFor: Platform | undefined): Clues {
  return listedFor === 'macos' ? { usualArch: 'universal' } : {};
}

/** Undefined for a self-extracting program: its header tells nothing about the program inside. */
async function machineOfProgram(file: SourceFile, clues: Clues): Promise<Machine | undefined> {
  const isPacked = clues.isSelfExtracting === true || (await isNsisProgram(file.path));
  return isPacked ? undefined : machineOfFile(file.path);
}

/**
 * Several tools may share a directory. The clues of electron-builder are the least specific, so the clues of other
 * tools override them.
 */
async function cluesOf(file: SourceFile, version: string): Promise<Clues> {
  const particular = (await cluesOfVelopack(file, version)) ?? cluesOfElectronForge(file);
  return { ...cluesOfElectronBuilder(file), ...particular, ...cluesOfTauri(file) };
}

function platformOfRuntime(runtime: string | undefined): Platform | undefined {
  return platformOf(runtime?.split('-', 1)[0] ?? '');
}

function publishedName(file: SourceFile, found: Findings, format: Format, arch: Arch): string {
  if (file.statement?.filename !== undefined) return file.statement.filename;
  if (isAppArchive(file.name)) return appArchiveName(file.name, arch);
  const lacksArch =
    found.clues.nameLacksArch === true || format === 'squirrel' || format === 'squirrel-setup';
  return lacksArch ? insertArch(file.name, arch) : file.name;
}

function unclear(file: SourceFile, { platform, format }: Findings): { skip: string } {
  const missing = [
    ...(platform === undefined ? [`os, one of ${PLATFORMS.join(', ')}`] : []),
    ...(format === undefined ? [`format, one of ${FORMATS.join(', ')}`] : []),
  ];
  const os = platform === undefined ? ',os=…' : '';
  const kind = format === undefined ? ',format=…' : '';
  if (file.imported !== undefined) return { skip: NOT_KNOWN };
  if (file.statement === null) {
    return {
      skip: `${NOT_KNOWN}; to publish it, add "${file.path},os=…,arch=…,format=…"`,
    };
  }
  throw refusal(
    file.path,
    `it is not a known package. Add "${file.path}${statedWords(file.statement)}${os}${kind}": ${missing.join('; ')}.`,
  );
}
