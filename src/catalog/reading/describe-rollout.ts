import { ALL_CLIENTS, type Share, shareAt } from '../../domain/rollout.ts';
import type { OfferJson } from '../documents/revision-document.ts';
import { storedRamp } from '../documents/rollout-document.ts';

/** The state of the rollout of an offer, and its plan. */
export interface DescribedRollout {
  readonly share: Share;
  readonly isFrozen: boolean;
  /** True when the share grows evenly from one planned share to the next. */
  readonly isLinear: boolean;
  /**
   * The larger shares that the plan reaches later, each with the time from which it applies; milliseconds since the
   * epoch.
   */
  readonly planned: readonly { readonly at: number; readonly share: Share }[];
}

/** @param now the time by the store's clock; milliseconds since the epoch */
export function describeRollout(rollout: OfferJson['rollout'], now: number): DescribedRollout {
  if (rollout === undefined) {
    return { share: ALL_CLIENTS, isFrozen: false, isLinear: false, planned: [] };
  }
  const ramp = storedRamp(rollout);
  const share = shareAt(ramp, now);
  const later = ramp.points.filter(({ at }) => at > now);
  // Leaves out points that do not change the share, such as the ends of freeze windows.
  const planned = later.filter((point, index) => point.share > (later[index - 1]?.share ?? share));
  return { share, isFrozen: !rollout.clock.running, isLinear: ramp.isLinear, planned };
}
