import type { ExplanationJson } from '../../answers/explain/explanation-schema.ts';
import type { DownloadOutcomes } from '../../usage/download-shares.ts';

/**
 * The answers that the console's server sends to the console in the browser, as JSON. Server and console come from one
 * build, so these types are no published interface. The types of the requests for changes are in
 * `changes/change-request.ts`.
 *
 * Times are ISO 8601 in UTC. Shares are in 1/100 %, from 0 to 10,000.
 */

/** `GET /console/api/start`: the data that every screen needs. */
export interface Start {
  /** `local`: `slipway console` opened it. `service`: it is part of the service, which shows it to accounts. */
  readonly mode: 'local' | 'service';
  /** False when the server refuses changes. */
  readonly mayChange: boolean;
  /**
   * The name of the store, such as `./data` or `s3://releases`; null in the service, which does not disclose its store.
   */
  readonly store: string | null;
  /** The name that the history shows for changes; null when the server refuses changes. */
  readonly actor: string | null;
  readonly version: string;
  readonly applications: readonly string[];
  readonly defaultApplication: string;
  readonly now: string;
}

/** The state of the catalog from which the server made an answer about releases. */
export interface Seen {
  /** The catalog revision. A request for a change names this revision: see {@link ChangeRequest}. */
  readonly revision: number;
  readonly revisionAt: string;
  readonly revisionBy: string;
  /** The time of the last read of the store. */
  readonly readAt: string;
  /**
   * The reason why the server cannot read the store at present, so that the answer has the last known state; null when
   * the server can read it.
   */
  readonly problem: string | null;
  /** The time when the answer was made, by the store's clock. */
  readonly now: string;
}

/** `GET /console/api/apps/{app}/overview`, with an entity tag. */
export interface Overview extends Seen {
  readonly application: string;
  /** Null when no name is set. */
  readonly displayName: string | null;
  /** In the order of display. */
  readonly channels: readonly OverviewChannel[];
  /** Releases and drafts, newest version first. */
  readonly releases: readonly OverviewRelease[];
  /** The things that an operator should look at, the most urgent first. */
  readonly attention: readonly Attention[];
}

export interface OverviewChannel {
  readonly name: string;
  /** The channel whose offers the clients of this channel also see; null for none. */
  readonly inherits: string | null;
  /** The newest release that every client gets; null for none. */
  readonly newest: string | null;
  /** The maximum number of releases that the channel offers; null for no limit. */
  readonly keep: number | null;
  /** The targets that a new release must have. */
  readonly expect: readonly string[];
}

export interface OverviewRelease {
  readonly version: string;
  readonly releasedAt: string;
  /** Targets such as `windows-x64`, sorted. */
  readonly targets: readonly string[];
  readonly mandatoryFor: string | null;
  readonly requires: string | null;
  /**
   * True when some client or visitor is offered this release now. False when, for example, all of them are offered a
   * newer release.
   */
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
   * The share of installations that the service offers the release to. For a paused release, the share at the pause; 0
   * for a draft.
   */
  readonly share: number;
  readonly isFrozen: boolean;
  /**
   * The time when the rollout will reach every installation; null when it has reached every installation, or never
   * will.
   */
  readonly completeAt: string | null;
  /** Null while no newer release is offered in its place. */
  readonly replacement: Replacement | null;
  /** The expected targets that a draft still lacks. */
  readonly missing: readonly string[];
}

/** A newer release that clients are offered in place of a release. */
export interface Replacement {
  readonly version: string;
  /** False while some clients are still offered the older release, for example because it is a stepping stone. */
  readonly isComplete: boolean;
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
  /** See {@link OverviewRelease}. */
  readonly isOfferedNow: boolean;
  readonly cells: readonly ReleaseOnChannel[];
  /** The rollout on each channel that offers the release. */
  readonly rollouts: readonly RolloutDetail[];
  /** For each channel, the versions that a rollback may go back to, newest first. */
  readonly rollbackTargets: readonly {
    readonly channel: string;
    readonly versions: readonly string[];
  }[];
}

export interface NotesText {
  /** BCP 47; `und` when the publisher states no language. */
  readonly locale: string;
  readonly markdown: string;
  /** HTML that is safe to put into the page. */
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
  /** The plan as the publisher wrote it; null when the service offers the release to every client from the start. */
  readonly plan: string | null;
  readonly freezeWindows: readonly string[];
  readonly share: number;
  readonly isFrozen: boolean;
  readonly isLinear: boolean;
  /**
   * The points of the ramp, from its start. Each share stays the same from `at` until the next point, or grows evenly
   * to the next point.
   */
  readonly points: readonly { readonly at: string; readonly share: number }[];
  /**
   * The shares of the plan, and the times when the rollout reaches them. Null: the plan has stopped before that share.
   * Empty without a plan.
   */
  readonly stages: readonly { readonly share: number; readonly at: string | null }[];
  /**
   * The time when an operator last stopped the plan or started it again; null if no operator has. The points
   * before this time show the plan without interruptions.
   */
  readonly interruptedAt: string | null;
  readonly counts: RolloutCounts | null;
}

/**
 * Absolute numbers of the last days, from the counts of the services; null in `RolloutDetail` when there are no counts.
 */
export interface RolloutCounts {
  readonly days: number;
  /**
   * The number of checks by clients of this channel, and the number of those checks that come from clients with this
   * version.
   */
  readonly checks: number;
  readonly checksOnVersion: number;
  /** The same two counts, but only of yesterday and today. */
  readonly recentChecks: number;
  readonly recentChecksOnVersion: number;
  readonly offers: number;
  readonly links: number;
  /** Null: the service saw no download. */
  readonly downloads: DownloadOutcomes | null;
  /** The platforms on which most clients downloaded whole files, although there is a block map or a delta. */
  readonly mostlyWhole: readonly string[];
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
  /**
   * The share of each version in the checks of yesterday and today, largest share first; empty when there are no
   * checks.
   */
  readonly now: readonly { readonly version: string; readonly share: number }[];
  /**
   * The most used versions first. The server adds up all further versions as `other`. `unstated`: clients that state no
   * version.
   */
  readonly versions: readonly AdoptedVersion[];
  readonly platforms: readonly {
    readonly name: string;
    readonly checks: number;
    readonly share: number | null;
  }[];
  readonly countedSince: string | null;
  readonly countedUntil: string | null;
  /** Sentences about counts that the server could not read. */
  readonly problems: readonly string[];
}

export interface AdoptedVersion {
  readonly version: string;
  readonly checks: number;
  readonly offers: number;
  readonly links: number;
  /** The share of all checks, from 0 to 1; null when there are no checks. */
  readonly share: number | null;
  /** Checks by day, in the order of `days`. */
  readonly checksByDay: readonly number[];
}

/** `GET /console/api/apps/{app}/explain?version&platform&arch&channel&format&os_version&id&manual&allow_downgrade&tier&at` */
export interface Explained {
  readonly explanation: ExplanationJson;
  /** A sentence that says which release the client gets. */
  readonly headline: string;
  /**
   * For each release of the explanation and each of its rules, a sentence about the values that the rule compared;
   * empty for a rule that was not checked.
   */
  readonly compared: readonly (readonly string[])[];
  /** True when the answer is about an earlier state. A command changes the present state. */
  readonly isPast: boolean;
  /** Sentences about further facts. */
  readonly remarks: readonly string[];
  readonly remedies: readonly Remedies[];
}

/** The changes that would lead to another answer. */
interface Remedies {
  /** The release that the client would be offered; null when the changes are about no release in particular. */
  readonly version: string | null;
  /** The number of rules that hold the release back. The client gets it only when each of them admits the client. */
  readonly failedRules: number;
  readonly remedies: readonly {
    /** The start of a sentence, without its full stop. */
    readonly text: string;
    /** The command that makes the change; null when no command does. */
    readonly command: string | null;
  }[];
}

/** `GET /console/api/apps/{app}/history?before=120` */
export interface History {
  readonly application: string;
  /** Newest first; 50 at most. */
  readonly entries: readonly HistoryEntry[];
  /** The value of `before` for the next page; null when these entries are the oldest. */
  readonly next: number | null;
}

export interface HistoryEntry {
  readonly revision: number;
  /**
   * The reason why the server cannot show the revision, whose other fields are then empty; null when the server can
   * show it.
   */
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

/** A kind of client that is offered another release than before the change. */
export interface ClientRow {
  readonly channel: string;
  /** Targets, such as `linux-x64 appimage, linux-x64 deb` or `all targets`. */
  readonly target: string;
  /** The installed versions, such as `1.4.0 to 1.2.0`. */
  readonly installed: string;
  readonly before: string;
  readonly after: string;
}

/** The answer of `…/preview`, which changes nothing. */
export interface Preview {
  /** The command that makes the same change. */
  readonly command: string;
  /** Whole sentences about the effects of the change, the most important first. */
  readonly consequences: readonly string[];
  readonly differences: readonly DifferenceRow[];
  readonly clients: readonly ClientRow[];
  /** Only for a rollout: the simulated updates of a fleet. */
  readonly simulation: SimulatedRollout | null;
  /** False when the catalog already has the wanted state. */
  readonly changes: boolean;
}

/** The updates of a fleet while the plans run. The simulation decides as the service does. */
export interface SimulatedRollout {
  /** Tells where the fleet comes from: `The fleet is made up: …` */
  readonly fleet: string;
  readonly installations: number;
  readonly times: readonly string[];
  /** For each version, the number of installations that run it at each time; newest version first. */
  readonly versions: readonly { readonly version: string; readonly counts: readonly number[] }[];
  /** Sentences about installations that get no update. */
  readonly stranded: readonly string[];
}

/** The answer of `…/change`. */
export interface Changed {
  readonly changed: boolean;
  readonly revision: number;
  /** Sentences about the change that was made, and about the time when clients see it. */
  readonly sentences: readonly string[];
}

/** `POST /console/api/doctor`, only in the local console. The answer may take half a minute. */
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
  /** An error code, such as `state_changed`, `store_unavailable` or `not_signed_in`. */
  readonly code: string;
  readonly detail: string;
  readonly issues?: readonly { readonly pointer: string; readonly detail: string }[];
}
