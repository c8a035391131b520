import { dirname } from 'node:path';
import { BLOCKMAP, WEB_PACKAGE } from '../domain/companion.ts';
import type { ArtifactSignature } from '../domain/signature.ts';
import { readBlockmapCoverage } from './blockmap.ts';
import type { BuiltCompanion, SkippedFile, StatedDigest } from './build-output.ts';
import { checkFilename } from './filename.ts';
import type { Package } from './identify.ts';
import { archInName, isWebPackage } from './infer.ts';
import { readMinisign } from './minisign.ts';
import { otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';

/** What a file that is of no use alone adds to the package beside it. */

/** Filled while the sidecars are read. */
export interface Draft {
  readonly package: Package;
  minimumOsVersion: string | null;
  readonly stated: StatedDigest[];
  readonly signatures: ArtifactSignature[];
  readonly companions: (BuiltCompanion & { readonly stated: StatedDigest[] })[];
}

const SIDECAR = /\.(sig|blockmap)$/i;

export function isSidecarName(name: string): boolean {
  return SIDECAR.test(name) || isWebPackage(name);
}

/**
 * Adds a `.sig`, a `.blockmap` or the package of a web installer to the draft of its file.
 *
 * @returns why it was not used, when it was not
 * @throws AppError `invalid_artifact` for one that is malformed or of other bytes
 */
export async function attachSidecar(
  sidecar: SourceFile,
  drafts: ReadonlyMap<string, Draft>,
  version: string,
): Promise<SkippedFile | undefined> {
  const { path, name, statement } = sidecar;
  if (isWebPackage(name)) return attachPackage(sidecar, drafts, version);
  const draft = drafts.get(path.replace(SIDECAR, ''));
  if (draft === undefined) {
    const other = otherVersionIn(name, version);
    const reason =
      other === undefined
        ? `the file that it belongs to is not published: ${name.replace(SIDECAR, '')}`
        : `is of version ${other}, not ${version}`;
    if (statement !== null) throw refusal(path, reason);
    return { path, reason };
  }
  return /\.sig$/i.test(name)
    ? attachSignature(draft, path, version)
    : attachBlockmap(draft, sidecar);
}

/** The web installer is in the same directory, under a name that says nothing of its packages. */
function attachPackage(
  sidecar: SourceFile,
  drafts: ReadonlyMap<string, Draft>,
  version: string,
): SkippedFile | undefined {
  const { path, name, size } = sidecar;
  const other = otherVersionIn(name, version);
  if (other !== undefined) return { path, reason: `is of version ${other}, not ${version}` };
  const [installer, ...others] = [...drafts.values()].filter(
    ({ package: { format, file } }) =>
      format === 'nsis-web' && dirname(file.path) === dirname(path),
  );
  if (installer === undefined) {
    return { path, reason: 'the web installer that it belongs to is not published' };
  }
  if (others.length > 0) {
    throw refusal(
      path,
      'several web installers lie beside it; publish each from its own directory',
    );
  }
  const filename = checkFilename(path, name);
  const arch = archInName(name) ?? 'x64';
  installer.companions.push({ kind: WEB_PACKAGE, arch, path, filename, size, stated: [] });
  return undefined;
}

/** @throws AppError `invalid_artifact` for a web installer without anything to install */
export function refuseEmptyInstaller({ package: { format, file }, companions }: Draft): void {
  if (format !== 'nsis-web' || companions.some(({ kind }) => kind === WEB_PACKAGE)) return;
  throw refusal(
    file.path,
    `it is a web installer by its name, and the package that it would fetch (….nsis.7z) is not in the same directory; publish the whole directory, or say "${file.path},format=nsis" for an ordinary installer`,
  );
}

async function attachSignature(draft: Draft, path: string, version: string): Promise<undefined> {
  draft.signatures.push(await readMinisign(path, draft.package.file.name, version));
}

async function attachBlockmap(draft: Draft, sidecar: SourceFile): Promise<SkippedFile | undefined> {
  const { path, size } = sidecar;
  const { file, filename } = draft.package;
  const covered = await readBlockmapCoverage(path);
  if (covered === undefined) return { path, reason: 'it is not a block map' };
  if (covered !== file.size) {
    // A map of other bytes makes every updater fetch garbage first, then the whole file.
    throw refusal(
      path,
      `it is of another build: it maps ${covered} bytes, and ${file.name} has ${file.size}`,
    );
  }
  draft.companions.push({
    kind: BLOCKMAP,
    path,
    filename: checkFilename(path, `${filename}.blockmap`),
    size,
    stated: [],
  });
  return undefined;
}
