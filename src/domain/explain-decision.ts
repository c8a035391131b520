import type { ChannelView } from './channel.ts';
import {
  type Decision,
  decideUpdate,
  hasEarlyAccess,
  isNewer,
  mayGoBack,
  type Outcome,
  reachedBy,
} from './decide-update.ts';
import { type ExplainedRule, explainRules, type RuleFacts } from './explain-rules.ts';
import { OFFER_STATUSES, type Offer } from './offer.ts';
import type { UpdateQuery } from './update-query.ts';
import { versionText } from './version.ts';

/**
 * Explains a decision: the releases that it considered, and the values that each rule compared.
 *
 * The facts are computed from the decision afterwards, with the predicates that made it. `decideUpdate` answers
 * millions of clients and therefore collects none of these facts.
 */

export interface ExplainedRelease {
  readonly version: string;
  readonly offer: Offer;
  readonly outcome: Outcome;
  readonly rules: readonly ExplainedRule[];
}

/** The states that the client's version can have on a channel. */
export const INSTALLED_STATES = [...OFFER_STATUSES, 'retired', 'not_listed', 'not_stated'] as const;
type InstalledState = (typeof INSTALLED_STATES)[number];

export interface ExplainedDecision {
  readonly decision: Decision;
  /** The state of the version that the client runs; null when the channel is closed to the client. */
  readonly installed: InstalledState | null;
  /** True when the client may get a version older than its own. */
  readonly goesBack: boolean;
  /** True when the client gets releases before their rollouts reach the installation. */
  readonly isEarly: boolean;
  /** The newest release that the channel shows, whatever its status is; null for none. */
  readonly newest: string | null;
  /** The releases that were considered, newest first. An offered release is always here: it is the last one. */
  readonly releases: readonly ExplainedRelease[];
  /** The number of considered releases that `releases` leaves out. */
  readonly omitted: number;
}

/** Bounds the explanation: thousands of releases may be newer than the client's version. */
const RELEASES_MAX = 20;

/**
 * Makes the decision of {@link decideUpdate}, and gives its reasons.
 *
 * @param isShown says whether the explanation may name a release. The decision does not depend on this function.
 */
export function explainDecision(
  query: UpdateQuery,
  channel: ChannelView,
  now: number,
  isShown: (offer: Offer) => boolean = () => true,
): ExplainedDecision {
  const decision = decideUpdate(query, channel, now);
  const goesBack = mayGoBack(query, channel);
  const considered = consideredOffers(query, channel, decision, goesBack).filter(isShown);
  const shown = considered.filter(
    (_, index) => index < RELEASES_MAX || index === considered.length - 1,
  );
  // Only an offered release is shown beyond the limit.
  if (decision.reason !== 'offer') shown.splice(RELEASES_MAX);
  const outcomes = new Map(decision.path.map(({ version, outcome }) => [version, outcome]));
  const machine = channel.offersFor(query.platform, query.arch);
  const rollouts = { isReached: reachedBy(query, channel, now), now };
  const newest = channel.offers.find(isShown);
  return {
    decision,
    installed: installedState(query, channel, isShown),
    goesBack,
    isEarly: hasEarlyAccess(query, channel),
    newest: newest === undefined ? null : versionText(newest.version),
    releases: shown.map((offer) => {
      const rules = explainRules(offer, { query, channel, machine, isShown, ...rollouts });
      const version = versionText(offer.version);
      return { version, offer, outcome: outcomes.get(version) ?? outcomeOf(rules), rules };
    }),
    omitted: considered.length - shown.length,
  };
}

/**
 * The offers from the newest to the offered one. When the client is offered nothing, these are all offers that are
 * newer than its version, or all offers of the channel when the client may go back to an older version.
 */
function consideredOffers(
  query: UpdateQuery,
  { offers }: ChannelView,
  decision: Decision,
  goesBack: boolean,
): readonly Offer[] {
  if (decision.reason === 'offer') return offers.slice(0, offers.indexOf(decision.offer) + 1);
  if (goesBack) return offers;
  const end = offers.findIndex((offer) => !isNewer(offer, query));
  return end < 0 ? offers : offers.slice(0, end);
}

function installedState(
  { currentVersion }: UpdateQuery,
  channel: ChannelView,
  isShown: (offer: Offer) => boolean,
): InstalledState | null {
  if (!channel.isOpen) return null;
  if (currentVersion === null) return 'not_stated';
  const version = versionText(currentVersion);
  const offer = channel.offerOf(version);
  if (offer !== undefined) return isShown(offer) ? offer.status : 'not_listed';
  return channel.isRetired(version) ? 'retired' : 'not_listed';
}

/** The outcome of a release that the decision's path does not contain. */
function outcomeOf(rules: readonly ExplainedRule[]): Outcome {
  const failed = rules.find(({ result }) => result === 'failed');
  return failed === undefined ? 'offer' : OUTCOME_OF[failed.rule];
}

/** The outcome of a release, by the first rule that refuses it. */
const OUTCOME_OF: Readonly<Record<RuleFacts['rule'], Outcome>> = {
  platform: 'unsupported_platform',
  native_build: 'no_native_build',
  format: 'unsupported_format',
  os_version: 'unsupported_os_version',
  requires: 'must_step_through',
  status: 'paused',
  rollout: 'held_by_rollout',
};
