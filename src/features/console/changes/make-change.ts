import type { Committed, WriterDeps } from '../../../catalog/change.ts';
import { correctNotes } from '../../../releases/publish/correct-notes.ts';
import { changeRollout, type RolloutAction } from '../../../releases/rollouts/change-rollout.ts';
import { changeStatus, type StatusChanged } from '../../../releases/withdraw/change-status.ts';
import { planRollback, type Rollback, rollBack } from '../../../releases/withdraw/roll-back.ts';
import type { Change } from '../change-answers.ts';
import { isRolloutWord } from './command-line.ts';

/** The outcome of a change that was made, or only rehearsed in memory. */
export interface Made extends Committed {
  readonly status?: StatusChanged;
  readonly rollback?: Rollback;
  /** The channels whose rollout was changed, with the shares before and after. */
  readonly rollouts?: Awaited<ReturnType<typeof changeRollout>>['channels'];
}

/**
 * Makes a change with the operation of the command of the same name.
 *
 * @throws AppError those of the operation; `state_changed`
 */
export async function makeChange(
  deps: WriterDeps,
  application: string,
  change: Change,
): Promise<Made> {
  const { reason } = change;
  switch (change.kind) {
    case 'pause':
    case 'resume':
    case 'yank': {
      const channel = change.channel ?? undefined;
      const request = { application, version: change.version, channel, reason };
      const status = await changeStatus(deps, change.kind, request);
      return { ...status, status };
    }
    case 'rollback': {
      const request = { application, to: change.to, channel: change.channel, reason };
      // The plan is the one that the operator saw: a newer revision is refused.
      const { withdrawn } = await planRollback(deps, request);
      const rollback = await rollBack(deps, request, withdrawn);
      return { ...rollback, rollback };
    }
    case 'rollout': {
      const { version, channel } = change;
      const request = { application, version, channel, reason, action: actionOf(change) };
      const { channels, ...committed } = await changeRollout(deps, request);
      return { ...committed, rollouts: channels };
    }
    case 'notes': {
      const { version, locale, markdown } = change;
      const edit =
        markdown === null
          ? { set: {}, remove: [locale] }
          : { set: { [locale]: markdown }, remove: [] };
      return correctNotes(deps, { application, version, ...edit, reason });
    }
  }
}

function actionOf({
  plan,
  freezeWindows,
}: Extract<Change, { readonly kind: 'rollout' }>): RolloutAction {
  if (isRolloutWord(plan)) return { kind: plan };
  return { kind: 'start', requested: { text: plan, freezeWindows } };
}
