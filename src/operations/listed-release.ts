import type { Channels } from '../catalog/change.ts';
import {
  type ChannelJson,
  channelEntries,
  jsonBytes,
  REASON_BYTES_MAX,
} from '../catalog/revision-document.ts';
import { AppError } from '../errors.ts';
import { unknownChannel, unknownVersion } from './unknown-release.ts';

/** What the commands that change a published release have in common. */

/** The channels that list the version; without one, the channels that it was retired from. */
export function channelsListing(
  channels: Channels,
  { application, version }: { readonly application: string; readonly version: string },
  only: string | undefined,
): readonly [string, ChannelJson][] {
  if (only !== undefined && !Object.hasOwn(channels, only)) {
    throw unknownChannel(application, only, channels);
  }
  const asked = channelEntries(channels).filter(([name]) => only === undefined || name === only);
  const offering = asked.filter(([, { offers }]) =>
    offers.some((offer) => offer.version === version),
  );
  if (offering.length > 0) return offering;
  const retired = asked.filter(([, channel]) => channel.retired.includes(version));
  if (retired.length > 0) return retired;
  throw unknownVersion(application, version, channels, only);
}

/** @throws AppError `invalid_request` */
export function refuseLongReason(reason: string | null): void {
  const bytes = jsonBytes(reason);
  if (bytes <= REASON_BYTES_MAX) return;
  const detail = `The reason has ${bytes} bytes, and the history keeps at most ${REASON_BYTES_MAX}. Shorten it.`;
  throw new AppError('invalid_request', detail, { issues: [{ pointer: '/reason', detail }] });
}
