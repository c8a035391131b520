import type { StagedShare } from '../../builds/build-output.ts';
import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { readApplications } from '../../catalog/reading/read.ts';
import { EVERY_CLIENT, plannedShares, presentShare } from '../../catalog/reading/rollout-text.ts';
import { AppError } from '../../core/errors.ts';
import { type RequestedRollout, startRollout } from '../../releases/offer/start-rollout.ts';
import type { Context } from '../context.ts';
import type { RolloutOptions } from '../ignored-options.ts';

/**
 * The rollout that the options of a command ask for. Reads them also where they have no effect, so that a mistake in
 * them is refused in each state of the catalog.
 *
 * @throws AppError `invalid_rollout`; `invalid_request` for freeze windows without a plan; `store_unavailable`
 */
export async function requestedRollout(
  { rollout, freezeWindow: freezeWindows = [] }: RolloutOptions,
  context: Pick<Context, 'store' | 'clock' | 'trust' | 'skipCorrupt'>,
): Promise<RequestedRollout | undefined> {
  if (freezeWindows.length > 0 && rollout?.includes('@') !== true)
    throw windowWithoutPlan('--rollout');
  if (rollout === undefined) return undefined;
  const requested = { text: rollout, freezeWindows };
  // The times of a plan count by the store's clock, which is known after the store's first answer.
  if (context.store.clockOffsetMs?.() === undefined) await readApplications(context);
  startRollout({ now: context.clock.now(), salt: '' }, requested);
  return requested;
}

/** A percentage does not change over time, so a freeze window would have no effect on it. */
export function windowWithoutPlan(option: '--rollout' | '--plan'): AppError {
  const why = `--freeze-window needs a plan: add ${option} "5%@0h,25%@6h,100%@48h", with percentages and times of your own.`;
  return new AppError('invalid_request', why);
}

/** Says to which share of the clients a release is offered, unless it is offered to all. */
export function shareSentences(
  {
    application,
    version,
    channel,
    status,
    rollout,
  }: Pick<OfferJson, 'rollout'> &
    Readonly<Record<'application' | 'version' | 'channel' | 'status', string>>,
  now: number,
): readonly string[] {
  const share = presentShare(rollout, now);
  if (status !== 'active' || share === EVERY_CLIENT) return [];
  const planned = plannedShares(rollout, now);
  return [
    `${application} ${version} is offered to ${share} of the installations of ${channel}. ${nextOf(`${version}${optionOf(channel)}`, planned)}`,
  ];
}

/** @param planned see `plannedShares` */
function nextOf(release: string, planned: string): string {
  if (planned === '')
    return `To offer it to every client, run slipway rollout ${release} --complete.`;
  if (planned !== 'frozen') return `The plan is: ${planned}.`;
  return `The rollout is frozen. To let its plan go on, run slipway rollout ${release} --unfreeze.`;
}

/** The rollout that the build tool's feeds state. */
export function statedRollout(staged: StagedShare | null): RequestedRollout | undefined {
  // Rounds to two decimals, because a percentage that a publisher writes also has at most two decimals.
  const percentage = Math.round((staged?.percentage ?? 100) * 100) / 100;
  if (percentage === 100) return undefined;
  return { text: `${percentage}%`, freezeWindows: [], isFromBuild: true };
}
