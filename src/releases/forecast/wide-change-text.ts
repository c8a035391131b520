import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { EVERY_CLIENT, presentShare } from '../../catalog/reading/rollout-text.ts';
import type { ChannelStates } from './compare-channels.ts';

/** A version, and the channels on which it changes. */
export interface Changed {
  readonly version: string;
  readonly channels: readonly string[];
}

/**
 * Says to whom a change offers a release: `Resuming 1.5.0 offers it to 25% of the installations of stable.`
 *
 * @param what the change: `Resuming 1.5.0`
 * @param now by the store's clock
 */
export function wideSentence(
  what: string,
  { after }: Pick<ChannelStates, 'after'>,
  { version, channels }: Changed,
  now: number,
): string {
  const audiences = channels.map((channel) => {
    const offer = after[channel]?.offers.find((each) => each.version === version);
    return audienceOf(channel, offer, now);
  });
  return `${what} offers it to ${audiences.join(', and to ')}.`;
}

function audienceOf(channel: string, offer: OfferJson | undefined, now: number): string {
  const share = presentShare(offer?.rollout, now);
  return share === EVERY_CLIENT
    ? `${EVERY_CLIENT} of ${channel}`
    : `${share} of the installations of ${channel}`;
}
