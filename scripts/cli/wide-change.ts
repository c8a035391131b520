import type { ChannelStates } from '../../src/operations/compare-channels.ts';
import { foreseeChanges } from '../../src/operations/foresee-changes.ts';
import { type Changed, wideSentence } from '../../src/wording/wide-change.ts';
import { clientLines } from './difference-report.ts';
import { firstLines } from './output.ts';

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
  about: Changed,
  now: number,
): string {
  const lines = clientLines(foreseeChanges(states, now));
  return [
    wideSentence(what, states, about, now),
    lines.length === 0
      ? 'No client on a version that the channel lists is offered another release than before.'
      : 'Clients that are offered another release than before:',
    ...firstLines(lines, LINES_MAX).map((line) => `  ${line}`),
  ].join('\n');
}
