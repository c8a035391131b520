import { channelEntries, type OfferJson } from '../../catalog/documents/revision-document.ts';
import { viewsInSteps } from '../../catalog/live/snapshot.ts';
import { describeRollout } from '../../catalog/reading/describe-rollout.ts';
import {
  type FindRevisionDeps,
  type FoundRevision,
  findRevision,
} from '../../catalog/reading/find-revision.ts';
import { findStatusChanges, type StatusChange } from '../../catalog/reading/find-status-change.ts';
import { type ListedDraft, listDrafts } from '../../catalog/reading/list-drafts.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { AppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { type ChannelView, channelNamed } from '../../domain/channel.ts';
import { type ExplainedDecision, explainDecision } from '../../domain/explain-decision.ts';
import type { ExplainedRule } from '../../domain/explain-rules.ts';
import { hasBegun, NO_CLIENTS } from '../../domain/rollout.ts';
import { type TierTable, viewFor } from '../../domain/tier.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../../domain/version.ts';
import {
  type Audience,
  type ExplainRequest,
  type Explanation,
  type Listing,
  maySeeDrafts,
  type PassedOver,
} from './explanation.ts';

/** Explains the update that a client gets: the decision of the service, and the facts of the catalog about it. */

export interface ExplainDeps extends FindRevisionDeps {
  readonly tiers: TierTable;
}

/**
 * Explains the decision from the store, for operators.
 *
 * @throws AppError `unknown_application`, `unknown_channel`; `unknown_version` and `invalid_request` for a reference;
 *   `document_corrupt`, `store_unavailable`
 */
export async function explainUpdate(
  deps: ExplainDeps,
  request: ExplainRequest,
): Promise<Explanation> {
  const { application, channel } = request.query;
  const found = await findRevision(deps, application, request.reference);
  const { channels } = found.revision.signed;
  const views = await runInTurns(viewsInSteps(channels));
  const view = views.get(channelNamed(channel));
  if (view === undefined) throw unknownChannel(application, channel, channels);
  return explainState(deps, request, { found, view, isVerified: () => true });
}

/** The state from which a decision is explained. */
export interface ExplainedState {
  readonly found: FoundRevision;
  /** The client's channel before the client's tier restricts it. */
  readonly view: ChannelView;
  /** @param digest the digest of a release's manifest */
  readonly isVerified: (digest: string) => boolean;
}

/** @throws AppError `invalid_request` for a forecast that a client asks for; `store_unavailable` */
export async function explainState(
  deps: ExplainDeps,
  request: ExplainRequest,
  state: ExplainedState,
): Promise<Explanation> {
  const { tiers } = deps;
  const { query, tier, audience } = request;
  const { found } = state;
  if (found.isForecast && !maySeeDrafts(audience)) throw noForecast();
  const { channel: view } = viewFor(tiers, tier, query.application, state.view);
  const explained = explainDecision(
    query,
    view,
    found.time,
    ({ rollout }) => maySeeDrafts(audience) || hasBegun(rollout, found.time),
  );
  const listings = listingsOf(found, view, audience);
  const installed = query.currentVersion === null ? null : versionText(query.currentVersion);
  const explanation = {
    ...explained,
    request,
    state: found,
    channel: view.name,
    inherits: view.inherits,
    installed: {
      state: explained.installed,
      listing: installed === null ? undefined : listings.get(installed),
      elsewhere: installed === null ? [] : elsewhere(tiers, request, view, found, installed),
    },
    releases: explained.releases.map((release) => ({
      ...release,
      rules: maySeeDrafts(audience) ? release.rules : release.rules.map(withoutPlan),
      listing: listingFor(listings, release.version),
    })),
    passedOver: passedOver(request, state, explained, listings),
    openTo: view.isOpen
      ? []
      : tiers.names.filter((name) => tiers.opensChannel(name, query.application, view.name)),
    drafts: draftsFor(audience, found, view),
  };
  const statusChanges = maySeeDrafts(audience) ? await findWithdrawals(deps, explanation) : [];
  return { ...explanation, statusChanges };
}

/** Finds who paused or yanked the releases that an explanation names, and when. */
async function findWithdrawals(
  deps: ExplainDeps,
  explanation: Omit<Explanation, 'statusChanges'>,
): Promise<readonly StatusChange[]> {
  const { request, state, releases, passedOver, installed } = explanation;
  const listings = [...releases.map(({ listing }) => listing), ...passedOver];
  if (installed.listing !== undefined) listings.push(installed.listing);
  // The client's own version may also be one that the decision passed over.
  const channels = new Map(listings.map(({ offer, channel }) => [offer, channel]));
  const withdrawn = [...channels]
    .filter(([{ status }]) => status !== 'active')
    .map(([{ version }, channel]) => ({ channel, version }));
  return findStatusChanges(deps, request.query.application, state.revision.signed, withdrawn);
}

/** The drafts that the audience may see, on the channels that the client sees. */
function draftsFor(
  audience: Audience,
  { revision }: FoundRevision,
  { isOpen, name, inherits }: ChannelView,
): readonly ListedDraft[] {
  if (!maySeeDrafts(audience) || !isOpen) return [];
  const shown = [name, ...inherits];
  return listDrafts(revision.signed).filter(({ channel }) => shown.includes(channel));
}

function noForecast(): AppError {
  const detail =
    'A time in the future is a forecast, which only publishers get: use slipway explain.';
  return new AppError('invalid_request', detail, { issues: [{ pointer: '/at', detail }] });
}

const withoutPlan = (rule: ExplainedRule): ExplainedRule =>
  rule.rule === 'rollout' ? { ...rule, reachesAt: null } : rule;

/** The offers of a channel that the audience may see. */
function offersFor(
  audience: Audience,
  { revision, time }: FoundRevision,
  channel: string,
): readonly OfferJson[] {
  const { offers = [] } = revision.signed.channels[channel] ?? {};
  if (maySeeDrafts(audience)) return offers;
  return offers.flatMap(({ rollout, ...offer }) =>
    describeRollout(rollout, time).share > NO_CLIENTS ? [{ ...offer, reason: null }] : [],
  );
}

/**
 * The offers that the client sees, including yanked offers, by version. When several channels list a version, the
 * nearest channel counts.
 */
function listingsOf(
  found: FoundRevision,
  view: ChannelView,
  audience: Audience,
): ReadonlyMap<string, Listing> {
  const listings = new Map<string, Listing>();
  if (!view.isOpen) return listings;
  for (const channel of [view.name, ...view.inherits].toReversed()) {
    for (const offer of offersFor(audience, found, channel))
      listings.set(offer.version, { channel, offer });
  }
  return listings;
}

function listingFor(listings: ReadonlyMap<string, Listing>, version: string): Listing {
  const listing = listings.get(version);
  // The views are made from the same revision.
  if (listing === undefined) throw new Error(`The revision does not list ${version}.`);
  return listing;
}

const PASSED_OVER_MAX = 20;

function passedOver(
  { query }: ExplainRequest,
  { isVerified }: ExplainedState,
  { decision, goesBack }: ExplainedDecision,
  listings: ReadonlyMap<string, Listing>,
): readonly PassedOver[] {
  const offered = decision.reason === 'offer' ? decision.offer.version : undefined;
  const couldBeOffered = (version: Version): boolean =>
    offered === undefined
      ? goesBack ||
        query.currentVersion === null ||
        compareVersions(version, query.currentVersion) > 0
      : compareVersions(version, offered) > 0;
  const whyOf = ({ status, manifest }: OfferJson): PassedOver['why'] | undefined => {
    if (status === 'yanked') return 'yanked';
    return isVerified(manifest.digest) ? undefined : 'unverified';
  };
  return [...listings.values()]
    .flatMap((listing) => {
      const why = whyOf(listing.offer);
      if (why === undefined) return [];
      return [{ ...listing, why, version: parseVersion(listing.offer.version) }];
    })
    .filter(({ version }) => couldBeOffered(version))
    .sort((a, b) => compareVersions(b.version, a.version))
    .slice(0, PASSED_OVER_MAX)
    .map(({ channel, offer, why }) => ({ channel, offer, why }));
}

function elsewhere(
  tiers: TierTable,
  { query, tier, audience }: ExplainRequest,
  view: ChannelView,
  found: FoundRevision,
  version: string,
): readonly string[] {
  const shown = [view.name, ...view.inherits];
  return channelEntries(found.revision.signed.channels)
    .map(([name]) => name)
    .filter((name) => !shown.includes(name))
    .filter((name) => tiers.opensChannel(tier, query.application, name))
    .filter((name) => offersFor(audience, found, name).some((offer) => offer.version === version));
}
