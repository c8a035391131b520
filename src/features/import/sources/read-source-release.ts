import { basename, dirname } from 'node:path';
import type {
  BuildOutput,
  BuiltArtifact,
  BuiltFile,
  SkippedFile,
} from '../../../builds/build-output.ts';
import { fileByProduct } from '../../../builds/by-product.ts';
import type { Statement } from '../../../builds/descriptor.ts';
import { isFeedName } from '../../../builds/electron/feed.ts';
import { readBuildOutput } from '../../../builds/read-build-output.ts';
import { refusal } from '../../../builds/refusal.ts';
import { isSidecarName } from '../../../builds/sidecar.ts';
import { describeFile, type SourceFile } from '../../../builds/source-file.ts';
import { parseTauriSignature } from '../../../builds/tauri/tauri-signature.ts';
import { systemCode } from '../../../core/errors.ts';
import type { Arch } from '../../../domain/platform.ts';
import { MINISIGN } from '../../../domain/signature.ts';
import type { SourceRelease } from './source.ts';

/** Reads one release of another update server, and returns it in the form that publishing needs. */

export interface SourceBuild extends BuildOutput {
  /** The files of an unknown kind, and the files of another version. */
  readonly unknown: readonly SkippedFile[];
}

const DELTA = /\.delta$|-delta\.nupkg$/i;

type ImportedFile = SourceRelease['files'][number];

/**
 * Reads exactly the files of a release, as if they were alone in their directory.
 *
 * @param usualArch the architecture of files that state none; undefined: the usual architecture of the source, and a
 *   refusal without one
 * @throws AppError `invalid_artifact`, also when the release has nothing to publish
 */
export async function readSourceRelease(
  release: SourceRelease,
  usualArch: Arch | undefined,
): Promise<SourceBuild> {
  try {
    return await readFiles(release, usualArch);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = `its files cannot be read any more (${code}). Copy them again`;
    throw refusal(release.label, why, error);
  }
}

async function readFiles(
  release: SourceRelease,
  usualArch: Arch | undefined,
): Promise<SourceBuild> {
  const { files, version, beside } = release;
  const siblings = new Map(
    [...Map.groupBy(files, ({ path }) => dirname(path))].map(([directory, own]) => [
      directory,
      [...new Set([...own.map(({ name }) => name), ...beside])],
    ]),
  );
  const sources = await Promise.all(
    files.map(async (file): Promise<SourceFile> => {
      const around = siblings.get(dirname(file.path)) ?? [];
      const described = await describeFile(file.path, statementOf(file), around);
      return { ...described, imported: { usualArch: usualArch ?? file.usualArch } };
    }),
  );
  const paths = files.map(({ path }) => path);
  const build = await readBuildOutput({ paths, version, files: sources });
  const isBeside = (path: string): boolean => beside.includes(basename(path));
  const stated = new Map(files.map((file) => [file.path, file]));
  return {
    ...build,
    staged: release.staged ?? build.staged,
    artifacts: build.artifacts.map((artifact) => withStated(artifact, stated, version)),
    signed: release.carriesIndex
      ? build.signed
      : build.signed.filter(({ path }) => !isBeside(path)),
    // A release has one name and one text of notes. The source takes precedence over the build tool's feeds.
    described: {
      name: release.name ?? build.described.name,
      notes: release.notes ?? build.described.notes,
    },
    unknown: build.skipped.filter(({ path }) => isUnknown(stated.get(path)?.name ?? '', beside)),
  };
}

/**
 * The statement of the source about a package. Null for any other file: a companion gets its machine from its package,
 * and the build reader may leave the companion out.
 */
function statementOf({ name, platform, arch }: ImportedFile): Statement | null {
  if (isFeedName(name) || isSidecarName(name) || DELTA.test(name)) return null;
  if (platform === undefined && arch === undefined) return null;
  return {
    ...(platform === undefined ? {} : { platform }),
    ...(arch === undefined ? {} : { arch }),
  };
}

/** Adds the digests and the signature that the index states. Publishing compares and verifies them. */
function withStated(
  artifact: BuiltArtifact,
  files: ReadonlyMap<string, ImportedFile>,
  version: string,
): BuiltArtifact {
  const statedOf = ({ path, stated }: BuiltFile): BuiltFile['stated'] => {
    const file = files.get(path);
    if (file === undefined) return stated;
    return [...stated, ...file.digests.map((each) => ({ ...each, statedIn: file.statedIn }))];
  };
  return {
    ...artifact,
    stated: statedOf(artifact),
    signatures: signaturesOf(artifact, files.get(artifact.path), version),
    companions: artifact.companions.map((each) => ({ ...each, stated: statedOf(each) })),
  };
}

/** Adds the signature from the index, unless a `.sig` file beside the artifact already states it. */
function signaturesOf(
  { signatures }: BuiltArtifact,
  file: ImportedFile | undefined,
  version: string,
): BuiltArtifact['signatures'] {
  if (file?.signature === undefined || signatures.some(({ scheme }) => scheme === MINISIGN)) {
    return signatures;
  }
  const { signature, statedIn, name } = file;
  return [...signatures, parseTauriSignature(signature, statedIn, name, version)];
}

/**
 * True for a skipped file that the import must report. Updaters do not need feeds, signatures of other tools and deltas
 * without their base, so these files are not reported.
 */
function isUnknown(name: string, beside: readonly string[]): boolean {
  if (beside.includes(name) || fileByProduct(name) !== undefined) return false;
  return !isFeedName(name) && !isSidecarName(name) && !DELTA.test(name);
}
