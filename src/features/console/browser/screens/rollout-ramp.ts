import type { RolloutDetail } from '../../answers.ts';

/** The geometry of a ramp: shares over time. */

export type Ramp = Pick<RolloutDetail, 'points' | 'isLinear'>;

interface Span {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

const HOUR_MS = 3_600_000;

/**
 * The time that the picture shows: from the earliest to the latest of the points and the present, with a margin at both
 * ends.
 */
export function spanOf({ points }: Ramp, now: number): Span {
  const times = [...points.map(({ at }) => Date.parse(at)), now];
  const from = Math.min(...times);
  const to = Math.max(...times);
  const room = Math.max((to - from) * 0.06, HOUR_MS);
  return { from: from - room / 3, to: to + room };
}

/** The share at the time `at`. @returns in 1/100 % */
export function shareAt({ points, isLinear }: Ramp, at: number): number {
  let share = 0;
  for (const [index, point] of points.entries()) {
    const start = Date.parse(point.at);
    if (start > at) break;
    share = point.share;
    const next = points[index + 1];
    if (!isLinear || next === undefined) continue;
    const end = Date.parse(next.at);
    if (end > start) share += (next.share - share) * Math.min(1, (at - start) / (end - start));
  }
  return share;
}

/**
 * The index of the newest stage that has begun; -1 when none has. A linear plan has none either, because its share is
 * between two stages.
 *
 * @param now milliseconds since the epoch
 */
export function presentStage(
  { stages, isLinear }: Pick<RolloutDetail, 'stages' | 'isLinear'>,
  now: number,
): number {
  if (isLinear) return -1;
  return stages.findLastIndex(({ at }) => at !== null && Date.parse(at) <= now);
}

/** @returns the corners of the line. `x` and `y` are from 0 to 1, and `y` grows upwards */
export function cornersOf(ramp: Ramp, { from, to }: Span): readonly (readonly [number, number])[] {
  const x = (at: number) => (at - from) / (to - from);
  const corners: [number, number][] = [];
  let before = 0;
  for (const { at, share } of ramp.points) {
    const place = x(Date.parse(at));
    if (!ramp.isLinear || corners.length === 0) corners.push([place, before]);
    corners.push([place, share / 10_000]);
    before = share / 10_000;
  }
  if (corners.length > 0) corners.push([1, before]);
  return corners;
}

/**
 * The freeze windows of a linear ramp: during a freeze window, the share stays the same.
 *
 * @returns the left and the right end of each freeze window, from 0 to 1
 */
export function plateausOf(ramp: Ramp, span: Span): readonly (readonly [number, number])[] {
  if (!ramp.isLinear) return [];
  return ramp.points.flatMap((point, index) => {
    const next = ramp.points[index + 1];
    if (next === undefined || next.share !== point.share || next.share >= 10_000) return [];
    const place = (at: string) => (Date.parse(at) - span.from) / (span.to - span.from);
    return [[place(point.at), place(next.at)] as const];
  });
}
