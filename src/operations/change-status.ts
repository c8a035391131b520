import {
  type Channels,
  type Committed,
  changeCatalog,
  type WriterDeps,
} from '../catalog/change.ts';
import type { ChannelJson, OfferJson } from '../catalog/revision-document.ts';
import { editStatus, type StatusVerb } from './edit-status.ts';
import { type ForeseenUpdate, foreseeUpdates } from './foresee-updates.ts';
import { channelsListing, checkRequest, type ListedRequest } from './listed-release.ts';

export type { StatusVerb } from './edit-status.ts';

/** How a channel lists a version. */
export interface ListedStatus {
  readonly channel: string;
  readonly status: OfferJson['status'] | 'retired';
  readonly reason: string | null;
}

export interface StatusChanged extends Committed {
  /** The channels whose offer was changed; without a change, the channels that list the version. */
  readonly channels: readonly string[];
  /** The status of the version afterwards, on each channel that lists or listed it. */
  readonly listed: readonly ListedStatus[];
  /** The updates that clients with this version or an older one get from now on; empty without a change. */
  readonly clients: readonly ForeseenUpdate[];
}

/**
 * Changes the status of a release, on one channel or on every channel that lists it, in one commit.
 *
 * - pause: it is not offered until it is resumed; clients that have it keep it. resume: undoes a pause.
 * - yank: it is withdrawn permanently; clients that have it move to the next newer release.
 * - retire: the channel no longer lists it.
 *
 * @throws AppError those of {@link checkRequest} and {@link channelsListing}; `status_forbids`
 */
export async function changeStatus(
  deps: WriterDeps,
  verb: StatusVerb,
  asked: ListedRequest,
): Promise<StatusChanged> {
  const request = checkRequest(asked);
  let touched: readonly string[] = [];
  let listed: readonly ListedStatus[] = [];
  let states: { readonly before: Channels; readonly after: Channels } | undefined;
  const committed = await changeCatalog(deps, request.application, async (before) => {
    const listing = await channelsListing(deps, before, request);
    const edited = new Map<string, ChannelJson>();
    for (const [name, channel] of listing) {
      const changed = editStatus(channel, verb, request, deps.clock.now());
      if (changed !== undefined) edited.set(name, changed);
    }
    touched = edited.size > 0 ? [...edited.keys()] : listing.map(([name]) => name);
    const channels = { ...before, ...Object.fromEntries(edited) };
    listed = listing.map(([name]) => statusOn(channels, name, request.version));
    states = edited.size === 0 ? undefined : { before, after: channels };
    if (edited.size === 0) return undefined;
    return {
      change: { kind: verb, version: request.version, channels: touched, reason: request.reason },
      channels,
    };
  });
  // Runs after the commit, so that an error here cannot prevent the withdrawal of a release.
  const clients =
    states === undefined
      ? []
      : foreseeUpdates(states, [request.version], touched, deps.clock.now());
  return { ...committed, channels: touched, listed, clients };
}

function statusOn(channels: Channels, channel: string, version: string): ListedStatus {
  const offer = channels[channel]?.offers.find((candidate) => candidate.version === version);
  return { channel, status: offer?.status ?? 'retired', reason: offer?.reason ?? null };
}
