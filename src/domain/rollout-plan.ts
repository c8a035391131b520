import { type FreezeWindow, freezeAt } from './freeze-window.ts';
import { NO_CLIENTS, type Ramp, type RampPoint, type Share } from './rollout.ts';

/** Computes the share of a rollout from the plan of its publisher. */

export interface RolloutStep {
  readonly share: Share;
  /** The run time of the plan at the step; milliseconds. */
  readonly afterMs: number;
}

/** The plan of a publisher. The steps go forward in time, and no share is smaller than the one before. */
export interface RolloutPlan {
  /** As the publisher wrote it. */
  readonly text: string;
  readonly steps: readonly RolloutStep[];
  /** True when the share grows evenly between two steps; otherwise it stays until the next step. */
  readonly isLinear: boolean;
  /** The plan's clock stops during these windows. */
  readonly windows: readonly FreezeWindow[];
}

/** The progress of a plan. */
export interface PlanClock {
  /** The time at which the clock was read, by the store's time; milliseconds since the epoch. */
  readonly at: number;
  /** The run time of the plan at that time; milliseconds. */
  readonly elapsedMs: number;
  /** False while the publisher has frozen the rollout. */
  readonly isRunning: boolean;
}

/** The longest time that a plan may run. The time in freeze windows does not count. */
export const PLAN_LENGTH_MAX_MS = 366 * 24 * 3_600_000;
export const STEPS_MAX = 50;
/**
 * Limits the work when freeze windows leave hardly any time between them: after this many windows, the computed share
 * no longer grows.
 */
const WINDOWS_PASSED_MAX = 1_000;

/** The share for a plan that has run this long. */
function shareAfter({ steps, isLinear }: RolloutPlan, elapsedMs: number): Share {
  const next = steps.findIndex(({ afterMs }) => afterMs > elapsedMs);
  const reached = steps.at(next < 0 ? -1 : next - 1);
  if (next === 0 || reached === undefined) return NO_CLIENTS;
  const following = next < 0 ? undefined : steps[next];
  return isLinear && following !== undefined
    ? between(reached, following, elapsedMs)
    : reached.share;
}

function between(from: RolloutStep, to: RolloutStep, elapsedMs: number): Share {
  // This is the same arithmetic as in `shareAt`. If it rounded differently, reading the clock could lower the share and
  // take an offer back.
  const growth = (to.share - from.share) * (elapsedMs - from.afterMs);
  return Math.floor(from.share + growth / (to.afterMs - from.afterMs));
}

/**
 * The ramp of a plan, from the moment when the plan's clock was read. Before this moment, the ramp has the share of
 * this moment, so that a process whose own clock is late does not take an offer back.
 */
export function rampOf(plan: RolloutPlan, clock: PlanClock): Ramp {
  const { at, elapsedMs, isRunning } = clock;
  const points: RampPoint[] = [{ at, share: shareAfter(plan, elapsedMs) }];
  if (!isRunning) return { points, isLinear: false };
  let [now, elapsed, passed] = [at, elapsedMs, 0];
  for (const step of plan.steps.filter(({ afterMs }) => afterMs > elapsedMs)) {
    while (elapsed < step.afterMs) {
      const { isFrozen, until } = freezeAt(plan.windows, now);
      if (isFrozen) {
        if (++passed > WINDOWS_PASSED_MAX) return { points, isLinear: plan.isLinear };
        const share = shareAfter(plan, elapsed);
        points.push({ at: now, share }, { at: until, share });
        now = until;
      } else {
        const runMs = Math.min(step.afterMs - elapsed, until - now);
        now += runMs;
        elapsed += runMs;
      }
    }
    // A linear plan grows between its steps, and not before the first one.
    if (step === plan.steps[0]) points.push({ at: now, share: NO_CLIENTS });
    points.push({ at: now, share: step.share });
  }
  return { points, isLinear: plan.isLinear };
}

/** The run time of the plan at a time; milliseconds. @param clock an earlier reading of its clock */
export function elapsedAt(plan: RolloutPlan, clock: PlanClock, now: number): number {
  const { at, elapsedMs, isRunning } = clock;
  return isRunning ? elapsedMs + runningMs(plan.windows, at, now) : elapsedMs;
}

/** The time between two moments, without the time in windows; 0 when the second moment is not later. */
export function runningMs(windows: readonly FreezeWindow[], from: number, to: number): number {
  let [now, running, passed] = [from, 0, 0];
  while (now < to && passed <= WINDOWS_PASSED_MAX) {
    const { isFrozen, until } = freezeAt(windows, now);
    const stop = Math.min(until, to);
    if (isFrozen) passed += 1;
    else running += stop - now;
    now = stop;
  }
  return running;
}
