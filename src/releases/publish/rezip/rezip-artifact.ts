import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BuiltArtifact } from '../../../builds/build-output.ts';
import { artifactKey } from '../../../catalog/documents/keys.ts';
import type { ReaderDeps } from '../../../catalog/reading/read.ts';
import { readFileTwice } from '../../../catalog/reading/read-file-twice.ts';
import { formatBytes } from '../../../core/counted.ts';
import { AppError } from '../../../core/errors.ts';
import { createTemporaryDirectory } from '../../../core/temporary-directory.ts';
import { type Blockmap, missingBytes, parseBlockmap } from '../../../domain/blockmap.ts';
import { BLOCKMAP } from '../../../domain/companion.ts';
import { findArtifact, type Release } from '../../../domain/release.ts';
import type { PublishProgress } from '../../files/hash-artifacts.ts';
import { hashFile } from '../../files/hash-file.ts';
import { createBlockCutter } from '../../files/make-blockmap.ts';
import { repackZip } from './repack-zip.ts';

/** Repacks the zips for macOS of a build, so that the clients of electron-updater download less of the next update. */

export interface RezippedArtifacts {
  readonly artifacts: readonly BuiltArtifact[];
  /** Sentences about what an update moves, or why a file stays as it is. */
  readonly remarks: readonly string[];
  /** Removes the new archives. Called when they are uploaded. Never fails. */
  remove(): Promise<void>;
}

type RezipDeps = ReaderDeps & { readonly onProgress: (progress: PublishProgress) => void };

const MAP_BYTES_MAX = 32 * 1024 * 1024;

/** True for a file that electron-updater downloads as a zip with a block map. */
function isRezippable({ platform, format, needsBlockmap }: BuiltArtifact): boolean {
  return platform === 'macos' && format === 'zip' && needsBlockmap;
}

/** True for a file that `--rezip` would repack. */
export function canRezip(built: BuiltArtifact): boolean {
  const { signatures, stated } = built;
  return isRezippable(built) && signatures.length === 0 && !stated.some((each) => each.isSigned);
}

/** @throws as {@link rezipArtifact}; `invalid_request` when no file can be repacked, or the disk has no place for it */
export async function rezipArtifacts(
  deps: RezipDeps,
  application: string,
  artifacts: readonly BuiltArtifact[],
  previous: Release | undefined,
): Promise<RezippedArtifacts> {
  if (!artifacts.some(isRezippable)) {
    throw new AppError(
      'invalid_request',
      '--rezip repacks the zip of electron-builder for macOS, and this publish has none. Leave out --rezip.',
    );
  }
  const directory = await createTemporaryDirectory('slipway-rezip-').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_request', `--rezip needs a temporary directory: ${why}.`);
  });
  const rezipped: BuiltArtifact[] = [];
  const remarks: string[] = [];
  try {
    for (const built of artifacts) {
      if (!isRezippable(built)) {
        rezipped.push(built);
        continue;
      }
      const done = await rezipArtifact(deps, application, built, previous, directory.path);
      rezipped.push(done.artifact);
      remarks.push(done.remark);
    }
    return { artifacts: rezipped, remarks, remove: directory.remove };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

/**
 * @param previous the release from which most clients update
 * @param directory gets the new archive
 * @throws AppError `invalid_artifact` for a file that differs from its feed; `invalid_request` for a file whose signature
 *   covers its bytes
 */
async function rezipArtifact(
  deps: RezipDeps,
  application: string,
  built: BuiltArtifact,
  previous: Release | undefined,
  directory: string,
): Promise<{ readonly artifact: BuiltArtifact; readonly remark: string }> {
  const { filename, size } = built;
  refuseSigned(built);
  const report = (bytesDone: number): void =>
    deps.onProgress({ phase: 'rezip', filename, bytesDone, bytesTotal: size });
  const before = await readStoredMap(deps, application, built, previous);
  // The maps only tell what an update moves, so they are made only when there is a map to compare.
  const own = before && (await createBlockCutter());
  const { sha256 } = await hashFile(built, report, [], { mapped: own });
  const out = path.join(directory, filename);
  const repacked = await repackZip(built.path, out).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'invalid_artifact',
      `${built.path} could not be repacked: ${why}. Build again, or leave out --rezip.`,
      { cause: error },
    );
  });
  if (typeof repacked === 'string') {
    return { artifact: built, remark: `Did not repack ${filename}: ${repacked}.` };
  }
  if (repacked.sha256 !== sha256) {
    throw new AppError(
      'invalid_artifact',
      `${built.path} changed while it was read. Publish once the build has finished.`,
    );
  }
  const { readBlockmap: _, ...others } = built;
  const artifact = {
    ...others,
    path: out,
    size: repacked.size,
    stated: [],
    needsBlockmap: true,
    companions: built.companions.filter(({ kind }) => kind !== BLOCKMAP),
    blockCuts: repacked.cuts,
  };
  if (previous === undefined || before === undefined || own === undefined) {
    const remark = `Repacked ${filename} for smaller updates. No earlier release has a block map to compare it with.`;
    return { artifact, remark };
  }
  const cutter = await createBlockCutter(repacked.cuts);
  await hashFile(artifact, report, [], { mapped: cutter });
  const old = missingBytes(own.finish(), before);
  const now = missingBytes(cutter.finish(), before);
  const moved = `an update from ${previous.version} moves ${formatBytes(now)} of it; without --rezip it would move ${formatBytes(old)} of ${formatBytes(size)}`;
  const first =
    now > old ? ` ${previous.version} was not repacked, so only the next update moves less.` : '';
  return { artifact, remark: `Repacked ${filename}: ${moved}.${first}` };
}

/** @throws AppError `invalid_request` */
function refuseSigned({ filename, signatures, stated }: BuiltArtifact): void {
  const signedFeed = stated.find(({ isSigned }) => isSigned)?.statedIn;
  if (signatures.length === 0 && signedFeed === undefined) return;
  const what = signedFeed === undefined ? 'its signature is' : `${signedFeed} is signed`;
  throw new AppError(
    'invalid_request',
    `--rezip would change ${filename}, and ${what} for its present bytes. Leave out --rezip.`,
  );
}

async function readStoredMap(
  { store }: ReaderDeps,
  application: string,
  built: BuiltArtifact,
  previous: Release | undefined,
): Promise<Blockmap | undefined> {
  const before = previous && findArtifact(previous, built);
  const map = before?.companions.find(({ kind }) => kind === BLOCKMAP);
  if (map === undefined) return undefined;
  try {
    if (map.size > MAP_BYTES_MAX) return undefined;
    const file = { key: artifactKey(application, map.object), expected: map.sha256 };
    const read = await readFileTwice(store, file, readMapBytes);
    if (read?.sha256 !== map.sha256) return undefined;
    const text = await promisify(gunzip)(read.value, { maxOutputLength: MAP_BYTES_MAX });
    return parseBlockmap(JSON.parse(text.toString('utf8')));
  } catch {
    // The comparison only informs the publisher.
    return undefined;
  }
}

/** The limit counts the bytes that arrive: an attacker who writes the bucket may have replaced the map. */
async function readMapBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAP_BYTES_MAX) throw new Error('The block map is too large.');
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
