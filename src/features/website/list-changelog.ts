import { openChannel, type ServiceDeps } from '../../answers/open-channel.ts';
import { AppError } from '../../core/errors.ts';
import type { ChannelView } from '../../domain/channel.ts';
import { isForAllClients } from '../../domain/decide-update.ts';
import type { Offer } from '../../domain/offer.ts';
import type { Release } from '../../domain/release.ts';

export interface ChangelogQuery {
  readonly application: string;
  readonly channel: string;
  /** The number of the page, from 1. */
  readonly page: number;
}

export interface Changelog {
  /** The view of the channel from which the answer was made. Another revision has another object. */
  readonly channel: ChannelView;
  /** The number of rollouts of the channel that had reached every client: see `RolloutStage`. */
  readonly completed: number;
  /** Newest first. */
  readonly releases: readonly Release[];
  readonly pages: number;
}

const RELEASES_A_PAGE = 10;

/**
 * One page of the releases that every visitor is offered. The page leaves out releases that are yanked, paused or held
 * back, and releases whose rollout is not complete.
 *
 * @throws AppError `unknown_application`, `unknown_channel`, `not_entitled`, `no_release`, `catalog_unavailable`,
 *   `route_not_found` when there are fewer pages; an error of the store
 */
export async function listChangelog(
  deps: ServiceDeps,
  query: ChangelogQuery,
  tier: string | null,
): Promise<Changelog> {
  const application = deps.catalog.application(query.application);
  const { channel } = openChannel(deps, application, query.channel, tier);
  const now = deps.clock.now();
  const { completed } = channel.rolloutStage(now);
  const offers = channel.offers.filter((offer) => isForAllClients(offer, now));
  const pages = Math.ceil(offers.length / RELEASES_A_PAGE);
  if (pages === 0) {
    const { name } = channel;
    throw new AppError('no_release', `${name} of ${query.application} has no release.`);
  }
  if (query.page > pages) throw noPage(pages);
  const first = (query.page - 1) * RELEASES_A_PAGE;
  const shown: readonly Offer[] = offers.slice(first, first + RELEASES_A_PAGE);
  const releases: Release[] = [];
  for (const offer of shown) {
    const release = await application.release(offer);
    // The stored release does not match its digest, so the catalog has dropped it. The function lists the other
    // releases instead.
    if (release === undefined) return listChangelog(deps, query, tier);
    releases.push(release);
  }
  return { channel, completed, releases, pages };
}

function noPage(pages: number): AppError {
  const sentence = pages === 1 ? 'There is only one page' : `There are only ${pages} pages`;
  return new AppError('route_not_found', `${sentence} of releases.`);
}
