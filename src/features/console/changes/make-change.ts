import type { Committed, WriterDeps } from '../../../catalog/writing/change.ts';
import { listed } from '../../../core/counted.ts';
import { AppError } from '../../../core/errors.ts';
import { correctNotes } from '../../../releases/publish/correct-notes.ts';
import { changeRollout, type RolloutAction } from '../../../releases/rollouts/change-rollout.ts';
import { whenLive } from '../../../releases/when-live.ts';
import { changeStatus, type StatusChanged } from '../../../releases/withdraw/change-status.ts';
import { planRollback, type Rollback, rollBack } from '../../../releases/withdraw/roll-back.ts';
import type { Changed } from '../answers.ts';
import type { Change, ChangeRequest } from './change-request.ts';

/** The outcome of a change that was made, or only rehearsed in memory. */
export interface Made extends Committed {
  readonly status?: StatusChanged;
  readonly rollback?: Rollback;
  /** The channels whose rollout the change has changed, with the shares before and after. */
  readonly rollouts?: Awaited<ReturnType<typeof changeRollout>>['channels'];
}

/**
 * Makes a change with the same operation as the command for this change.
 *
 * @throws AppError `state_changed`; an error of the operation
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
      // This plan equals the plan that the operator saw, because a newer revision is refused.
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

const ROLLOUT_WORDS = ['freeze', 'unfreeze', 'complete'] as const;
type RolloutWord = (typeof ROLLOUT_WORDS)[number];

export function isRolloutWord(plan: string): plan is RolloutWord {
  return (ROLLOUT_WORDS as readonly string[]).includes(plan);
}

/** Refuses the change when the catalog is newer than the revision that the operator saw. */
export function seeing(writer: WriterDeps, { change, revision }: ChangeRequest): WriterDeps {
  if (revision !== null) return { ...writer, seenRevision: revision };
  // A pause is safe in any revision, and a bad release must be paused quickly.
  if (change.kind === 'pause') return writer;
  throw new AppError(
    'invalid_request',
    'The request must name the catalog revision that the change was decided on.',
  );
}

export function changedOf(
  { changed, revision, announced, status }: Made,
  settings: { readonly catalogPollMs: number },
): Changed {
  return {
    changed,
    revision,
    sentences: changed
      ? [
          `The change was made${status === undefined ? '' : ` on ${listed(status.channels)}`} in catalog revision ${revision}.`,
          whenLive(settings, announced),
        ]
      : ['Nothing was changed: the catalog is already in this state.'],
  };
}
