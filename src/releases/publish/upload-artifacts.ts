import { ensureUploaded } from '../../catalog/writing/artifact-upload.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { factsOf } from '../../domain/companion.ts';
import type { Artifact } from '../../domain/release.ts';
import { createByteLimit } from '../files/byte-limit.ts';
import type { HashedArtifact, HashedFile, PublishProgress } from '../files/hash-artifacts.ts';

/** Uploads the files of a build. */

export interface UploadDeps extends WriterDeps {
  readonly onProgress: (progress: PublishProgress) => void;
}

const UPLOADS_AT_ONCE = 16;
/** The memory of all uploads under way, in bytes. */
const UPLOADS_BYTES_MAX = 48 * 1024 * 1024;
/** The memory that one upload of a large file holds, in bytes: the store sends such a file in parts. */
const UPLOAD_BYTES_MAX = 32 * 1024 * 1024;

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
    ...(built.signing === undefined ? {} : { signing: built.signing }),
    ...(built.unsignedBuild === undefined ? {} : { unsignedBuild: built.unsignedBuild }),
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
