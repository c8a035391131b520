import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BLOCKMAP, type UpdaterFacts, WEB_PACKAGE } from '../domain/companion.ts';
import { addEdSignature, readEdSignature } from './appcast/ed-signature.ts';
import type { BuiltFile, SkippedFile } from './build-output.ts';
import { attachDelta, deltaNamesOf, isDeltaName } from './delta.ts';
import { readBlockmap, readEmbeddedBlockmap } from './electron/blockmap.ts';
import { checkFilename } from './filename.ts';
import { archInName, isWebInstaller, isWebPackage } from './infer.ts';
import { otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import { isRehashed } from './rehash.ts';
import { LINK_REASON, OTHER_REASON } from './scan-directory.ts';
import { beside, describeFile, type SourceFile } from './source-file.ts';
import { readTauriSignature } from './tauri/tauri-signature.ts';
import type { Unfinished } from './unfinished.ts';
import { attachZsync } from './zsync.ts';

/**
 * Sidecars: files that belong to a package and are useless without it.
 * - `FILE.sig`: Tauri's signature of FILE
 * - `FILE.edSignature`: Sparkle's signature of FILE
 * - `FILE.blockmap`: electron-builder's block map of FILE
 * - `FILE.zsync`: appimagetool's zsync file of FILE
 * - `….nsis.7z`: a package that a web installer downloads
 * - `…-delta.nupkg`: a delta that turns an older version of the package into this version
 */

const SUFFIX = /\.(sig|edSignature|blockmap|zsync)$/i;
const SUFFIXES = ['.sig', '.edSignature', '.blockmap', '.zsync'] as const;

export function isSidecarName(name: string): boolean {
  return SUFFIX.test(name) || isWebPackage(name) || isDeltaName(name);
}

/** The sidecars in the directory of a package. Skips links, as every search in a directory does. */
export async function findSidecars(
  file: SourceFile,
): Promise<{ readonly files: readonly SourceFile[]; readonly skipped: readonly SkippedFile[] }> {
  const files: SourceFile[] = [];
  const skipped: SkippedFile[] = [];
  if (isSidecarName(file.name)) return { files, skipped };
  const packages = isWebInstaller(file.name) ? file.siblings.filter(isWebPackage) : [];
  const names = [
    ...SUFFIXES.map((suffix) => `${file.name}${suffix}`),
    ...packages,
    ...deltaNamesOf(file.name),
  ];
  for (const name of names.filter((each) => file.siblings.includes(each))) {
    const path = beside(file, name);
    const found = await lstat(path);
    if (found.isSymbolicLink()) skipped.push({ path, reason: LINK_REASON });
    else if (!found.isFile()) skipped.push({ path, reason: OTHER_REASON });
    else files.push(await describeFile(path, null, file.siblings));
  }
  return { files, skipped };
}

/**
 * Adds a sidecar to its package.
 *
 * @param rehash the names of files whose bytes the publisher accepts although a feed states others
 * @returns why the sidecar was not used; undefined when it was
 * @throws AppError `invalid_artifact` for a sidecar that is malformed or belongs to other bytes
 */
export async function attachSidecar(
  sidecar: SourceFile,
  packages: ReadonlyMap<string, Unfinished>,
  version: string,
  rehash: readonly string[],
): Promise<SkippedFile | undefined> {
  const { path, name, statement } = sidecar;
  if (isWebPackage(name)) return attachWebPackage(sidecar, packages, version);
  if (isDeltaName(name)) return attachDelta(sidecar, packages, version);
  const unfinished = packages.get(path.replace(SUFFIX, ''));
  if (unfinished === undefined) {
    const other = otherVersionIn(name, version);
    const reason =
      other === undefined
        ? `the file that it belongs to is not published: ${name.replace(SUFFIX, '')}`
        : `it is of version ${other}, not ${version}`;
    if (statement !== null) throw refusal(path, reason);
    return { path, reason };
  }
  if (/\.blockmap$/i.test(name)) return attachBlockmap(unfinished, sidecar);
  const { file } = unfinished.package;
  if (/\.zsync$/i.test(name))
    return attachZsync(unfinished, sidecar, isRehashed(rehash, file.path));
  if (/\.edSignature$/i.test(name)) {
    addEdSignature(path, file.name, unfinished.signatures, await readEdSignature(path, file));
    return undefined;
  }
  unfinished.signatures.push(await readTauriSignature(path, file.name, version));
  return undefined;
}

/**
 * Finds the web installer in the directory of the package, because the installer's name does not mention its packages.
 */
async function attachWebPackage(
  sidecar: SourceFile,
  packages: ReadonlyMap<string, Unfinished>,
  version: string,
): Promise<SkippedFile | undefined> {
  const { path, name, size } = sidecar;
  const other = otherVersionIn(name, version);
  if (other !== undefined) return { path, reason: `it is of version ${other}, not ${version}` };
  const installers = [...packages.values()].filter(
    ({ package: { format, file } }) =>
      format === 'nsis-web' && dirname(file.path) === dirname(path),
  );
  const [installer, ...others] = installers;
  if (installer === undefined) {
    return { path, reason: 'the web installer that it belongs to is not published' };
  }
  if (others.length > 0) {
    throw refusal(
      path,
      'several web installers are beside it. Publish each from its own directory.',
    );
  }
  const filename = checkFilename(path, name);
  const arch = archInName(name) ?? 'x64';
  const embedded = await readEmbeddedFacts(path);
  const kind = WEB_PACKAGE;
  installer.companions.push({ kind, arch, path, filename, size, stated: [], ...embedded });
  return undefined;
}

/** @throws AppError `invalid_artifact` for a web installer without anything to install */
export function refuseEmptyInstaller({ package: { format, file }, companions }: Unfinished): void {
  if (format !== 'nsis-web' || companions.some(({ kind }) => kind === WEB_PACKAGE)) return;
  throw refusal(
    file.path,
    `it is a web installer by its name, and the package that it would download (….nsis.7z) is not in the same directory. Publish the whole directory, or add "${file.path},format=nsis" for an ordinary installer.`,
  );
}

async function attachBlockmap(
  unfinished: Unfinished,
  sidecar: SourceFile,
): Promise<SkippedFile | undefined> {
  const { path, size } = sidecar;
  const { filename } = unfinished.package;
  if (unfinished.facts.blockMapSize !== undefined) {
    return { path, reason: `${filename} has its block map inside, and clients use that one` };
  }
  if ((await readBlockmap(path)) === undefined) {
    unfinished.hasUnreadableBlockmap = true;
    return { path, reason: 'it is not a block map' };
  }
  unfinished.readBlockmap = () => readBlockmap(path);
  unfinished.companions.push({
    kind: BLOCKMAP,
    path,
    filename: checkFilename(path, `${filename}.blockmap`),
    size,
    stated: [],
    facts: {},
  });
  return undefined;
}

/**
 * Finds the block map at the end of a file. Clients download an AppImage or a package differentially only when the feed
 * states the size of that map, and a publisher may publish a file without the build tool's feed. So this function reads
 * the size from the file.
 */
export async function readEmbeddedFacts(
  path: string,
): Promise<{ readonly facts: UpdaterFacts } & Pick<BuiltFile, 'readBlockmap'>> {
  const embedded = await readEmbeddedBlockmap(path);
  if (embedded === undefined) return { facts: {} };
  return {
    facts: { blockMapSize: embedded.packedSize },
    readBlockmap: async () => (await readEmbeddedBlockmap(path))?.blockmap,
  };
}
