import type { ChannelView } from './channel.ts';
import { isForAllClients } from './decide-update.ts';
import type { Offer } from './offer.ts';
import { PLATFORMS, type Platform } from './platform.ts';

/**
 * New visitors who get no release. A page, a download button and `latest-version` know no installation, so they give
 * only a release that every client is offered.
 */
export interface UnservedVisitors {
  readonly channel: string;
  /** Null: visitors with any platform. */
  readonly platform: Platform | null;
}

/**
 * The visitors of a channel who get no release, although the channel has had one. The list is empty for a channel that
 * never had a release, or has only drafts.
 *
 * @param now by the store's clock; milliseconds since the epoch
 */
function unservedOn(view: ChannelView, now: number): readonly UnservedVisitors[] {
  if (!view.hadRelease) return [];
  // Every artifact runs on some architecture of its platform, so this needs no index by machine, which is slow to create.
  const isFor = (offer: Offer, platform: Platform): boolean =>
    offer.artifacts.some((artifact) => artifact.platform === platform);
  const listed = PLATFORMS.filter((platform) =>
    view.offers.some((offer) => isFor(offer, platform)),
  );
  const unserved = listed.filter(
    (platform) =>
      !view.offers.some((offer) => isForAllClients(offer, now) && isFor(offer, platform)),
  );
  if (unserved.length === listed.length) return [{ channel: view.name, platform: null }];
  return unserved.map((platform) => ({ channel: view.name, platform }));
}

/** The visitors of all channels who get no release. See {@link unservedOn}. */
export function findUnserved(
  views: ReadonlyMap<string, ChannelView>,
  now: number,
): readonly UnservedVisitors[] {
  return [...views.values()].flatMap((view) => unservedOn(view, now));
}
