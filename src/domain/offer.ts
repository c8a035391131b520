import type { ArtifactIdentity } from './release.ts';
import type { Rollout } from './rollout.ts';
import type { SignatureScheme } from './signature.ts';
import type { Target } from './target.ts';
import { compareVersions, type Version, type VersionRange } from './version.ts';

/** A release as a channel offers it: its manifest, its status, and what a decision needs. */

export const OFFER_STATUSES = ['active', 'paused', 'yanked'] as const;
/**
 * `active`: offered. `paused`: not offered until it is resumed; clients that have it keep it. `yanked`: withdrawn
 * permanently; clients that have it move to the next newer release.
 */
export type OfferStatus = (typeof OFFER_STATUSES)[number];

export interface OfferedArtifact extends ArtifactIdentity {
  readonly minimumOsVersion: string | null;
  readonly signatureSchemes: readonly SignatureScheme[];
}

export interface Offer {
  readonly version: Version;
  readonly status: OfferStatus;
  /** The number of the version's manifest, and the digest that the manifest must have. */
  readonly manifest: { readonly number: number; readonly digest: string };
  readonly releasedAt: string;
  readonly requires: VersionRange | null;
  readonly mandatoryFor: VersionRange | null;
  /**
   * Targets whose native builds end. From this version on, machines of these targets get other builds that run on them.
   */
  readonly endsNative: readonly Target[];
  /** True when the release carries documents that its publisher signed; absent: no. */
  readonly hasSignedDocuments?: boolean;
  /** Null: every client is offered the release. */
  readonly rollout: Rollout | null;
  readonly artifacts: readonly OfferedArtifact[];
}

/** The index of the newest offer that is not newer than a version; the number of offers when there is none. */
export function indexUpTo(newestFirst: readonly Offer[], version: Version): number {
  let low = 0;
  let high = newestFirst.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const offer = newestFirst[middle];
    if (offer !== undefined && compareVersions(offer.version, version) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** For sorting. */
export function newestFirst(a: Offer, b: Offer): number {
  return compareVersions(b.version, a.version);
}
