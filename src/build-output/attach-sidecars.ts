import type { ArtifactSignature } from '../domain/release.ts';
import { readBlockmapCoverage } from './blockmap.ts';
import type { BuiltCompanion, SkippedFile, StatedDigest } from './build-output.ts';
import { checkFilename } from './filename.ts';
import type { Package } from './identify.ts';
import { readMinisign } from './minisign.ts';
import { otherVersionIn } from './name-version.ts';
import { refusal } from './refusal.ts';
import type { SourceFile } from './source-file.ts';

/** What a sidecar file adds to the package beside it. */

/** Filled while the sidecars are read. */
export interface Draft {
  readonly package: Package;
  minimumOsVersion: string | null;
  readonly stated: StatedDigest[];
  readonly signatures: ArtifactSignature[];
  readonly companions: BuiltCompanion[];
}

const SIDECAR = /\.(sig|blockmap)$/i;

export function isSidecarName(name: string): boolean {
  return SIDECAR.test(name);
}

/**
 * Adds a `.sig` or `.blockmap` to the draft of its file.
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
    kind: 'blockmap',
    path,
    filename: checkFilename(path, `${filename}.blockmap`),
    size,
    stated: [],
  });
  return undefined;
}
