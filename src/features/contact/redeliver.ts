import { AppError } from '../../core/errors.ts';
import { type AppendDeps, appendDocument } from '../../store/sequence/append.ts';
import { redeliveriesOf } from './history.ts';
import { readExisting } from './inspect.ts';
import { markOpen } from './open-marker.ts';
import { ACTOR_LENGTH_MAX, messageSequence, sealTransition } from './transition.ts';

/**
 * Queues a message in any state for another delivery. A running service sends the message when it next looks at the
 * open messages.
 *
 * @param by the operator, for the record
 * @returns the number of this redelivery, counted from 1
 * @throws AppError `unknown_message`, `ended`, `outcome_unknown`
 */
export async function redeliverMessage(
  deps: AppendDeps,
  id: string,
  by: string,
): Promise<{ readonly redelivery: number }> {
  const history = await readExisting(deps.store, id);
  const appended = await appendDocument(deps, messageSequence(id), async (base) => {
    await markOpen(deps, id, base.number);
    return sealTransition(id, base, {
      state: 'requeued',
      at: new Date(deps.clock.now()).toISOString(),
      by: by.slice(0, ACTOR_LENGTH_MAX),
    });
  });
  if (appended.outcome !== 'created') throw new AppError('internal', 'Nothing was appended.');
  return { redelivery: redeliveriesOf(history) + 1 };
}
