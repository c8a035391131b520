import { createHash } from 'node:crypto';
import type { BuiltArtifact, BuiltFile } from '../../builds/build-output.ts';
import { type Blockmap, coverageOf } from '../../domain/blockmap.ts';
import {
  BLOCKMAP,
  type Companion,
  type CompanionKind,
  DELTA,
  type UpdaterFacts,
  ZSYNC,
} from '../../domain/companion.ts';
import type { Format } from '../../domain/platform.ts';
import { MINISIGN, SIGNED_HASH } from '../../domain/signature.ts';
import { type FurtherAlgorithm, hashFile } from './hash-file.ts';
import { type ByteReader, createBlockCutter, fitsBlockmap, packBlockmap } from './make-blockmap.ts';
import { hasZsync, makeZsync } from './make-zsync.ts';

/** The first step of publishing: hash the files of a build, and make or mend the files beside them. */

export interface PublishProgress {
  readonly phase: 'hash' | 'upload';
  /** The name of the file, or `10 files` while several are uploaded at the same time. */
  readonly filename: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface HashedFile extends Pick<UpdaterFacts, 'sha1'> {
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
  readonly repairs: readonly Repair[];
}

type HashedCompanion = HashedFile & Pick<Companion, 'kind' | 'arch' | 'base' | 'signatures'>;

/** A difference between the build and what is published. */
export interface Repair {
  /** The published name of the file. */
  readonly filename: string;
  /**
   * `blockmap_made`: the file had no block map. `blockmap_replaced`: its map was of other bytes. `blockmap_ignored`: the
   * map at its end is of other bytes, and publishing changes no file.
   */
  readonly kind: 'blockmap_made' | 'blockmap_replaced' | 'blockmap_ignored';
}

/** The formats of Squirrel, Velopack and zsync, whose clients compare SHA-1. */
const WITH_SHA1: readonly Format[] = ['squirrel', 'velopack', 'appimage'];

/**
 * Hashes every file once, compares it with its block map, and makes the files that the build tool did not write: a
 * block map, and the zsync file of an AppImage.
 *
 * @param verifies true when the signatures will be verified
 * @throws AppError `invalid_artifact`
 */
export async function hashArtifacts(
  { onProgress }: { readonly onProgress: (progress: PublishProgress) => void },
  artifacts: readonly BuiltArtifact[],
  verifies: boolean,
): Promise<readonly HashedArtifact[]> {
  const hashed: HashedArtifact[] = [];
  for (const built of artifacts) {
    const compared: readonly FurtherAlgorithm[] = WITH_SHA1.includes(built.format) ? ['sha1'] : [];
    const isSigned = verifies && built.signatures.some(({ scheme }) => scheme === MINISIGN);
    const hash = { onProgress, artifact: built, repairs: [] as Repair[] };
    const { file: main, blockmap } = await hashMapped(
      hash,
      built,
      isSigned ? [...compared, SIGNED_HASH] : compared,
    );
    const companions: HashedCompanion[] = [];
    for (const companion of built.companions) {
      const { kind, arch, base, signatures } = companion;
      if (kind === BLOCKMAP && blockmap !== undefined) continue;
      const { file } = await hashMapped(hash, companion, kind === DELTA ? compared : []);
      companions.push({
        ...file,
        kind,
        ...(arch === undefined ? {} : { arch }),
        ...(base === undefined ? {} : { base }),
        ...(signatures === undefined ? {} : { signatures }),
      });
    }
    const zsync = await makeMissingZsync(built, main);
    const made = [blockmap, zsync].filter((each) => each !== undefined);
    hashed.push({ built, main, companions: [...companions, ...made], repairs: hash.repairs });
  }
  return hashed;
}

interface Hashing {
  readonly onProgress: (progress: PublishProgress) => void;
  readonly artifact: BuiltArtifact;
  readonly repairs: Repair[];
}

/**
 * Hashes a file, and compares it with its block map.
 *
 * @returns the file, and the block map that has to be published beside it, when the build tool did not write it
 */
async function hashMapped(
  hashing: Hashing,
  file: BuiltFile,
  further: readonly FurtherAlgorithm[],
): Promise<{ readonly file: HashedFile; readonly blockmap: HashedCompanion | undefined }> {
  const { artifact, repairs } = hashing;
  const { path, filename, size, blockmap: stated } = file;
  const hash = async (reader?: ByteReader): Promise<HashedFile> => {
    const onProgress = (bytesDone: number): void =>
      hashing.onProgress({ phase: 'hash', filename, bytesDone, bytesTotal: size });
    const digests = await hashFile(file, onProgress, further, reader);
    return { content: path, facts: file.facts ?? {}, filename, size, ...digests };
  };
  const hashAndCut = async (kind: Repair['kind']) => {
    const cutter = createBlockCutter(path);
    try {
      const hashed = await hash(cutter);
      const blockmap = await publishedMap(filename, await cutter.finish());
      repairs.push({ filename, kind });
      return { file: hashed, blockmap };
    } finally {
      await cutter.stop();
    }
  };
  if (stated === undefined) {
    const isMissing = file === artifact && artifact.needsBlockmap;
    return isMissing ? hashAndCut('blockmap_made') : { file: await hash(), blockmap: undefined };
  }
  const isInside = file.facts?.blockMapSize !== undefined;
  if (!isInside && coverageOf(stated) !== size) return hashAndCut('blockmap_replaced');
  const [hashed, fits] = await Promise.all([hash(), fitsBlockmap(path, stated)]);
  if (fits) return { file: hashed, blockmap: undefined };
  if (!isInside) return hashAndCut('blockmap_replaced');
  repairs.push({ filename, kind: 'blockmap_ignored' });
  const { blockMapSize: _, ...facts } = hashed.facts;
  return { file: { ...hashed, facts }, blockmap: undefined };
}

async function publishedMap(filename: string, blockmap: Blockmap): Promise<HashedCompanion> {
  return madeFile(BLOCKMAP, `${filename}.blockmap`, await packBlockmap(blockmap));
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
  return madeFile(ZSYNC, `${filename}.zsync`, bytes);
}

function madeFile(kind: CompanionKind, filename: string, bytes: Uint8Array): HashedCompanion {
  return {
    kind,
    filename,
    size: bytes.length,
    content: bytes,
    facts: {},
    sha256: createHash('sha256').update(bytes).digest('hex'),
    sha512: createHash('sha512').update(bytes).digest('hex'),
  };
}
