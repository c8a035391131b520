import {
  type ChannelJson,
  type Channels,
  channelEntries,
} from '../../catalog/documents/revision-document.ts';
import { draftIn } from '../../catalog/reading/list-drafts.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';
import {
  unknownApplication,
  unknownChannel,
  unknownVersion,
} from '../../catalog/reading/unknown-release.ts';
import { parseChannelName } from '../../domain/channel.ts';
import { checkReason } from '../../domain/reason.ts';
import { parseVersion } from '../../domain/version.ts';

/** All commands that change a published release share this request. */

export interface ListedRequest {
  readonly application: string;
  readonly version: string;
  /** Undefined: every channel that lists the version. */
  readonly channel: string | undefined;
  /** For the history. */
  readonly reason: string | null;
}

/** The request with the channel's own name. @throws AppError `invalid_version`, `invalid_name`, `invalid_request` */
export function checkRequest<R extends ListedRequest>(request: R): R {
  parseVersion(request.version);
  checkReason(request.reason);
  const { channel } = request;
  return channel === undefined ? request : { ...request, channel: parseChannelName(channel) };
}

/**
 * The channels that list the version; if there is none, the channels from which the version was retired.
 *
 * @throws AppError `unknown_application`, `unknown_channel`, `unknown_version`; `status_forbids` when the version is a
 *   draft
 */
export async function channelsListing(
  deps: ReaderDeps,
  channels: Channels,
  { application, version, channel: only }: ListedRequest,
): Promise<readonly [string, ChannelJson][]> {
  if (Object.keys(channels).length === 0) throw await unknownApplication(deps, application);
  if (only !== undefined && !Object.hasOwn(channels, only)) {
    throw unknownChannel(application, only, channels);
  }
  const asked = channelEntries(channels).filter(([name]) => only === undefined || name === only);
  const offering = asked.filter(([, { offers }]) =>
    offers.some((offer) => offer.version === version),
  );
  if (offering.length > 0) return offering;
  const retired = asked.filter(([, channel]) => channel.retired.includes(version));
  const isDraft = asked.some(([, channel]) => draftIn(channel, version) !== undefined);
  if (retired.length > 0 && !isDraft) return retired;
  throw unknownVersion(application, version, channels, only);
}
