import type { StagedShare } from '../../builds/build-output.ts';
import { AppError } from '../../core/errors.ts';
import type { RequestedRollout } from '../../releases/rollouts/start-rollout.ts';

/**
 * The rollout that the options of a command ask for.
 *
 * @throws AppError `invalid_request` for freeze windows without a rollout
 */
export function requestedRollout({
  rollout,
  freezeWindow: freezeWindows = [],
}: {
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}): RequestedRollout | undefined {
  if (rollout !== undefined) return { text: rollout, freezeWindows };
  if (freezeWindows.length === 0) return undefined;
  throw new AppError('invalid_request', '--freeze-window needs a plan: add --rollout.');
}

/** The rollout that the build tool's feeds state. */
export function statedRollout(staged: StagedShare | null): RequestedRollout | undefined {
  // Rounds to two decimals, because a percentage that a publisher writes also has at most two decimals.
  const percentage = Math.round((staged?.percentage ?? 100) * 100) / 100;
  if (percentage === 100) return undefined;
  return { text: `${percentage}%`, freezeWindows: [], isFromBuild: true };
}
