import type { CompanionKind } from '../domain/companion.ts';
import type { Arch, Format, Platform } from '../domain/platform.ts';
import type { DigestAlgorithm } from '../domain/release.ts';
import type { ArtifactSignature } from '../domain/signature.ts';

/** What a build tool left on disk, as far as names, sidecars and magic numbers tell. */

/** A digest or size that a sidecar (`latest.yml`, `RELEASES`, …) states: publishing checks it. */
export interface StatedDigest {
  readonly algorithm: DigestAlgorithm;
  readonly hex: string;
  /** The sidecar's path, for the message when it is wrong. */
  readonly statedIn: string;
}

export interface BuiltFile {
  /** Absolute. */
  readonly path: string;
  /** The name it is published under: unique within the release. */
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  readonly stated: readonly StatedDigest[];
}

export interface BuiltCompanion extends BuiltFile {
  readonly kind: CompanionKind;
  /** Of a package. */
  readonly arch?: Arch;
}

export interface BuiltArtifact extends BuiltFile {
  readonly platform: Platform;
  readonly arch: Arch;
  readonly format: Format;
  /** Whether its tool gives it the same name in every version, so that it may be left over from another. */
  readonly hasUnversionedName: boolean;
  readonly minimumOsVersion: string | null;
  readonly signatures: readonly ArtifactSignature[];
  readonly companions: readonly BuiltCompanion[];
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

export interface BuildOutput {
  readonly artifacts: readonly BuiltArtifact[];
  /** Listed for the person who publishes, so that nothing is left out unseen. */
  readonly skipped: readonly SkippedFile[];
}
