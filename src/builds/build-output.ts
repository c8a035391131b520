import type { Blockmap } from '../domain/blockmap.ts';
import type { CompanionKind, UpdaterFacts } from '../domain/companion.ts';
import type { Arch, Format, Platform } from '../domain/platform.ts';
import type { DigestAlgorithm, UnsignedBuild } from '../domain/release.ts';
import type { ArtifactSignature } from '../domain/signature.ts';
import type { SigningFacts } from '../domain/signing-facts.ts';

/** The output of a build tool on disk, as inferred from names, sidecars and magic numbers. */

/** A digest that a feed (`latest.yml`, `RELEASES`, …) states for a file. Publishing checks the digest. */
export interface StatedDigest {
  readonly algorithm: DigestAlgorithm;
  readonly hex: string;
  /** The path of the feed, for the message when the digest differs. */
  readonly statedIn: string;
  /** Set when the publisher accepts other bytes: publishing then reports the difference, and publishes the file. */
  readonly isAccepted?: true;
  /** Set for a feed with a signature: only a new signature can state other bytes. */
  readonly isSigned?: true;
}

export interface BuiltFile {
  /** Absolute. */
  readonly path: string;
  /** The published name, unique within the release. */
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  readonly stated: readonly StatedDigest[];
  /** Absent: no facts are known. */
  readonly facts?: UpdaterFacts;
  /** Where blocks have to end in a map that publishing makes, ascending, in bytes; absent: nowhere in particular. */
  readonly blockCuts?: readonly number[];
  /**
   * Reads the block map that the build tool wrote for the file, beside the file or at its end. Publishing compares it
   * with the bytes. Absent: there is none. Undefined: the map was changed after the build was read.
   *
   * A parsed map takes much memory, so it is read only when the file is published.
   */
  readonly readBlockmap?: () => Promise<Blockmap | undefined>;
  /** True when the file beside it that should be its block map is none. */
  readonly hasUnreadableBlockmap?: boolean;
}

export interface BuiltCompanion extends BuiltFile {
  readonly kind: CompanionKind;
  /** Set for a web package. */
  readonly arch?: Arch;
  /** Set for a delta: see `Companion.base`. */
  readonly base?: string;
  /** Absent: no signatures. */
  readonly signatures?: readonly ArtifactSignature[];
}

export interface BuiltArtifact extends BuiltFile {
  readonly platform: Platform;
  readonly arch: Arch;
  readonly format: Format;
  /**
   * True when the build tool gives the file the same name in every version. Then the file may be left over from another
   * version.
   */
  readonly hasUnversionedName: boolean;
  /** True when clients look for a block map beside the file. Publishing makes a missing one. */
  readonly needsBlockmap: boolean;
  readonly minimumOsVersion: string | null;
  /**
   * Reads the facts that the file states inside. An import calls it only for a release that it publishes.
   *
   * @throws AppError `invalid_artifact` for an archive with two files of one name; the system's error when the file cannot
   *   be read
   */
  readonly readInside: () => Promise<InsideFacts>;
  /** Set when the file was signed after the build tool stated its size and hash. */
  readonly unsignedBuild?: UnsignedBuild | undefined;
  readonly signatures: readonly ArtifactSignature[];
  readonly companions: readonly BuiltCompanion[];
}

/** The facts inside a package that its name does not state. */
export interface InsideFacts {
  /** The code signature of the file, and what its updater accepts; absent: unknown. */
  readonly signing?: SigningFacts | undefined;
  /** The version that the program or the application states; absent: unknown. */
  readonly versionInside?: string | undefined;
  /** The name of the product that the program or the application states for readers; absent: unknown. */
  readonly productName?: string | undefined;
  /**
   * Why the Authenticode signature cannot be verified, as a part of a sentence. Absent: it is verified, or there is
   * none. With a problem, `signing` does not state who signed the file.
   */
  readonly signatureProblem?: string | undefined;
  /**
   * Makes a check of the code signature. It ends with false when the signature does not fit the bytes. Absent: there is
   * no signature that can be checked.
   */
  readonly createSignatureCheck?: (() => ByteReader<boolean>) | undefined;
}

/** Gets the bytes of a file in order. It must not keep a chunk, because the next chunk overwrites it. */
export interface ByteReader<T = unknown> {
  update(chunk: Uint8Array): void;
  /** Called once after the last byte. */
  finish(): T;
}

/** A document that the build tool signed, such as `latest.yml`. The service stores the small document byte for byte. */
export interface BuiltDocument {
  readonly path: string;
  /** The name that clients ask for. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** A percentage from 0 to 100, which clients apply; null: the document states none. */
  readonly stagingPercentage: number | null;
  /** The rollout interval of an appcast in seconds, which clients apply; absent: the document states none. */
  readonly phasedRolloutInterval?: string | undefined;
  /** The published names of the files that the document lists. */
  readonly lists: readonly string[];
  /** The addresses of other servers in the document, each with the name of its file. */
  readonly elsewhere: readonly { readonly address: string; readonly name: string }[];
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
  /** True when clients miss a fact or a part of the skipped file. Then the command `publish` warns. */
  readonly isLoss?: true;
}

export interface BuildOutput {
  readonly artifacts: readonly BuiltArtifact[];
  /** The publisher sees these files, so the publisher notices every file that Slipway leaves out. */
  readonly skipped: readonly SkippedFile[];
  readonly signed: readonly BuiltDocument[];
  /**
   * The path of a package of electron-builder without an update document beside it; absent: there is no such package.
   */
  readonly withoutFeed?: string | undefined;
  /** The share of the installations that gets the release first, as the build tool's feeds state; null: not stated. */
  readonly staged: StagedShare | null;
  /** The name and the notes that the build tool's feeds state for the release. */
  readonly described: { readonly name: string | null; readonly notes: string | null };
}

export interface StagedShare {
  /** From 0 to 100. */
  readonly percentage: number;
  /** The path of the feed. */
  readonly statedIn: string;
}
