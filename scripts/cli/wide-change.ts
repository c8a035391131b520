import type { OfferJson } from '../../src/catalog/revision-document.ts';
import type { ChannelStates } from '../../src/operations/compare-channels.ts';
import { foreseeChanges } from '../../src/operations/foresee-changes.ts';
import { clientLines } from './difference-report.ts';
import { firstLines } from './output.ts';
import { EVERY_CLIENT, presentShare } from './rollout-report.ts';

/** The question before a change that newly offers a release to many clients. */

const LINES_MAX = 12;

/**
 * Says which clients are offered the release, on which channels, and what they get otherwise.
 *
 * @param what the change: `Resuming 1.5.0`
 * @param states the channels before the change, and as it would leave them @param now by the store's clock
 */
export function wideQuestion(
  what: string,
  states: ChannelStates,
  { version, channels }: { readonly version: string; readonly channels: readonly string[] },
  now: number,
): string {
  const audiences = channels.map((channel) => {
    const offer = states.after[channel]?.offers.find((each) => each.version === version);
    return audienceOf(channel, offer, now);
  });
  const lines = clientLines(foreseeChanges(states, now));
  return [
    `${what} offers it to ${audiences.join(', and to ')}.`,
    lines.length === 0
      ? 'No client on a version that the channel lists is offered another release than before.'
      : 'Clients that are offered another release than before:',
    ...firstLines(lines, LINES_MAX).map((line) => `  ${line}`),
  ].join('\n');
}

function audienceOf(channel: string, offer: OfferJson | undefined, now: number): string {
  const share = presentShare(offer?.rollout, now);
  return share === EVERY_CLIENT
    ? `${EVERY_CLIENT} of ${channel}`
    : `${share} of the installations of ${channel}`;
}
