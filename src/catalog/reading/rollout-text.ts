import { formatTime, isoOf } from '../../core/time-text.ts';
import { ALL_CLIENTS } from '../../domain/rollout.ts';
import { shareText } from '../../domain/rollout-text.ts';
import { describeRollout } from './describe-rollout.ts';

/** The state of a rollout, in words. */

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

/** The share of the clients that are offered the release now, such as `25%`; null when its status stops it. */
export function offeredShare(
  { status, rollout }: { readonly status: string; readonly rollout?: OfferRollout },
  now: number,
): string | null {
  return status === 'active' ? shareText(describeRollout(rollout, now).share) : null;
}

/** The plan: `50% from 2026-11-22 10:00:00Z, 100% from …`, `frozen`, or nothing. */
export function plannedShares(rollout: OfferRollout, now: number): string {
  const { isFrozen, isLinear, planned } = describeRollout(rollout, now);
  if (isFrozen) return 'frozen';
  const to = isLinear ? 'by' : 'from';
  return planned
    .map(({ at, share }) => {
      const second = Math.round(at / 1000) * 1000;
      return `${shareText(share)} ${to} ${formatTime(isoOf(second))}`;
    })
    .join(', ');
}
