import { createHash } from 'node:crypto';
import type {
  BuiltCompanion,
  BuiltFile,
  ByteReader,
  InsideFacts,
} from '../../builds/build-output.ts';
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
import type { Artifact } from '../../domain/release.ts';
import { MINISIGN, SIGNED_HASH } from '../../domain/signature.ts';
import { type FurtherAlgorithm, hashFile } from './hash-file.ts';
import { createBlockCheck, createBlockCutter, packBlockmap } from './make-blockmap.ts';
import { hasZsync, makeZsync } from './make-zsync.ts';
import type { PreparedArtifact } from './prepare-artifact.ts';

/** The first step of publishing: hash the files of a build, and make or mend the files beside them. */

export interface PublishProgress {
  readonly phase: 'hash' | 'rezip' | 'delta' | 'upload';
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
  readonly built: PreparedArtifact;
  readonly main: HashedFile;
  readonly companions: readonly HashedCompanion[];
  readonly repairs: readonly Repair[];
  /** True when the code signature does not fit the bytes. Then `built` does not state who signed the file. */
  readonly hasBrokenSignature: boolean;
}

export type HashedCompanion = HashedFile & Pick<Companion, 'kind' | 'arch' | 'base' | 'signatures'>;

/** A difference between the build and what is published. */
export interface Repair {
  /** The published name of the file. */
  readonly filename: string;
  /**
   * `signed_later`: the file is the stated build with a signature. `rehashed`: the file differs from the statement of a
   * feed, and the publisher accepts that. `blockmap_made`: the file had no block map. `blockmap_unreadable`: the file beside it is no
   * block map. `blockmap_replaced`: its map did
   * not fit its bytes. `blockmap_ignored`: the map at its end does not fit, and publishing changes no file.
   */
  readonly kind:
    | 'signed_later'
    | 'rehashed'
    | 'blockmap_made'
    | 'blockmap_unreadable'
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
 * @param known the files of the newest manifest, whose block maps are used again
 * @throws AppError `invalid_artifact`
 */
export async function hashArtifacts(
  { onProgress }: HashDeps,
  artifacts: readonly PreparedArtifact[],
  verifies: boolean,
  known: readonly Artifact[],
): Promise<readonly HashedArtifact[]> {
  const hashed: HashedArtifact[] = [];
  for (const built of artifacts) {
    const compared = comparedBy(built);
    const isSigned = verifies && built.signatures.some(({ scheme }) => scheme === MINISIGN);
    const check = built.createSignatureCheck?.();
    const own = await hashMapped(
      built,
      isSigned ? [...compared, SIGNED_HASH] : compared,
      onProgress,
      built.needsBlockmap,
      check,
    );
    const hasBrokenSignature = check?.finish() === false;
    const repairs = [
      ...(built.unsignedBuild ? [repairOf(built, 'signed_later')] : []),
      // Compressed bytes may differ from the stored map, so a second map would be another file without any use.
      ...own.repairs.filter(({ kind }) => !(isMade(kind) && hasStoredMap(known, own.file))),
    ];
    const companions: HashedCompanion[] = [];
    for (const companion of built.companions) {
      if (companion.kind === BLOCKMAP && own.blockmap !== undefined) continue;
      const found = await hashCompanion({ onProgress }, built, companion);
      repairs.push(...found.repairs);
      companions.push(found.companion);
    }
    if (own.blockmap !== undefined && !hasStoredMap(known, own.file)) companions.push(own.blockmap);
    const zsync = await makeMissingZsync(built, own.file);
    if (zsync !== undefined) companions.push(zsync);
    hashed.push({
      built: hasBrokenSignature ? { ...built, signing: withoutSigner(built) } : built,
      main: own.file,
      companions,
      repairs,
      hasBrokenSignature,
    });
  }
  return hashed;
}

interface HashDeps {
  readonly onProgress: (progress: PublishProgress) => void;
}

/** @throws AppError `invalid_artifact` */
export async function hashCompanion(
  { onProgress }: HashDeps,
  artifact: Pick<PreparedArtifact, 'format'>,
  companion: BuiltCompanion,
): Promise<{ readonly companion: HashedCompanion; readonly repairs: readonly Repair[] }> {
  const { kind, arch, base, signatures } = companion;
  const hashes = kind === DELTA ? comparedBy(artifact) : [];
  const { file, repairs } = await hashMapped(companion, hashes, onProgress, false);
  const facts = {
    ...(arch === undefined ? {} : { arch }),
    ...(base === undefined ? {} : { base }),
    ...(signatures === undefined ? {} : { signatures }),
  };
  return { companion: { ...file, kind, ...facts }, repairs };
}

function comparedBy({ format }: Pick<PreparedArtifact, 'format'>): readonly FurtherAlgorithm[] {
  return WITH_SHA1.includes(format) ? ['sha1'] : [];
}

function isMade(kind: Repair['kind']): boolean {
  return kind === 'blockmap_made' || kind === 'blockmap_unreadable' || kind === 'blockmap_replaced';
}

function hasStoredMap(known: readonly Artifact[], { sha256 }: HashedFile): boolean {
  return known.some(
    (each) => each.sha256 === sha256 && each.companions.some(({ kind }) => kind === BLOCKMAP),
  );
}

function withoutSigner({ signing = {} }: PreparedArtifact): InsideFacts['signing'] {
  const { publisher: _, issuer: _issuer, ...others } = signing;
  return others;
}

/** The map of a file whose map was changed after the build was read. */
const NO_BLOCKS: Blockmap = { sizes: [], checksums: [] };

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
 * @param check gets the bytes too
 */
async function hashMapped(
  built: BuiltFile,
  further: readonly FurtherAlgorithm[],
  report: (progress: PublishProgress) => void,
  needsBlockmap: boolean,
  check?: ByteReader,
): Promise<MappedFile> {
  const { path, filename, size, readBlockmap, facts = {} } = built;
  const hash = async (mapped?: ByteReader): Promise<MappedFile> => {
    const readers = { mapped, check };
    const onProgress = (bytesDone: number): void =>
      report({ phase: 'hash', filename, bytesDone, bytesTotal: size });
    const { isRehashed, ...digests } = await hashFile(built, onProgress, further, readers);
    const file = { content: path, facts, filename, size, ...digests };
    const repairs = isRehashed ? [repairOf(built, 'rehashed')] : [];
    return { file, blockmap: undefined, repairs };
  };
  const hashAndCut = async (kind: Repair['kind']): Promise<MappedFile> => {
    const cutter = await createBlockCutter(built.blockCuts);
    const { file, repairs } = await hash(cutter);
    const map = await packBlockmap(cutter.finish());
    const blockmap = madeFile(BLOCKMAP, `${filename}.blockmap`, map);
    // The map of a repacked file is a part of packing it again, not a repair.
    const made = built.blockCuts === undefined ? [repairOf(built, kind)] : [];
    return { file, blockmap, repairs: [...repairs, ...made] };
  };
  if (readBlockmap === undefined) {
    if (!needsBlockmap) return hash();
    return hashAndCut(built.hasUnreadableBlockmap ? 'blockmap_unreadable' : 'blockmap_made');
  }
  const stated = (await readBlockmap()) ?? NO_BLOCKS;
  const isInside = facts.blockMapSize !== undefined;
  if (!isInside && coverageOf(stated) !== size) return hashAndCut('blockmap_replaced');
  const blocks = await createBlockCheck(stated);
  const hashed = await hash(blocks);
  if (coverageOf(stated) > 0 && blocks.finish()) return hashed;
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
  built: PreparedArtifact,
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
