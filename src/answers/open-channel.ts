import type { Catalog, ReadyApplication } from '../catalog/live/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type ChannelView, channelNamed } from '../domain/channel.ts';
import { type TierTable, viewFor } from '../domain/tier.ts';

/** The dependencies of every question about a channel. */
export interface ServiceDeps {
  /** The clock with the store's time, by which rollouts advance. */
  readonly clock: Pick<Clock, 'now'>;
  readonly catalog: Catalog;
  readonly tiers: TierTable;
}

/** A channel as the tier of the requesting account sees it. */
export interface SeenChannel {
  readonly channel: ChannelView;
  /**
   * True when another account may get another answer: see {@link viewFor}. Shared caches must not store such an answer.
   */
  readonly isRestricted: boolean;
  /** The catalog revision that the answer comes from. */
  readonly revision: number;
}

/**
 * The channel as a tier sees it. The function also returns a channel that is closed to the tier, but without offers.
 *
 * @param tier of the requesting account; null when the client is not signed in
 * @throws AppError `unknown_channel`
 */
export function seeChannel(
  deps: ServiceDeps,
  application: ReadyApplication,
  name: string,
  tier: string | null,
): SeenChannel {
  const snapshot = application.snapshot();
  const known = snapshot.channels.get(channelNamed(name));
  if (known === undefined) {
    const detail = `${application.application} has no channel ${JSON.stringify(name.slice(0, 80))}.`;
    throw new AppError('unknown_channel', detail, { issues: [{ pointer: '/channel', detail }] });
  }
  const { channel, isRestricted } = viewFor(deps.tiers, tier, application.application, known);
  return { channel, isRestricted, revision: snapshot.revision.signed.revision };
}

/**
 * Like {@link seeChannel}, but a closed channel is an error.
 *
 * @throws AppError `unknown_channel`, `not_entitled`
 */
export function openChannel(
  deps: ServiceDeps,
  application: ReadyApplication,
  name: string,
  tier: string | null,
): SeenChannel {
  const seen = seeChannel(deps, application, name, tier);
  if (!seen.channel.isOpen) throw notEntitled(application.application, seen.channel.name);
  return seen;
}

/** The error when the channel is closed to the requesting account. */
export function notEntitled(application: string, channel: string): AppError {
  return new AppError(
    'not_entitled',
    `Channel ${channel} of ${application} is for some accounts only. Send the access token of an account that may use it.`,
  );
}
