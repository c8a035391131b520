import type {
  ChannelJson,
  Channels,
  OfferJson,
} from '../../catalog/documents/revision-document.ts';
import {
  planClockOf,
  type RolloutJson,
  rolloutOf,
  storedRamp,
  withClock,
  withClockRead,
} from '../../catalog/documents/rollout-document.ts';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/writing/change.ts';
import { AppError } from '../../core/errors.ts';
import { ALL_CLIENTS, type Share, shareAt } from '../../domain/rollout.ts';
import { channelsListing, checkRequest, type ListedRequest } from '../list/listed-release.ts';
import { haveSamePlan, type RequestedRollout, startRollout } from '../offer/start-rollout.ts';

export type RolloutAction =
  /** Starts another plan now; a percentage is a plan of one step. */
  | { readonly kind: 'start'; readonly requested: RequestedRollout }
  /** The share stays the same until `unfreeze`. */
  | { readonly kind: 'freeze' }
  /** The plan continues from the point at which it was frozen. */
  | { readonly kind: 'unfreeze' }
  /** Every client is offered the release from now on. */
  | { readonly kind: 'complete' };

/**
 * A request that names no channel changes every channel where a rollout of the version is under way. If there is no
 * such channel, it changes every channel that offers the version.
 */
interface RolloutRequest extends ListedRequest {
  readonly action: RolloutAction;
}

/** The rollout of the version on one channel. */
interface ChannelRollout {
  readonly channel: string;
  /** The share before the change and after it. */
  readonly before: Share;
  readonly after: Share;
  readonly rollout: RolloutJson | undefined;
}

export interface RolloutChanged extends Committed {
  readonly channels: readonly ChannelRollout[];
}

/**
 * Changes the share of installations that is offered a release. A higher share only adds installations. A lower share
 * removes the installations that were added last. Clients that have the release keep it.
 *
 * @throws AppError `invalid_version`, `invalid_name`, `invalid_request`, `invalid_rollout`; `unknown_application`,
 *   `unknown_channel`, `unknown_version`; `status_forbids` for a release that is a draft, paused, yanked or retired, or
 *   that has no rollout to freeze
 */
export async function changeRollout(
  deps: WriterDeps,
  asked: RolloutRequest,
): Promise<RolloutChanged> {
  const request = checkRequest(asked);
  const { plan, ...committed } = await changeCatalog(deps, request.application, async (before) => {
    const edited: Record<string, ChannelJson> = {};
    const plan: ChannelRollout[] = [];
    const listing = await channelsListing(deps, before, request);
    const isNamed = request.channel !== undefined;
    for (const [name, channel] of isNamed ? listing : concerned(deps, listing, request)) {
      const offer = offerIn(channel, request);
      const rollout = edit(deps, offer, name, request);
      plan.push({
        channel: name,
        before: shareNow(deps, offer?.rollout),
        after: shareNow(deps, rollout),
        rollout,
      });
      if (offer === undefined || rollout === offer.rollout) continue;
      edited[name] = replaceRollout(channel, offer, rollout);
    }
    if (Object.keys(edited).length === 0) return { edit: undefined, plan };
    const change = {
      kind: 'rollout' as const,
      version: request.version,
      channels: Object.keys(edited),
      reason: request.reason,
      summary: summaryOf(request.action),
    };
    const channels: Channels = { ...before, ...edited };
    return { edit: { change, channels, needsRoom: request.action.kind === 'start' }, plan };
  });
  return { ...committed, channels: plan };
}

function summaryOf(action: RolloutAction): string {
  return action.kind === 'start' ? action.requested.text : action.kind;
}

function offerIn({ offers }: ChannelJson, request: RolloutRequest): OfferJson | undefined {
  return offers.find(({ version }) => version === request.version);
}

/**
 * The channels that a command without a channel changes: the channels where a rollout is under way. When every client
 * of one channel is offered the release, the command must not take the release back there because of a rollout on
 * another channel.
 */
function concerned(
  deps: WriterDeps,
  listing: readonly (readonly [string, ChannelJson])[],
  request: RolloutRequest,
): readonly (readonly [string, ChannelJson])[] {
  const active = listing.filter(([, channel]) => offerIn(channel, request)?.status === 'active');
  const underWay = active.filter(
    ([, channel]) => shareNow(deps, offerIn(channel, request)?.rollout) < ALL_CLIENTS,
  );
  return [underWay, active, listing].find((channels) => channels.length > 0) ?? listing;
}

function shareNow({ clock }: WriterDeps, rollout: RolloutJson | undefined): Share {
  return rollout === undefined ? ALL_CLIENTS : shareAt(storedRamp(rollout), clock.now());
}

/** @returns the next rollout; the present one when nothing changes */
function edit(
  deps: WriterDeps,
  offer: OfferJson | undefined,
  channel: string,
  { version, action }: RolloutRequest,
): RolloutJson | undefined {
  const state = offer?.status ?? 'retired';
  if (state !== 'active') {
    const advice =
      state === 'paused'
        ? `While it is paused, no client is offered it and its plan does not advance. To change the rollout, resume it first: slipway resume ${version}.`
        : 'That is permanent. Publish a new version.';
    throw new AppError('status_forbids', `${version} is ${state} on ${channel}. ${advice}`);
  }
  const rollout = offer?.rollout;
  const start = { now: deps.clock.now(), salt: rollout?.salt ?? deps.randomness.id() };
  if (action.kind === 'start') {
    const started = startRollout(start, action.requested);
    if (rollout === undefined && rolloutOf(started) === null) return undefined;
    // The command may be a second try: a new start of the same plan would take offers back.
    const runs = rollout?.clock.running === true && haveSamePlan(started, rollout);
    return runs ? rollout : started;
  }
  if (rollout === undefined || shareNow(deps, rollout) === ALL_CLIENTS) {
    if (action.kind === 'complete') return rollout;
    throw new AppError(
      'status_forbids',
      `Every client of ${channel} is offered ${version} already: there is nothing to ${action.kind}. To stop offering it: slipway pause ${version}.`,
    );
  }
  if (action.kind === 'complete') {
    return startRollout(start, { text: '100%', freezeWindows: [] });
  }
  const isRunning = action.kind === 'unfreeze';
  if (rollout.clock.running === isRunning) return rollout;
  const read = withClockRead(rollout, deps.clock.now());
  return withClock(read, { ...planClockOf(read), isRunning });
}

function replaceRollout(
  channel: ChannelJson,
  offer: OfferJson,
  rollout: RolloutJson | undefined,
): ChannelJson {
  const { rollout: _before, ...rest } = offer;
  const changed = rollout === undefined ? rest : { ...rest, rollout };
  return { ...channel, offers: [...channel.offers.filter((o) => o !== offer), changed] };
}
