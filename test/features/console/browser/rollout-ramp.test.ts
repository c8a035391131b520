import { describe, expect, it } from 'vitest';
import { shares, stack } from '../../../../src/features/console/browser/parts/stack.ts';
import {
  cornersOf,
  plateausOf,
  presentStage,
  type Ramp,
  shareAt,
  spanOf,
} from '../../../../src/features/console/browser/screens/rollout-ramp.ts';

const HOUR = 3_600_000;
const at = (hours: number) => new Date(hours * HOUR).toISOString();
const points = [
  { at: at(0), share: 500 },
  { at: at(10), share: 5_000 },
  { at: at(20), share: 10_000 },
];
const steps: Ramp = { points, isLinear: false };
const linear: Ramp = { points, isLinear: true };

describe('the picture of a ramp', () => {
  it.each([
    [steps, -1, 0],
    [steps, 5, 500],
    [steps, 10, 5_000],
    [steps, 99, 10_000],
    [linear, -1, 0],
    [linear, 5, 2_750],
    [linear, 99, 10_000],
    [{ points: [], isLinear: false }, 5, 0],
  ])('has the share of a time', (ramp, hours, share) => {
    expect(shareAt(ramp, hours * HOUR)).toBe(share);
  });

  it('shows the whole ramp and the present time, with room at both ends', () => {
    const span = spanOf(steps, 30 * HOUR);
    expect(span.from).toBeLessThan(0);
    expect(span.to).toBeGreaterThan(30 * HOUR);
    const single = spanOf({ points: points.slice(0, 1), isLinear: false }, 0);
    expect(single.to).toBeGreaterThan(single.from);
  });

  it('finds the stage of a plan that holds now', () => {
    const stages = [...points, { at: null, share: 10_000 }];
    const hours = [-1, 0, 12, 99];
    const found = hours.map((hour) => presentStage({ stages, isLinear: false }, hour * HOUR));
    expect(found).toEqual([-1, 0, 1, 2]);
    expect(presentStage({ stages, isLinear: true }, 12 * HOUR)).toBe(-1);
  });

  it('draws steps with two corners each, and a linear ramp with one', () => {
    const span = { from: 0, to: 40 * HOUR };
    expect(cornersOf(steps, span)).toEqual([
      [0, 0],
      [0, 0.05],
      [0.25, 0.05],
      [0.25, 0.5],
      [0.5, 0.5],
      [0.5, 1],
      [1, 1],
    ]);
    expect(cornersOf(linear, span)).toEqual([
      [0, 0],
      [0, 0.05],
      [0.25, 0.5],
      [0.5, 1],
      [1, 1],
    ]);
  });

  it('marks where a linear ramp stands still', () => {
    const still = [...points.slice(0, 1), { at: at(5), share: 500 }, ...points.slice(1)];
    const span = { from: 0, to: 40 * HOUR };
    expect(plateausOf({ points: still, isLinear: true }, span)).toEqual([[0, 0.125]]);
    expect(plateausOf(steps, span)).toEqual([]);
  });
});

describe('a stacked chart', () => {
  const layers = [
    { name: 'new', values: [1, 2] },
    { name: 'old', values: [3, 0] },
  ];

  it('puts each layer on those after it', () => {
    expect(stack(layers)).toEqual([
      [4, 2],
      [3, 0],
    ]);
  });

  it('shows shares, and none where nothing was counted', () => {
    expect(
      shares([...layers, { name: 'none', values: [0, 0] }]).map(({ values }) => values),
    ).toEqual([
      [0.25, 1],
      [0.75, 0],
      [0, 0],
    ]);
    expect(shares([{ name: 'a', values: [0] }])[0]?.values).toEqual([0]);
  });
});
