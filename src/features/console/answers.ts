import type { ExplanationJson } from '../../answers/explain/explanation-schema.ts';

/**
 * The answers of the console's server to the console in the browser, as JSON. Both come from one build, so this is no
 * published interface. The requests that change something are in `changes/change-request.ts`.
 *
 * Times are ISO 8601 in UTC. Shares are in 1/100 %, from 0 to 10,000.
 */

/** `GET /console/api/start`: what every screen needs. */
export interface Start {
  /** `local`: opened by `slipway console`. `service`: part of the service, which shows it to accounts. */
  readonly mode: 'local' | 'service';
  /** False when changes are refused. */
  readonly mayChange: boolean;
  /** `./data`, `s3://releases`; null in the service, which does not disclose it. */
  readonly store: string | null;
  /** The name that the history shows for changes; null when changes are refused. */
  readonly actor: string | null;
  readonly version: string;
  readonly applications: readonly string[];
  readonly defaultApplication: string;
  readonly now: string;
}

/** The state from which an answer about releases was made. */
export interface Seen {
  /** The catalog revision. A change names it: see {@link ChangeRequest}. */
  readonly revision: number;
  readonly revisionAt: string;
  readonly revisionBy: string;
  /** The time of the last read of the store. */
  readonly readAt: string;
  /** The reason why the store cannot be read at present and the answer has the last known state; null when it can. */
  readonly problem: string | null;
  /** By the store's clock. */
  readonly now: string;
}

/** `GET /console/api/apps/{app}/overview`, with an entity tag. */
export interface Overview extends Seen {
  readonly application: string;
  /** Null: none is set. */
  readonly displayName: string | null;
  /** In the order of display. */
  readonly channels: readonly OverviewChannel[];
  /** Newest version first; drafts are among them. */
  readonly releases: readonly OverviewRelease[];
  /** The things that an operator should look at, the most urgent first. */
  readonly attention: readonly Attention[];
}

export interface OverviewChannel {
  readonly name: string;
  /** The channel whose offers its clients also see; null: none. */
  readonly inherits: string | null;
  /** The newest release that every client gets; null: none. */
  readonly newest: string | null;
  /** The most releases that it offers; null: all. */
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
  /** True when some client or visitor is offered it now, and no newer release in its place. */
  readonly isOfferedNow: boolean;
  readonly cells: readonly ReleaseOnChannel[];
}

/** A release on one channel that lists it or holds it back. */
export interface ReleaseOnChannel {
  readonly channel: string;
  /** `draft`: the channel holds it back. */
  readonly status: 'active' | 'paused' | 'yanked' | 'draft';
  readonly reason: string | null;
  /**
   * The share of installations that are offered the release. For a paused release, the share that was offered it; 0 for
   * a draft.
   */
  readonly share: number;
  readonly isFrozen: boolean;
  /** The time when the rollout reaches every installation; null when it has, or never will. */
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
  readonly points: readonly { readonly at: string; readonly share: number }[];
  /**
   * The time when the plan was last stopped or started again; null: it never was. The points before have the times of
   * the plan without the interruptions.
   */
  readonly interruptedAt: string | null;
  readonly counts: RolloutCounts | null;
}

/** Absolute numbers of the last days, from the counts of the services; null in `RolloutDetail` when there are none. */
export interface RolloutCounts {
  readonly days: number;
  /** Checks of the clients of this channel, and how many of these checks come from clients that run this version. */
  readonly checks: number;
  readonly checksOnVersion: number;
  /** The same two counts, of yesterday and today only. */
  readonly recentChecks: number;
  readonly recentChecksOnVersion: number;
  readonly offers: number;
  readonly links: number;
  readonly countedUntil: string | null;
}

/** `GET /console/api/apps/{app}/adoption?days=42&channel=stable` */
export interface Adoption {
  readonly application: string;
  readonly days: readonly string[];
  readonly channels: readonly string[];
  readonly totals: { readonly checks: number; readonly offers: number; readonly links: number };
  readonly totalsByDay: readonly {
    readonly checks: number;
    readonly offers: number;
    readonly links: number;
  }[];
  /** The share of each version in the checks of yesterday and today, the largest first; empty when there are none. */
  readonly now: readonly { readonly version: string; readonly share: number }[];
  /** The most used first; the rest is summed as `other`. `unstated`: the client states no version. */
  readonly versions: readonly AdoptedVersion[];
  readonly platforms: readonly {
    readonly name: string;
    readonly checks: number;
    readonly share: number | null;
  }[];
  readonly countedSince: string | null;
  readonly countedUntil: string | null;
  /** Sentences about counts that could not be read. */
  readonly problems: readonly string[];
}

export interface AdoptedVersion {
  readonly version: string;
  readonly checks: number;
  readonly offers: number;
  readonly links: number;
  /** From 0 to 1, of all checks; null when there are none. */
  readonly share: number | null;
  /** Checks by day, in the order of `days`. */
  readonly checksByDay: readonly number[];
}

/** `GET /console/api/apps/{app}/explain?version&platform&arch&channel&format&os_version&id&manual&allow_downgrade&tier&at` */
export interface Explained {
  readonly explanation: ExplanationJson;
  /** A sentence that says which release the client gets. */
  readonly headline: string;
  /** For each release of the explanation, what each of its rules compared; empty for a rule that was not checked. */
  readonly compared: readonly (readonly string[])[];
  /** Sentences about further facts, and about changes that would give another answer. */
  readonly remedies: readonly string[];
}

/** `GET /console/api/apps/{app}/history?before=120` */
export interface History {
  readonly application: string;
  /** Newest first; 50 at most. */
  readonly entries: readonly HistoryEntry[];
  /** Give it as `before` for the next page; null: these are the oldest. */
  readonly next: number | null;
}

export interface HistoryEntry {
  readonly revision: number;
  /** The reason why the revision cannot be shown, with the other fields empty; null when it can. */
  readonly problem: string | null;
  readonly at: string;
  readonly by: string;
  readonly kind: string;
  readonly version: string | null;
  readonly channels: readonly string[];
  readonly targets: readonly string[];
  readonly summary: string | null;
  readonly reason: string | null;
}

/** `GET /console/api/apps/{app}/history/{revision}` */
export interface Revision extends HistoryEntry {
  readonly differences: readonly DifferenceRow[];
  readonly clients: readonly ClientRow[];
}

/** One line of a difference. */
export interface DifferenceRow {
  readonly sign: '+' | '-' | '~';
  readonly channel: string;
  readonly what: string;
  readonly detail: string;
}

/** Clients that are offered another release than before. */
export interface ClientRow {
  readonly channel: string;
  /** `linux-x64 appimage, linux-x64 deb`, `all targets` */
  readonly target: string;
  /** `1.4.0 to 1.2.0` */
  readonly installed: string;
  readonly before: string;
  readonly after: string;
}

/** The answer of `…/preview`. Nothing was changed. */
export interface Preview {
  /** The command that makes the same change. */
  readonly command: string;
  /** Whole sentences about what the change means; the most important first. */
  readonly consequences: readonly string[];
  readonly differences: readonly DifferenceRow[];
  readonly clients: readonly ClientRow[];
  /** Only for a rollout: how a fleet would update. */
  readonly simulation: SimulatedRollout | null;
  /** False when the catalog is already in that state. */
  readonly changes: boolean;
}

/** The updates of a fleet while the plans run, by the same decision as in the service. */
export interface SimulatedRollout {
  /** Says where the fleet is from: `The fleet is made up: …` */
  readonly fleet: string;
  readonly installations: number;
  readonly times: readonly string[];
  /** Newest first: how many installations run each version at each time. */
  readonly versions: readonly { readonly version: string; readonly counts: readonly number[] }[];
  /** Sentences about installations that no update reaches. */
  readonly stranded: readonly string[];
}

/** The answer of `…/change`. */
export interface Changed {
  readonly changed: boolean;
  readonly revision: number;
  /** Sentences about what was done, and when clients see it. */
  readonly sentences: readonly string[];
}

/** `POST /console/api/doctor`; only in the local console. It may take half a minute. */
export interface Doctor {
  readonly store: string;
  readonly checks: readonly DoctorCheck[];
}

export interface DoctorCheck {
  readonly name: string;
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly sentence: string;
  readonly remedy: string | null;
}

/** `POST /console/api/markdown`: a preview of notes. */
export interface MarkdownPreview {
  readonly html: string;
}

/** The answer of every failed request (RFC 9457). */
export interface Problem {
  readonly status: number;
  /** `state_changed`, `store_unavailable`, `not_signed_in`, … */
  readonly code: string;
  readonly detail: string;
  readonly issues?: readonly { readonly pointer: string; readonly detail: string }[];
}
