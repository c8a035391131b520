import { describeRollout } from '../../catalog/describe-rollout.ts';
import { channelEntries, type OfferJson } from '../../catalog/documents/revision-document.ts';
import {
  type FindRevisionDeps,
  type FoundRevision,
  findRevision,
} from '../../catalog/find-revision.ts';
import { type ListedDraft, listDrafts } from '../../catalog/list-drafts.ts';
import { releaseName, viewsInSteps } from '../../catalog/memory/snapshot.ts';
import { unknownChannel } from '../../catalog/unknown-release.ts';
import { AppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { type ChannelView, channelNamed } from '../../domain/channel.ts';
import {
  type ExplainedRelease,
  type Explanation,
  explainDecision,
} from '../../domain/explain-decision.ts';
import type { ExplainedRule } from '../../domain/explain-rules.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import { hasBegun, NO_CLIENTS } from '../../domain/rollout.ts';
import { type TierTable, viewFor } from '../../domain/tier.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { compareVersions, parseVersion, type Version, versionText } from '../../domain/version.ts';

/**
 * Explains which update a client gets, and why: the decision of the service, with what the catalog says about it.
 *
 * The audience decides what the explanation tells:
 * - `publisher`: everything. The operator of a console and the user of a command can read the store.
 * - `client`: what a client of the tier could find out with many requests to the service. That excludes drafts, releases
 *   whose rollout has not begun, plans, and the reasons that publishers state.
 */
type Audience = 'publisher' | 'client';

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

/** A release that every decision leaves out, so that no rule was applied to it. */
interface PassedOver extends Listing {
  /** `unverified`: this process could not verify the release's manifest. */
  readonly why: 'yanked' | 'unverified';
}

export interface ExplainedUpdate {
  readonly request: ExplainRequest;
  readonly state: FoundRevision;
  /** The channel's own name, when the client used an alias. */
  readonly channel: string;
  /** The inherited channels whose offers the client sees as well, the nearest first. */
  readonly inherits: readonly string[];
  readonly explanation: Explanation;
  readonly releases: readonly ListedRelease[];
  /** Newest first; only those that could have been offered instead. */
  readonly passedOver: readonly PassedOver[];
  /** What the client's own version is on this channel; undefined when the channel does not list it. */
  readonly installed: Listing | undefined;
  /** The other channels that list the client's version, as far as they are open to the client. */
  readonly installedElsewhere: readonly string[];
  /** The tiers that open the channel, when it is closed to the client. */
  readonly openTo: readonly string[];
  /** Drafts on the channels that the client sees: no client sees the drafts. */
  readonly drafts: readonly ListedDraft[];
}

export interface ExplainOptions {
  readonly tiers: TierTable;
}

/**
 * Explains the decision from the store, for operators.
 *
 * @throws AppError `unknown_channel`, and those of {@link findRevision}
 */
export async function explainUpdate(
  deps: FindRevisionDeps & ExplainOptions,
  request: ExplainRequest,
): Promise<ExplainedUpdate> {
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
  /** The client's channel as it is without tiers. */
  readonly view: ChannelView;
  /** @param name see `releaseName` */
  readonly isVerified: (name: string) => boolean;
}

export function explainState(
  { tiers }: ExplainOptions,
  request: ExplainRequest,
  state: ExplainedState,
): ExplainedUpdate {
  const { query, tier, audience } = request;
  const { found } = state;
  if (audience === 'client' && found.isForecast) throw noForecast();
  const { channel: view } = viewFor(tiers, tier, query.application, state.view);
  const explanation = explainDecision(
    query,
    view,
    found.time,
    ({ rollout }) => audience === 'publisher' || hasBegun(rollout, found.time),
  );
  const listings = listingsOf(found, view, audience);
  const installed = query.currentVersion === null ? null : versionText(query.currentVersion);
  const mayHaveDrafts = audience === 'publisher' && view.isOpen;
  const drafts = mayHaveDrafts ? listDrafts(found.revision.signed) : [];
  const shown = [view.name, ...view.inherits];
  return {
    request,
    state: found,
    channel: view.name,
    inherits: view.inherits,
    explanation,
    releases: explanation.releases.map((release) => ({
      ...release,
      rules: audience === 'publisher' ? release.rules : release.rules.map(withoutPlan),
      listing: listingFor(listings, release.version),
    })),
    passedOver: passedOver(request, state, explanation, listings),
    installed: installed === null ? undefined : listings.get(installed),
    installedElsewhere: installed === null ? [] : elsewhere(tiers, request, view, found, installed),
    openTo: view.isOpen
      ? []
      : tiers.names.filter((name) => tiers.opensChannel(name, query.application, view.name)),
    drafts: drafts.filter(({ channel }) => shown.includes(channel)),
  };
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
  if (audience === 'publisher') return offers;
  return offers.flatMap(({ rollout, ...offer }) =>
    describeRollout(rollout, time).share > NO_CLIENTS ? [{ ...offer, reason: null }] : [],
  );
}

/** The offers that the client sees, yanked ones included, by version: of the nearest channel that lists it. */
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
  { decision, goesBack }: Explanation,
  listings: ReadonlyMap<string, Listing>,
): readonly PassedOver[] {
  const offered = decision.reason === 'offer' ? decision.offer.version : undefined;
  const couldBeOffered = (version: Version): boolean =>
    offered === undefined
      ? goesBack ||
        query.currentVersion === null ||
        compareVersions(version, query.currentVersion) > 0
      : compareVersions(version, offered) > 0;
  return [...listings.values()]
    .flatMap((listing) => {
      const { version, status, manifest } = listing.offer;
      const name = releaseName(version, manifest.number, manifest.digest);
      const why = status === 'yanked' ? 'yanked' : isVerified(name) ? undefined : 'unverified';
      return why === undefined
        ? []
        : [{ ...listing, why, version: parseVersion(version) } as const];
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
