import type { ArtifactIdentity } from './release.ts';
import type { SignatureScheme } from './signature.ts';
import type { Target } from './target.ts';
import type { Version, VersionRange } from './version.ts';

/** A release as a channel offers it: where its manifest is, its status, and what a decision needs. */

export const OFFER_STATUSES = ['active', 'paused', 'yanked'] as const;
/**
 * `active`: offered. `paused`: not offered for now, nobody is moved off it. `yanked`: withdrawn for
 * good; whoever runs it moves on to the next newer release.
 */
export type OfferStatus = (typeof OFFER_STATUSES)[number];

export interface OfferedArtifact extends ArtifactIdentity {
  readonly minimumOsVersion: string | null;
  readonly signatureSchemes: readonly SignatureScheme[];
}

export interface Offer {
  readonly version: Version;
  readonly status: OfferStatus;
  /** Which manifest of the version, and the digest it must have. */
  readonly manifest: { readonly number: number; readonly digest: string };
  readonly releasedAt: string;
  readonly requires: VersionRange | null;
  readonly mandatoryFor: VersionRange | null;
  /** Machines whose native builds end: from this version on they are offered what else runs there. */
  readonly endsNative: readonly Target[];
  readonly artifacts: readonly OfferedArtifact[];
}
