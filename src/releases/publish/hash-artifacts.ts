import { createHash } from 'node:crypto';
import type { BuiltArtifact, BuiltFile } from '../../builds/build-output.ts';
import { coverageOf } from '../../domain/blockmap.ts';
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
import {
  type ByteReader,
  createBlockCheck,
  createBlockCutter,
  packBlockmap,
} from './make-blockmap.ts';
import { hasZsync, makeZsync } from './make-zsync.ts';

/** The first step of publishing: hash the files of a build, and make or mend the files beside them. */

export interface PublishProgress {
  readonly phase: 'hash' | 'delta' | 'upload';
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
   * `signed_later`: the file is the stated build with a signature. `rehashed`: the file differs from the statement of a
   * feed, and the publisher accepts that. `blockmap_made`: the file had no block map. `blockmap_replaced`: its map was of other bytes. `blockmap_ignored`: the
   * map at its end is of other bytes, and publishing changes no file.
   */
  readonly kind:
    | 'signed_later'
    | 'rehashed'
    | 'blockmap_made'
    | 'blockmap_replaced'
    | 'blockmap_ignored';
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
    const own = await hashMapped(
      built,
      isSigned ? [...compared, SIGNED_HASH] : compared,
      onProgress,
      built.needsBlockmap,
    );
    const repairs = [
      ...(built.unsignedBuild ? [repairOf(built, 'signed_later')] : []),
      ...own.repairs,
    ];
    const companions: HashedCompanion[] = [];
    for (const companion of built.companions) {
      const { kind, arch, base, signatures } = companion;
      if (kind === BLOCKMAP && own.blockmap !== undefined) continue;
      const hashes = kind === DELTA ? compared : [];
      const hashedFile = await hashMapped(companion, hashes, onProgress, false);
      repairs.push(...hashedFile.repairs);
      companions.push({
        ...hashedFile.file,
        kind,
        ...(arch === undefined ? {} : { arch }),
        ...(base === undefined ? {} : { base }),
        ...(signatures === undefined ? {} : { signatures }),
      });
    }
    if (own.blockmap !== undefined) companions.push(own.blockmap);
    const zsync = await makeMissingZsync(built, own.file);
    if (zsync !== undefined) companions.push(zsync);
    hashed.push({ built, main: own.file, companions, repairs });
  }
  return hashed;
}

interface MappedFile {
  readonly file: HashedFile;
  /** The block map that has to be published beside the file; undefined when the map of the build tool fits. */
  readonly blockmap: HashedCompanion | undefined;
  readonly repairs: readonly Repair[];
}

/**
 * Hashes a file, and compares it with its block map.
 *
 * @param needsBlockmap true makes a missing map
 */
async function hashMapped(
  built: BuiltFile,
  further: readonly FurtherAlgorithm[],
  report: (progress: PublishProgress) => void,
  needsBlockmap: boolean,
): Promise<MappedFile> {
  const { path, filename, size, blockmap: stated, facts = {} } = built;
  const hash = async (reader?: ByteReader): Promise<MappedFile> => {
    const onProgress = (bytesDone: number): void =>
      report({ phase: 'hash', filename, bytesDone, bytesTotal: size });
    const { isRehashed, ...digests } = await hashFile(built, onProgress, further, reader);
    const file = { content: path, facts, filename, size, ...digests };
    const repairs = isRehashed ? [repairOf(built, 'rehashed')] : [];
    return { file, blockmap: undefined, repairs };
  };
  const hashAndCut = async (kind: Repair['kind']): Promise<MappedFile> => {
    const cutter = await createBlockCutter();
    const { file, repairs } = await hash(cutter);
    const map = await packBlockmap(cutter.finish());
    const blockmap = madeFile(BLOCKMAP, `${filename}.blockmap`, map);
    return { file, blockmap, repairs: [...repairs, repairOf(built, kind)] };
  };
  if (stated === undefined) return needsBlockmap ? hashAndCut('blockmap_made') : hash();
  const isInside = facts.blockMapSize !== undefined;
  if (!isInside && coverageOf(stated) !== size) return hashAndCut('blockmap_replaced');
  const check = await createBlockCheck(stated);
  const hashed = await hash(check);
  if (check.finish()) return hashed;
  if (!isInside) return hashAndCut('blockmap_replaced');
  const { blockMapSize: _, ...others } = facts;
  return {
    file: { ...hashed.file, facts: others },
    blockmap: undefined,
    repairs: [...hashed.repairs, repairOf(built, 'blockmap_ignored')],
  };
}

function repairOf({ filename }: BuiltFile, kind: Repair['kind']): Repair {
  return { filename, kind };
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
