import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import type { FoundRevision } from '../../catalog/reading/find-revision.ts';
import type { StatusChange } from '../../catalog/reading/find-status-change.ts';
import type { ListedDraft } from '../../catalog/reading/list-drafts.ts';
import type { ExplainedDecision, ExplainedRelease } from '../../domain/explain-decision.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';

/** The one shape of an explanation, and the rule that says which readers see which parts of it. */

/**
 * The reader of an explanation. `publisher`: a person who can read the store, such as the operator of a console or the
 * user of a command.
 */
export type Audience = 'publisher' | 'client';

/**
 * True when the reader may see the facts that no client could find out, even with many requests to the service: drafts,
 * releases whose rollout has not begun, plans, the reasons that publishers state, and the names of people with the
 * changes that they made.
 */
export function maySeeDrafts(audience: Audience): boolean {
  return audience === 'publisher';
}

export interface ExplainRequest {
  /** The question of the client. */
  readonly query: UpdateQuery;
  /** The tier of the client's account; null when the client is not signed in. */
  readonly tier: string | null;
  readonly audience: Audience;
  /** Undefined: the newest state, now. */
  readonly reference: RevisionReference | undefined;
}

/** An offer as the catalog revision states it. */
export interface Listing {
  /** The channel that offers the release to the client: its own, or an inherited one. */
  readonly channel: string;
  readonly offer: OfferJson;
}

export interface ListedRelease extends ExplainedRelease {
  readonly listing: Listing;
}

/** A release that every decision leaves out. No rule was applied to it. */
export interface PassedOver extends Listing {
  /** `unverified`: this process could not verify the release's manifest. */
  readonly why: 'yanked' | 'unverified';
}

/** The version that the client runs, and its state on this channel. */
interface InstalledVersion {
  readonly state: ExplainedDecision['installed'];
  /** Undefined when the channel does not list the version. */
  readonly listing: Listing | undefined;
  /** The other channels that list the version and that are open to the client. */
  readonly elsewhere: readonly string[];
}

/** An explained decision. The API, the command and the console all make their answers from it. */
export interface Explanation extends Omit<ExplainedDecision, 'installed' | 'releases'> {
  readonly request: ExplainRequest;
  readonly state: FoundRevision;
  /** The channel's own name, even when the client used an alias. */
  readonly channel: string;
  /** The inherited channels whose offers the client sees as well, the nearest first. */
  readonly inherits: readonly string[];
  readonly installed: InstalledVersion;
  readonly releases: readonly ListedRelease[];
  /** Newest first; only releases that the client could have been offered instead. */
  readonly passedOver: readonly PassedOver[];
  /** The tiers that open the channel, when it is closed to the client. */
  readonly openTo: readonly string[];
  /** The drafts on the channels that the client sees. No client sees drafts. */
  readonly drafts: readonly ListedDraft[];
  /** The changes that paused or yanked the releases above, as far as the search finds them. Empty for a client. */
  readonly statusChanges: readonly StatusChange[];
}
