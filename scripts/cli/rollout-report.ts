import type { StagedShare } from '../../src/build-output/build-output.ts';
import { ALL_CLIENTS } from '../../src/domain/rollout.ts';
import { shareText } from '../../src/domain/rollout-text.ts';
import { AppError } from '../../src/errors.ts';
import { describeRollout } from '../../src/operations/describe-rollout.ts';
import type { RequestedRollout } from '../../src/operations/start-rollout.ts';
import { formatTime } from './output.ts';

/** How commands ask for a rollout, and describe one. */

/** @throws AppError `invalid_request` for freeze windows without a rollout */
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
  // Two decimals, as in a percentage that a publisher writes.
  const percentage = Math.round((staged?.percentage ?? 100) * 100) / 100;
  if (percentage === 100) return undefined;
  return { text: `${percentage}%`, freezeWindows: [], isFromBuild: true };
}

type OfferRollout = Parameters<typeof describeRollout>[0];

export const EVERY_CLIENT = 'every client';

/** `25%`, or {@link EVERY_CLIENT} when no client has to wait. */
export function presentShare(rollout: OfferRollout, now: number): string {
  const { share } = describeRollout(rollout, now);
  return share === ALL_CLIENTS ? EVERY_CLIENT : shareText(share);
}

/** Like {@link presentShare}; `no client` for an offer that is not active. */
export function offeredTo(
  { status, rollout }: { readonly status: string; readonly rollout?: OfferRollout },
  now: number,
): string {
  return status === 'active' ? presentShare(rollout, now) : 'no client';
}

/** What is planned: `50% from 2026-11-22 10:00:00Z, 100% from …`, `frozen`, or nothing. */
export function plannedShares(rollout: OfferRollout, now: number): string {
  const { isFrozen, isLinear, planned } = describeRollout(rollout, now);
  if (isFrozen) return 'frozen';
  const to = isLinear ? 'by' : 'from';
  return planned
    .map(({ at, share }) => `${shareText(share)} ${to} ${formatTime(isoOf(at))}`)
    .join(', ');
}

/** In whole seconds. */
function isoOf(at: number): string {
  return new Date(Math.round(at / 1000) * 1000).toISOString();
}
