import { createHash } from 'node:crypto';
import type { BuiltArtifact, BuiltFile } from '../../builds/build-output.ts';
import { ensureUploaded } from '../../catalog/artifact-upload.ts';
import type { WriterDeps } from '../../catalog/change.ts';
import {
  type Companion,
  DELTA,
  factsOf,
  type UpdaterFacts,
  ZSYNC,
} from '../../domain/companion.ts';
import type { Format } from '../../domain/platform.ts';
import type { Artifact } from '../../domain/release.ts';
import { MINISIGN, SIGNED_HASH } from '../../domain/signature.ts';
import { createByteLimit } from './byte-limit.ts';
import { type FurtherAlgorithm, hashFile } from './hash-file.ts';
import { hasZsync, makeZsync } from './make-zsync.ts';

/** The first steps of publishing: hash the files of a build and upload them. */

export interface PublishProgress {
  readonly phase: 'hash' | 'upload';
  /** The name of the file, or `10 files` while several are uploaded at the same time. */
  readonly filename: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface UploadDeps extends WriterDeps {
  readonly onProgress: (progress: PublishProgress) => void;
}

interface HashedFile extends Pick<UpdaterFacts, 'sha1'> {
  /** The path of the file on disk; for a file that publishing makes, its bytes. */
  readonly content: string | Uint8Array;
  /** The facts that the build tool states. */
  readonly facts: UpdaterFacts;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  readonly sha512: string;
  /** Present for a signed file whose signature will be verified. */
  readonly blake2b512?: string;
}

export interface HashedArtifact {
  readonly built: BuiltArtifact;
  readonly main: HashedFile;
  readonly companions: readonly HashedCompanion[];
}

type HashedCompanion = HashedFile & Pick<Companion, 'kind' | 'arch' | 'base' | 'signatures'>;

const UPLOADS_AT_ONCE = 16;
/** The memory of all uploads under way, in bytes. */
const UPLOADS_BYTES_MAX = 48 * 1024 * 1024;
/** The memory that one upload of a large file holds, in bytes: the store sends such a file in parts. */
const UPLOAD_BYTES_MAX = 32 * 1024 * 1024;

/** The formats of Squirrel, Velopack and zsync, whose clients compare SHA-1. */
const WITH_SHA1: readonly Format[] = ['squirrel', 'velopack', 'appimage'];

/**
 * Hashes every file once, and makes the zsync file of an AppImage when the build tool wrote none.
 *
 * @param verifies true when the signatures will be verified
 * @throws AppError `invalid_artifact`
 */
export async function hashArtifacts(
  deps: UploadDeps,
  artifacts: readonly BuiltArtifact[],
  verifies: boolean,
): Promise<readonly HashedArtifact[]> {
  const hash = async (
    file: BuiltFile,
    further: readonly FurtherAlgorithm[],
  ): Promise<HashedFile> => {
    const { filename, size } = file;
    const onProgress = (bytesDone: number): void =>
      deps.onProgress({ phase: 'hash', filename, bytesDone, bytesTotal: size });
    const digests = await hashFile(file, onProgress, further);
    return { content: file.path, facts: file.facts ?? {}, filename, size, ...digests };
  };
  const hashed: HashedArtifact[] = [];
  for (const built of artifacts) {
    const compared: readonly FurtherAlgorithm[] = WITH_SHA1.includes(built.format) ? ['sha1'] : [];
    const isSigned = verifies && built.signatures.some(({ scheme }) => scheme === MINISIGN);
    const main = await hash(built, isSigned ? [...compared, SIGNED_HASH] : compared);
    const companions: HashedCompanion[] = [];
    for (const companion of built.companions) {
      const { kind, arch, base, signatures } = companion;
      companions.push({
        ...(await hash(companion, kind === DELTA ? compared : [])),
        kind,
        ...(arch === undefined ? {} : { arch }),
        ...(base === undefined ? {} : { base }),
        ...(signatures === undefined ? {} : { signatures }),
      });
    }
    const zsync = await makeMissingZsync(built, main);
    hashed.push({
      built,
      main,
      companions: zsync === undefined ? companions : [...companions, zsync],
    });
  }
  return hashed;
}

/** @returns undefined when the artifact needs no zsync file, or is too large for a zsync file */
async function makeMissingZsync(
  built: BuiltArtifact,
  { sha1 }: HashedFile,
): Promise<HashedCompanion | undefined> {
  const { format, companions, path, filename, size } = built;
  if (format !== 'appimage' || companions.some(({ kind }) => kind === ZSYNC)) return undefined;
  if (sha1 === undefined || !hasZsync(filename, size)) return undefined;
  const bytes = await makeZsync({ path, filename, size, sha1 });
  return {
    kind: ZSYNC,
    filename: `${filename}.zsync`,
    size: bytes.length,
    content: bytes,
    facts: {},
    sha256: createHash('sha256').update(bytes).digest('hex'),
    sha512: createHash('sha512').update(bytes).digest('hex'),
  };
}

function artifactWith(hashed: HashedArtifact, objectOf: (file: HashedFile) => string): Artifact {
  const { built, main } = hashed;
  const stored = (file: HashedFile) => ({
    filename: file.filename,
    size: file.size,
    sha256: file.sha256,
    sha512: file.sha512,
    ...factsOf(file.facts, file),
    object: objectOf(file),
  });
  return {
    platform: built.platform,
    arch: built.arch,
    format: built.format,
    ...stored(main),
    minimumOsVersion: built.minimumOsVersion,
    signatures: built.signatures,
    companions: hashed.companions.map((file) => ({
      kind: file.kind,
      ...(file.arch === undefined ? {} : { arch: file.arch }),
      ...(file.base === undefined ? {} : { base: file.base }),
      ...(file.signatures === undefined ? {} : { signatures: file.signatures }),
      ...stored(file),
    })),
  };
}

/** The artifact for checks before the upload, without the keys of its objects. */
export function withPlannedObjects(hashed: HashedArtifact): Artifact {
  return artifactWith(hashed, () => '');
}

/**
 * Uploads files, several at the same time, and uses stored objects with the same bytes again. The first failure stops the
 * other uploads. When the function throws, no upload is under way.
 *
 * @param named artifacts of manifests, whose objects it uses again
 * @throws AppError the first failure, which names its file; `artifact_mismatch`, `store_unavailable`, `store_denied`
 */
export async function uploadArtifacts(
  deps: UploadDeps,
  application: string,
  hashed: readonly HashedArtifact[],
  named: readonly Artifact[],
): Promise<readonly { artifact: Artifact; uploaded: boolean }[]> {
  const namedFiles = named.flatMap((artifact) => [artifact, ...artifact.companions]);
  // A file that two artifacts have in common is uploaded once.
  const files = new Map(
    hashed.flatMap(({ main, companions }) => [main, ...companions].map((f) => [idOf(f), f])),
  );
  const progressOf = createUploadProgress([...files.values()], deps.onProgress);
  const limit = createByteLimit(UPLOADS_BYTES_MAX, UPLOADS_AT_ONCE);
  const failure = new AbortController();
  const outcomes = new Map<string, Awaited<ReturnType<typeof ensureUploaded>>>();
  const upload = async ([id, file]: readonly [string, HashedFile]): Promise<void> => {
    try {
      failure.signal.throwIfAborted();
      const options = { onProgress: progressOf(file), signal: failure.signal };
      outcomes.set(id, await ensureUploaded(deps, application, file, namedFiles, options));
    } catch (error) {
      failure.abort(error);
    }
  };
  await Promise.all(
    [...files].map((each) =>
      limit.run(Math.min(each[1].size, UPLOAD_BYTES_MAX), () => upload(each)),
    ),
  );
  if (failure.signal.aborted) throw failure.signal.reason;
  return hashed.map((item) => ({
    artifact: artifactWith(item, (file) => outcomes.get(idOf(file))?.object ?? ''),
    uploaded: [item.main, ...item.companions].some((f) => outcomes.get(idOf(f))?.uploaded),
  }));
}

function idOf({ sha256, filename }: HashedFile): string {
  return `${sha256}/${filename}`;
}

/** Adds up the bytes of all files, because they are uploaded at the same time. */
function createUploadProgress(
  files: readonly HashedFile[],
  report: UploadDeps['onProgress'],
): (file: HashedFile) => (bytesDone: number) => void {
  const bytesTotal = files.reduce((sum, { size }) => sum + size, 0);
  const [first, ...others] = files;
  const filename = others.length === 0 ? (first?.filename ?? '') : `${files.length} files`;
  const done = new Map<HashedFile, number>();
  return (file) => (bytes) => {
    done.set(file, bytes);
    const bytesDone = [...done.values()].reduce((sum, each) => sum + each, 0);
    report({ phase: 'upload', filename, bytesDone, bytesTotal });
  };
}
