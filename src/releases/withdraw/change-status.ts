import {
  type ChannelJson,
  type Channels,
  channelEntries,
  type OfferJson,
} from '../../catalog/documents/revision-document.ts';
import { type Committed, changeCatalog, type WriterDeps } from '../../catalog/writing/change.ts';
import { type ForeseenUpdate, foreseeUpdates } from '../forecast/foresee-updates.ts';
import { channelsListing, checkRequest, type ListedRequest } from '../list/listed-release.ts';
import { refuseForgottenYank } from '../offer/channel-rules.ts';
import { discardDrafts } from './discard-draft.ts';
import { editStatus, type StatusVerb } from './edit-status.ts';

export type { StatusVerb } from './edit-status.ts';

/** The status of a version on a channel. */
export interface ListedStatus {
  readonly channel: string;
  readonly status: OfferJson['status'] | 'retired';
  readonly reason: string | null;
}

export interface StatusChanged extends Committed {
  /** The channels whose offer was changed; without a change, the channels that list the version. */
  readonly channels: readonly string[];
  /** True when only the recorded reason was changed, so that clients get the same as before. */
  readonly isReasonOnly: boolean;
  /** The status of the version afterwards, on each channel that lists or listed it. */
  readonly listed: readonly ListedStatus[];
  /** The channels whose draft of the version was discarded. */
  readonly discarded: readonly string[];
  /** The updates that clients with this version or an older one get from now on; empty without a change. */
  readonly clients: readonly ForeseenUpdate[];
}

/**
 * Changes the status of a release, on one channel or on every channel that lists it, in one commit.
 *
 * - pause: the release is not offered until a command resumes it; clients that have it keep it. resume: undoes a pause.
 * - yank: the release is withdrawn permanently; clients that have it move to the next newer release.
 * - retire: the channel no longer lists the release. A draft is discarded, so its version is free again.
 *
 * With a reason, pause and yank also correct the reason of a release that is paused or yanked already.
 *
 * @throws AppError `invalid_version`, `invalid_name`, `invalid_request`; `unknown_application`, `unknown_channel`,
 *   `unknown_version`; `status_forbids`
 */
export async function changeStatus(
  deps: WriterDeps,
  verb: StatusVerb,
  asked: ListedRequest,
): Promise<StatusChanged> {
  const request = checkRequest(asked);
  const { application } = request;
  const { plan, ...committed } = await changeCatalog(deps, application, async (before, present) => {
    const now = deps.clock.now();
    const drafts =
      verb === 'retire'
        ? discardDrafts(before, request, { revision: present.revision, now })
        : undefined;
    const discarded = drafts?.names ?? [];
    const kept = drafts?.channels ?? before;
    const listing = await listingOf(deps, kept, request, discarded);
    const edited = new Map<string, ChannelJson>();
    const keepsStatus = (name: string): boolean =>
      statusOn(kept, name, request.version).status ===
      statusOn(Object.fromEntries(edited), name, request.version).status;
    for (const [name, channel] of listing) {
      const edit = { versions: [request.version], reason: request.reason };
      const changed = editStatus(channel, verb, edit, now);
      if (changed !== undefined) edited.set(name, changed);
    }
    const isReasonOnly = edited.size > 0 && [...edited.keys()].every(keepsStatus);
    const channels = { ...kept, ...Object.fromEntries(edited) };
    if (verb === 'retire') {
      for (const name of edited.keys()) {
        const offers = kept[name]?.offers.filter(({ version }) => version === request.version);
        refuseForgottenYank(name, offers ?? [], channels);
      }
    }
    const plan = {
      channels: edited.size > 0 ? [...edited.keys()] : listing.map(([name]) => name),
      isReasonOnly,
      listed: listing.map(([name]) => statusOn(channels, name, request.version)),
      discarded,
      changesOffers: edited.size > 0,
    };
    if (edited.size === 0 && discarded.length === 0) return { edit: undefined, plan };
    const change = {
      kind: verb,
      version: request.version,
      channels: [...new Set([...edited.keys(), ...discarded])],
      reason: request.reason,
      summary: isReasonOnly ? 'reason only' : undefined,
    };
    return { edit: { change, channels }, plan };
  });
  // Runs after the commit, so that an error here cannot prevent the withdrawal of a release.
  const { changesOffers, ...status } = plan;
  const clients = changesOffers
    ? foreseeUpdates(committed, [request.version], status.channels, deps.clock.now())
    : [];
  return { ...committed, ...status, clients };
}

/** Like {@link channelsListing}; empty when the version was only a draft, and the command discards it. */
async function listingOf(
  deps: WriterDeps,
  channels: Channels,
  request: ListedRequest,
  discarded: readonly string[],
): Promise<readonly (readonly [string, ChannelJson])[]> {
  const { channel: only, version } = request;
  if (discarded.length === 0) return channelsListing(deps, channels, request);
  return channelEntries(channels)
    .filter(([name]) => only === undefined || name === only)
    .filter(([, { offers }]) => offers.some((offer) => offer.version === version));
}

function statusOn(channels: Channels, channel: string, version: string): ListedStatus {
  const offer = channels[channel]?.offers.find((candidate) => candidate.version === version);
  return { channel, status: offer?.status ?? 'retired', reason: offer?.reason ?? null };
}
