import type { Seen } from './answers.ts';

/** What the console's screens about releases and rollouts get. See `answers.ts`. */

/** `GET /console/api/apps/{app}/overview`, with an entity tag. */
export interface Overview extends Seen {
  readonly application: string;
  /** Null: none is set. */
  readonly displayName: string | null;
  /** In the order of display. */
  readonly channels: readonly OverviewChannel[];
  /** Newest version first; drafts are among them. */
  readonly releases: readonly OverviewRelease[];
  /** What an operator should look at, the most urgent first. */
  readonly attention: readonly Attention[];
}

export interface OverviewChannel {
  readonly name: string;
  /** The channel whose offers its clients also see; null: none. */
  readonly inherits: string | null;
  /** The newest release that every client gets; null: none. */
  readonly newest: string | null;
  /** How many releases it offers at most; null: all. */
  readonly keep: number | null;
  /** The targets that a new release must have. */
  readonly expect: readonly string[];
}

export interface OverviewRelease {
  readonly version: string;
  readonly releasedAt: string;
  /** `windows-x64`, sorted. */
  readonly targets: readonly string[];
  readonly mandatoryFor: string | null;
  readonly requires: string | null;
  /** Whether some client or visitor is offered it now, and no newer release in its place. */
  readonly isOfferedNow: boolean;
  readonly cells: readonly ReleaseOnChannel[];
}

/** A release on one channel that lists it or holds it back. */
export interface ReleaseOnChannel {
  readonly channel: string;
  /** `draft`: the channel holds it back. */
  readonly status: 'active' | 'paused' | 'yanked' | 'draft';
  readonly reason: string | null;
  /** How many installations are offered it: 10,000 is all of them. 0 for a draft. While it is paused: how many were. */
  readonly share: number;
  readonly isFrozen: boolean;
  /** When the rollout reaches every installation; null when it has, or never will. */
  readonly completeAt: string | null;
  /** The expected targets that a draft still lacks. */
  readonly missing: readonly string[];
}

export interface Attention {
  readonly kind:
    | 'missing'
    | 'held'
    | 'paused'
    | 'frozen'
    | 'rolling_out'
    | 'yanked_newest'
    | 'unserved'
    | 'store';
  readonly severity: 'info' | 'warning' | 'critical';
  /** A whole sentence. */
  readonly sentence: string;
  readonly version: string | null;
  readonly channel: string | null;
}

/** `GET /console/api/apps/{app}/releases/{version}` */
export interface ReleaseDetail extends Seen {
  readonly application: string;
  readonly version: string;
  readonly name: string | null;
  readonly releasedAt: string;
  readonly manifest: number;
  readonly requires: string | null;
  readonly mandatoryFor: string | null;
  readonly endsNative: readonly string[];
  readonly provenance: { readonly commit: string | null; readonly buildUrl: string | null };
  readonly notes: readonly NotesText[];
  readonly artifacts: readonly ArtifactDetail[];
  /** Documents that the publisher signed, such as an appcast. */
  readonly signedDocuments: readonly string[];
  /** As in {@link OverviewRelease}. */
  readonly isOfferedNow: boolean;
  readonly cells: readonly ReleaseOnChannel[];
  /** The rollout on each channel that offers it. */
  readonly rollouts: readonly RolloutDetail[];
  /** Versions of each channel that a rollback may go back to; newest first. */
  readonly rollbackTargets: readonly {
    readonly channel: string;
    readonly versions: readonly string[];
  }[];
}

export interface NotesText {
  /** BCP 47; `und`: not stated. */
  readonly locale: string;
  readonly markdown: string;
  /** Safe to put into the page. */
  readonly html: string;
}

export interface ArtifactDetail {
  readonly platform: string;
  readonly arch: string;
  readonly format: string;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  readonly sha512: string;
  readonly minimumOsVersion: string | null;
  readonly signatures: readonly {
    readonly scheme: string;
    readonly keyId: string | null;
    readonly value: string;
  }[];
  readonly companions: readonly {
    readonly kind: string;
    readonly filename: string;
    readonly size: number;
  }[];
}

export interface RolloutDetail {
  readonly channel: string;
  readonly status: 'active' | 'paused' | 'yanked';
  /** As the publisher wrote it; null: offered to every client from the start. */
  readonly plan: string | null;
  readonly freezeWindows: readonly string[];
  readonly share: number;
  readonly isFrozen: boolean;
  readonly isLinear: boolean;
  /** The ramp from its start: each share holds from `at` on, or grows evenly to the next point. */
  readonly points: readonly RampPoint[];
  /**
   * When the plan was last stopped or started again; null: it never was. The points before have the times of the plan
   * without the interruptions.
   */
  readonly interruptedAt: string | null;
  readonly counts: RolloutCounts | null;
}

export interface RampPoint {
  readonly at: string;
  readonly share: number;
}

/** Absolute numbers of the last days, from the counts of the services; null in `RolloutDetail` when there are none. */
export interface RolloutCounts {
  readonly days: number;
  /** Checks of the clients of this channel, and those of them by clients that run this version. */
  readonly checks: number;
  readonly checksOnVersion: number;
  /** The same two counts, of yesterday and today only. */
  readonly recentChecks: number;
  readonly recentChecksOnVersion: number;
  readonly offers: number;
  readonly links: number;
  readonly countedUntil: string | null;
}
