import { clientSentences } from '../../releases/forecast/clients-text.ts';
import type { ChannelStates } from '../../releases/forecast/compare-channels.ts';
import { foreseeChanges } from '../../releases/forecast/foresee-changes.ts';
import { type Changed, wideSentence } from '../../releases/forecast/wide-change-text.ts';
import type { Context } from '../context.ts';
import { firstLines } from '../output.ts';
import { clientLines } from './difference-report.ts';
import { readSeenChecks } from './seen-checks.ts';

/** The question before a change that newly offers a release to many clients. */

const LINES_MAX = 12;

/**
 * Says which clients are offered the release, on which channels, and which release they get otherwise.
 *
 * @param what the change: `Resuming 1.5.0`
 * @param states the channels before the change and after it
 */
export async function wideQuestion(
  context: Context,
  application: string,
  what: string,
  states: ChannelStates,
  about: Changed,
): Promise<string> {
  const now = context.clock.now();
  const seen = await readSeenChecks(context, application);
  const clients = foreseeChanges(states, now, seen);
  return [
    wideSentence(what, states, about, now),
    clients.length === 0
      ? 'No client of these channels is offered another release than before.'
      : 'Clients that are offered another release than before:',
    ...firstLines(clientLines(clients, states), LINES_MAX).map((line) => `  ${line}`),
    ...clientSentences(clients, seen),
  ].join('\n');
}
