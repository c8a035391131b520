import type { ExplanationJson } from '../../answers/explain/explanation-schema.ts';

/**
 * What the console's server answers to the console in the browser, as JSON. Both come from one build, so this is no
 * published interface.
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
  /** When the store was last read. */
  readonly readAt: string;
  /**
   * Why the store cannot be read at present, so that the answer has the last known state; null when
   * it can.
   */
  readonly problem: string | null;
  /** By the store's clock. */
  readonly now: string;
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
  /** What the client gets, as a sentence. */
  readonly headline: string;
  /** For each release of the explanation, what each of its rules compared; empty for a rule that was not checked. */
  readonly compared: readonly (readonly string[])[];
  /** What else is to know, and what would change the answer. */
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
  /** Why the revision cannot be shown; the other fields are then empty. */
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

/** The body of `POST /console/api/markdown`. */
export interface MarkdownRequest {
  readonly markdown: string;
}

/** Its answer: a preview of notes. */
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
