import { z } from 'zod';
import { type FreezeWindow, parseFreezeWindow } from '../../domain/freeze-window.ts';
import { BUCKETS, bucketSeed } from '../../domain/installation-bucket.ts';
import { ALL_CLIENTS, type Ramp, type Rollout } from '../../domain/rollout.ts';
import {
  elapsedAt,
  type PlanClock,
  type RolloutPlan,
  rampOf,
  STEPS_MAX,
} from '../../domain/rollout-plan.ts';
import { timeSchema } from './manifest-document.ts';

/** The rollout of an offer, as a catalog revision states it. */

export const rolloutSchema = z
  .object({
    salt: z
      .string()
      .min(1)
      .max(64)
      .describe('Chosen once for the offer. It decides which installations are the first.'),
    plan: z.string().max(4_000).describe('As the publisher wrote it.'),
    steps: z
      .array(
        z.object({
          share: z.int().min(0).max(BUCKETS).describe('In 1/100 % of all installations.'),
          after_seconds: z.int().nonnegative().describe('Of the time that the plan has run.'),
        }),
      )
      .min(1)
      .max(STEPS_MAX),
    linear: z.boolean().describe('Whether the share grows evenly between two steps.'),
    freeze_windows: z
      .array(z.string().refine((text) => parseFreezeWindow(text) !== undefined))
      .describe(
        'The plan stands still in them: `Fri 16:00..Mon 08:00 Europe/Berlin`, by the IANA name of the zone.',
      ),
    clock: z
      .object({
        at: timeSchema,
        elapsed_ms: z.int().nonnegative().describe('How long the plan had run then.'),
        running: z.boolean().describe('False while the publisher has frozen the rollout.'),
      })
      .describe("Where the plan stood, by the store's clock."),
  })
  .describe('Absent: every client is offered the release.');

export type RolloutJson = z.output<typeof rolloutSchema>;

export function rolloutJsonOf(salt: string, plan: RolloutPlan, clock: PlanClock): RolloutJson {
  return {
    salt,
    plan: plan.text,
    steps: plan.steps.map(({ share, afterMs }) => ({ share, after_seconds: afterMs / 1000 })),
    linear: plan.isLinear,
    freeze_windows: plan.windows.map(({ text }) => text),
    clock: {
      at: new Date(clock.at).toISOString(),
      elapsed_ms: clock.elapsedMs,
      running: clock.isRunning,
    },
  };
}

function planOf({ plan, steps, linear, freeze_windows: texts }: RolloutJson): RolloutPlan {
  return {
    text: plan,
    steps: steps.map(({ share, after_seconds: seconds }) => ({ share, afterMs: seconds * 1000 })),
    isLinear: linear,
    windows: texts.map(parseFreezeWindow).filter((w): w is FreezeWindow => w !== undefined),
  };
}

export function planClockOf({ clock }: RolloutJson): PlanClock {
  return { at: Date.parse(clock.at), elapsedMs: clock.elapsed_ms, isRunning: clock.running };
}

export function storedRamp(rollout: RolloutJson): Ramp {
  return rampOf(planOf(rollout), planClockOf(rollout));
}

/**
 * The parsed rollouts, by their JSON. Parsing freeze windows takes milliseconds, and each revision repeats the rollouts
 * of the preceding revision.
 */
const parsed = new Map<string, Rollout | null>();
const PARSED_MAX = 10_000;

/** @returns null for an offer to every client */
export function rolloutOf(json: RolloutJson | undefined): Rollout | null {
  if (json === undefined) return null;
  const text = JSON.stringify(json);
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const rollout = readRollout(json);
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(text, rollout);
  return rollout;
}

function readRollout(json: RolloutJson): Rollout | null {
  const ramp = storedRamp(json);
  const [only, ...others] = ramp.points;
  if (only?.share === ALL_CLIENTS && others.length === 0) return null;
  return { seed: bucketSeed(json.salt), ramp };
}

/** Reads the clock of a rollout at `now`: the returned rollout states how long its plan has run. */
export function withClockRead(rollout: RolloutJson, now: number): RolloutJson {
  const clock = planClockOf(rollout);
  return withClock(rollout, {
    ...clock,
    at: now,
    elapsedMs: elapsedAt(planOf(rollout), clock, now),
  });
}

/**
 * Returns the ramp with the steps that the plan passed before its clock was read. The document does not state the
 * pauses, so the times of these steps assume that the plan had no pause until its clock was read.
 *
 * @param isPaused true when the clock of the plan does not run because the release is paused
 */
export function wholeRamp(rollout: RolloutJson, isPaused: boolean): Ramp {
  const clock = planClockOf(rollout);
  const { steps, isLinear } = planOf(rollout);
  const ramp = storedRamp({
    ...rollout,
    clock: { ...rollout.clock, running: rollout.clock.running && !isPaused },
  });
  const passed = steps
    .filter(({ afterMs }) => afterMs < clock.elapsedMs)
    .map(({ share, afterMs }) => ({ at: clock.at - (clock.elapsedMs - afterMs), share }));
  return { points: [...passed, ...ramp.points], isLinear };
}

/**
 * Returns the rollout as if no time had passed between the last reading of its clock and `now`, for example because the
 * release was paused.
 */
export function withClockMoved(rollout: RolloutJson, now: number): RolloutJson {
  return withClock(rollout, { ...planClockOf(rollout), at: now });
}

export function withClock(rollout: RolloutJson, clock: PlanClock): RolloutJson {
  return rolloutJsonOf(rollout.salt, planOf(rollout), clock);
}
