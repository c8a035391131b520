import { describe, expect, it } from 'vitest';
import { spansUntil } from '../../../src/features/demo/count-usage.ts';
import { after, hoursAgo, on } from '../../../src/features/demo/demo-application.ts';
import { DAY_MS, HOUR_MS, isWeekend, timesOf } from '../../../src/features/demo/demo-time.ts';
import { DEMO_APPLICATIONS } from '../../../src/features/demo/fill-demo-store.ts';

const SATURDAY = Date.parse('2026-11-21T09:30:00Z');

describe('the times of the demo', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('are in order and end before the end, %i days on', (day) => {
    const endsAt = SATURDAY + day * DAY_MS;
    for (const { steps } of DEMO_APPLICATIONS) {
      const times = timesOf(steps, endsAt);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.at(-1)).toBeLessThan(endsAt);
      const onWeekends = times.filter(
        (at, index) => isWeekend(at) && 'days' in (steps[index]?.at ?? {}),
      );
      expect(onWeekends).toEqual([]);
    }
  });

  it('move from a weekend to the nearest working day, and stay in order', () => {
    const steps = [on(7, '08:00'), on(6, '08:00'), after(2), hoursAgo(1)].map((at) => ({ at }));
    expect(timesOf(steps, SATURDAY).map((at) => new Date(at).toISOString())).toEqual([
      '2026-11-13T08:00:00.000Z',
      '2026-11-16T08:00:00.000Z',
      '2026-11-16T10:00:00.000Z',
      '2026-11-21T08:30:00.000Z',
    ]);
  });

  it.each([SATURDAY, Date.parse('2026-11-23T00:10:00Z')])(
    'are counted without a gap until %i',
    (endsAt) => {
      const spans = spansUntil(endsAt);
      for (const [index, { from, to }] of spans.entries()) {
        expect(to).toBeGreaterThan(from);
        expect(to).toBe(spans[index + 1]?.from ?? endsAt);
      }
      expect(endsAt - (spans[0]?.from ?? 0)).toBeGreaterThan(41 * DAY_MS);
      expect(endsAt - (spans.at(-1)?.from ?? 0)).toBe(HOUR_MS);
    },
  );
});
