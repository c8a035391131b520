import type { Clock } from '../../core/clock.ts';
import type { DemoTime } from './demo-application.ts';

/** The time in the demo store. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The minimum time between two steps of one application. */
const GAP_MIN_MS = 10 * 60_000;

/** True on Saturday and Sunday (UTC). */
export function isWeekend(ms: number): boolean {
  return [0, 6].includes(new Date(ms).getUTCDay());
}

/**
 * The time of each step, in milliseconds since the Unix epoch. A step that was moved because of a weekend still comes
 * after the step before it.
 *
 * @param endsAt milliseconds since the Unix epoch
 */
export function timesOf(
  steps: readonly { readonly at: DemoTime }[],
  endsAt: number,
): readonly number[] {
  let last = Number.NEGATIVE_INFINITY;
  return steps.map(({ at }) => {
    const stated = 'afterHours' in at ? last + at.afterHours * HOUR_MS : timeOf(at, endsAt);
    last = Math.max(stated, last + GAP_MIN_MS);
    return last;
  });
}

function timeOf(at: Exclude<DemoTime, { afterHours: number }>, endsAt: number): number {
  if ('hours' in at) return endsAt - at.hours * HOUR_MS;
  const [hours = 0, minutes = 0] = at.time.split(':').map(Number);
  const day = Math.floor(endsAt / DAY_MS) * DAY_MS - at.days * DAY_MS;
  const moved = { 0: day + DAY_MS, 6: day - DAY_MS }[new Date(day).getUTCDay()] ?? day;
  return moved + hours * HOUR_MS + minutes * 60_000;
}

/** A clock whose time changes only when a caller sets it or sleeps. */
export interface DemoClock extends Clock {
  /** @param ms milliseconds since the Unix epoch */
  set(ms: number): void;
}

/**
 * @param sleep waits in real time, so that the retries of a failing store end; the clock then moves by the same time
 */
export function createDemoClock(sleep: Clock['sleep'], start: number): DemoClock {
  let now = start;
  return {
    now: () => now,
    set: (ms) => {
      now = ms;
    },
    sleep: async (ms, signal) => {
      await sleep(ms, signal);
      now += Math.ceil(ms);
    },
  };
}
