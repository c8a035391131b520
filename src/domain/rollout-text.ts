import { AppError } from '../core/errors.ts';
import { type FreezeWindow, freezeAt, parseFreezeWindow } from './freeze-window.ts';
import { ALL_CLIENTS, NO_CLIENTS, type Share } from './rollout.ts';
import {
  PLAN_LENGTH_MAX_MS,
  type RolloutPlan,
  type RolloutStep,
  runningMs,
  STEPS_MAX,
} from './rollout-plan.ts';
import { parseZonedTime } from './zoned-time.ts';

/** Reads the percentages, plans and freeze windows that publishers write. */

const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { m: HOUR_MS / 60, h: HOUR_MS, d: 24 * HOUR_MS };
const WINDOWS_MAX = 10;
/** Two decimals, because a bucket is 1/100 %. */
const PERCENTAGE = /^(\d{1,3}(?:\.\d{1,2})?)\s*%$/;
const LINEAR = /^linear\s+/i;
/** Matches `5%,25%`, but not `1,5%`. */
const MANY_SHARES = /%\s*,|^linear\s/i;

function refuse(detail: string): AppError {
  return new AppError('invalid_rollout', detail, { issues: [{ pointer: '/rollout', detail }] });
}

/** `5%`, `0.25%`, or `0`. @throws AppError `invalid_rollout` */
export function parseShare(text: string): Share {
  const trimmed = text.trim();
  if (trimmed === '0') return NO_CLIENTS;
  const share = Math.round(Number(PERCENTAGE.exec(trimmed)?.[1] ?? Number.NaN) * 100);
  if (share <= ALL_CLIENTS) return share;
  throw refuse(
    `${JSON.stringify(text.slice(0, 80))} is not a percentage: write 0 to 100 with a percent sign and at most two decimals, such as 5% or 0.25%.`,
  );
}

/** `2500` is `25%`. */
export function shareText(share: Share): string {
  return `${share / 100}%`;
}

/**
 * Parses a percentage that does not change, or a plan: `1%@0h,10%@6h,50%@24h,100%@48h`. A time is relative to the start
 * of the plan (`30m`, `6h`, `2d`), or absolute (`2026-12-01T09:00:00Z`). After the word `linear`, the share grows
 * evenly between the steps.
 *
 * @param windowTexts see {@link parseFreezeWindow}
 * @param now the start of the plan; milliseconds since the epoch
 * @throws AppError `invalid_rollout`
 */
export function parseRollout(
  text: string,
  windowTexts: readonly string[],
  now: number,
): RolloutPlan {
  const windows = parseWindows(windowTexts);
  if (!text.includes('@')) {
    if (MANY_SHARES.test(text.trim())) throw refuseStep(text);
    const steps = [{ share: parseShare(text), afterMs: 0 }];
    return { text: text.trim(), steps, isLinear: false, windows };
  }
  const isLinear = LINEAR.test(text.trim());
  const steps = text
    .trim()
    .replace(LINEAR, '')
    .split(',')
    .map((step) => parseStep(step, (at) => runUntil(windows, now, at)));
  refuseDisorder(steps);
  return { text: text.trim(), steps: withoutPassed(steps), isLinear, windows };
}

/**
 * The run time of a plan at a later time, if the plan starts now. When a window contains that time, the result is the
 * run time just after the window.
 */
function runUntil(windows: readonly FreezeWindow[], now: number, at: number): number {
  const runSeconds = Math.ceil(runningMs(windows, now, at) / 1000);
  return (runSeconds + (freezeAt(windows, at).isFrozen ? 1 : 0)) * 1000;
}

function parseWindows(texts: readonly string[]): readonly FreezeWindow[] {
  if (texts.length > WINDOWS_MAX)
    throw refuse(`At most ${WINDOWS_MAX} freeze windows are possible.`);
  return texts.map((text) => {
    const window = parseFreezeWindow(text);
    if (window !== undefined) return window;
    throw refuse(
      `${JSON.stringify(text.slice(0, 80))} is not a freeze window: write two different moments of a week and a time zone, such as "Fri 16:00..Mon 08:00 Europe/Berlin".`,
    );
  });
}

interface WrittenStep extends RolloutStep {
  /** The absolute time of the step, when it states one; milliseconds since the epoch. */
  readonly at: number | undefined;
}

/**
 * Keeps the last of several steps that the plan reaches at the same moment. The absolute times of such steps passed
 * before the plan began, for example during a long upload, or are in the same freeze window.
 */
function withoutPassed(steps: readonly WrittenStep[]): readonly RolloutStep[] {
  return steps
    .filter(({ afterMs }, index) => steps[index + 1]?.afterMs !== afterMs)
    .map(({ share, afterMs }) => ({ share, afterMs }));
}

function parseStep(text: string, runningUntil: (at: number) => number): WrittenStep {
  const [shareOf = '', time = '', ...rest] = text.split('@');
  const written = rest.length > 0 ? undefined : parseTime(time.trim(), runningUntil);
  if (written === undefined) throw refuseStep(text);
  return { share: parseShare(shareOf), ...written };
}

function refuseStep(text: string): AppError {
  const isPlan = MANY_SHARES.test(text.trim());
  return refuse(
    `${JSON.stringify(text.trim().slice(0, 80))} is not a ${isPlan ? 'plan' : 'step of a plan'}: write each step as a percentage and a time, SHARE@TIME, such as 10%@6h or 10%@2026-12-01T09:00:00Z.`,
  );
}

/** @returns undefined when the text is no time */
function parseTime(
  text: string,
  runningUntil: (at: number) => number,
): Omit<WrittenStep, 'share'> | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  if (count !== undefined && unitMs !== undefined) {
    return { at: undefined, afterMs: Number(count) * unitMs };
  }
  const at = parseZonedTime(text);
  return at === undefined ? undefined : { at, afterMs: runningUntil(at) };
}

function refuseDisorder(steps: readonly WrittenStep[]): void {
  if (steps.length > STEPS_MAX) throw refuse(`A plan has at most ${STEPS_MAX} steps.`);
  for (const [index, { share, afterMs, at }] of steps.entries()) {
    const before = steps[index - 1];
    if (afterMs > PLAN_LENGTH_MAX_MS) throw refuse('A plan takes at most 366 days.');
    if (before === undefined) continue;
    if (share < before.share) {
      throw refuse(
        `The plan lowers the share from ${shareText(before.share)} to ${shareText(share)}. A plan can only raise the share, because clients that have the release keep it. Put the smaller percentage first.`,
      );
    }
    const isLater =
      at !== undefined && before.at !== undefined ? at > before.at : afterMs > before.afterMs;
    if (!isLater) {
      throw refuse(
        `Step ${index + 1} of the plan (${shareText(share)}) does not come after the step before it. Give each step a later time.`,
      );
    }
  }
}
