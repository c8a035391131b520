import type { Offer } from './offer.ts';
import { type Ramp, shareAt } from './rollout.ts';

/** Finds the moments that show how the rollouts of a channel proceed. */

/** Moments that are closer than this count as one: plans that begin with one command differ by milliseconds. */
const CLOSE_MS = 60_000;
/** The number of parts into which the growth between two points of a linear ramp is divided. */
const LINEAR_PARTS = 8;

export interface PlanTime {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True when a plan has a step at this moment. */
  readonly isStep: boolean;
}

/** Moments, grouped by importance. */
interface Moments {
  readonly steps: readonly number[];
  readonly between: readonly number[];
  /** Starts and ends of freeze windows. */
  readonly windows: readonly number[];
}

/**
 * These moments in the order of time: now, the coming steps of the active rollouts, moments between the steps of linear
 * rollouts, and the starts and ends of freeze windows.
 *
 * @param timesMax at least 2; when there are more moments, steps have priority over moments between steps, and these
 *   have priority over freeze windows
 */
export function planTimes(
  offers: Iterable<Offer>,
  now: number,
  timesMax: number,
): readonly PlanTime[] {
  const ramps = [...offers]
    .filter(({ status }) => status === 'active')
    .flatMap(({ rollout }) => rollout?.ramp ?? []);
  const moments = ramps.map((ramp) => momentsOf(ramp, now));
  const steps = thin(withoutClose(moments.flatMap((each) => each.steps)), timesMax - 1);
  let chosen = [now, ...steps];
  for (const kind of ['between', 'windows'] as const) {
    const times = withoutClose(moments.flatMap((each) => each[kind]));
    const further = times.filter((time) => !chosen.some((other) => isClose(other, time)));
    chosen = [...chosen, ...thin(further, timesMax - chosen.length)];
  }
  return chosen.toSorted((a, b) => a - b).map((at) => ({ at, isStep: steps.includes(at) }));
}

function momentsOf(ramp: Ramp, now: number): Moments {
  const { points, isLinear } = ramp;
  const steps: number[] = [];
  const between: number[] = [];
  const windows: number[] = [];
  let before = { at: now, share: shareAt(ramp, now) };
  for (const point of points.filter(({ at }) => at > now)) {
    if (point.share > before.share) {
      steps.push(point.at);
      if (isLinear) between.push(...partsOf(before.at, point.at));
    } else windows.push(point.at);
    before = point;
  }
  return { steps, between, windows };
}

function partsOf(from: number, to: number): readonly number[] {
  return Array.from({ length: LINEAR_PARTS - 1 }, (_, index) =>
    Math.round(from + ((to - from) * (index + 1)) / LINEAR_PARTS),
  );
}

const isClose = (a: number, b: number): boolean => Math.abs(a - b) < CLOSE_MS;

/** Keeps only the last of several close moments. The last moment has the largest shares, because shares only grow. */
function withoutClose(times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted.filter((time, index) => {
    const next = sorted[index + 1];
    return next === undefined || !isClose(time, next);
  });
}

/** At most `timesMax` of the moments, evenly chosen. The last moment is always among them. */
function thin(times: readonly number[], timesMax: number): readonly number[] {
  if (times.length <= timesMax) return times;
  return Array.from({ length: timesMax }, (_, index) => {
    const place = Math.ceil(((index + 1) * times.length) / timesMax) - 1;
    return times[place] ?? 0;
  });
}
