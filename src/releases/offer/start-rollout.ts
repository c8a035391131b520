import { type RolloutJson, rolloutJsonOf } from '../../catalog/documents/rollout-document.ts';
import { AppError } from '../../core/errors.ts';
import { type PlanClock, type RolloutPlan, rampOf } from '../../domain/rollout-plan.ts';
import { parseRollout } from '../../domain/rollout-text.ts';

/** A rollout in the words of the publisher: `parseRollout` reads them. */
export interface RequestedRollout {
  readonly text: string;
  readonly freezeWindows: readonly string[];
  /** True when the build tool states the rollout, and not the command. */
  readonly isFromBuild?: boolean;
}

/** The start of a rollout: its time, and the salt that decides which installations are the first. */
export interface RolloutStart {
  /** By the store's clock; milliseconds since the epoch. */
  readonly now: number;
  /** A random text. With the salt of an earlier rollout, the same installations are the first. */
  readonly salt: string;
}

/** @throws AppError `invalid_rollout` */
export function startRollout(
  { now, salt }: RolloutStart,
  { text, freezeWindows }: RequestedRollout,
): RolloutJson {
  const plan = parseRollout(text, freezeWindows, now);
  const started: PlanClock = { at: now, elapsedMs: 0, isRunning: true };
  refuseEndless(plan, started);
  return rolloutJsonOf(salt, plan, started);
}

function refuseEndless(plan: RolloutPlan, started: PlanClock): void {
  const planned = plan.steps.at(-1)?.share;
  const reached = rampOf(plan, started).points.at(-1)?.share;
  if (planned === reached) return;
  const detail =
    'The plan cannot reach its last step, because the freeze windows leave too little time between them. Use fewer or shorter freeze windows.';
  throw new AppError('invalid_rollout', detail, { issues: [{ pointer: '/rollout', detail }] });
}

/** True when two rollouts have the same plan, whenever they began. */
export function haveSamePlan(a: RolloutJson, b: RolloutJson): boolean {
  return JSON.stringify([a.plan, a.freeze_windows]) === JSON.stringify([b.plan, b.freeze_windows]);
}
