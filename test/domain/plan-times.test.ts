import { describe, expect, it } from 'vitest';
import type { Offer, OfferStatus } from '../../src/domain/offer.ts';
import { planTimes } from '../../src/domain/plan-times.ts';
import { rampOf } from '../../src/domain/rollout-plan.ts';
import { parseRollout } from '../../src/domain/rollout-text.ts';
import { parseVersion } from '../../src/domain/version.ts';

const HOUR = 3_600_000;
/** A Friday at noon. */
const NOW = Date.parse('2026-11-20T12:00:00Z');

function planned(text: string, windows: readonly string[] = [], status: OfferStatus = 'active') {
  const plan = parseRollout(text, windows, NOW);
  const ramp = rampOf(plan, { at: NOW, elapsedMs: 0, isRunning: true });
  const offer: Offer = {
    version: parseVersion('1.0.0'),
    status,
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: null,
    mandatoryFor: null,
    endsNative: [],
    artifacts: [],
    rollout: { seed: 1, ramp },
  };
  return offer;
}

/** In hours from now; steps with a star. */
const hoursOf = (offers: readonly Offer[], timesMax = 24, now = NOW) =>
  planTimes(offers, now, timesMax).map(
    ({ at, isStep }) => `${(at - NOW) / HOUR}${isStep ? '*' : ''}`,
  );

describe('the times of plans', () => {
  it('are now and the steps to come', () => {
    const offer = planned('1%@0h,10%@6h,100%@48h');
    expect(hoursOf([offer])).toEqual(['0', '6*', '48*']);
    expect(hoursOf([offer], 24, NOW + 7 * HOUR)).toEqual(['7', '48*']);
    expect(hoursOf([planned('25%')])).toEqual(['0']);
    expect(hoursOf([])).toEqual(['0']);
  });

  it('leave out releases that are not offered', () => {
    expect(hoursOf([planned('1%@0h,100%@48h', [], 'paused')])).toEqual(['0']);
  });

  it('have the starts and ends of freeze windows, and times between the steps of linear plans', () => {
    const window = ['Fri 16:00..Fri 20:00 UTC'];
    expect(hoursOf([planned('1%@0h,100%@6h', window)])).toEqual(['0', '4', '8', '10*']);
    expect(hoursOf([planned('linear 1%@0h,100%@8h')])).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8*',
    ]);
  });

  it('are one when they are close', () => {
    const [first, second] = [planned('1%@0h,100%@6h'), planned('1%@0h,100%@6h')];
    const later = second.rollout?.ramp.points.map(({ at, share }) => ({ at: at + 500, share }));
    const shifted = {
      ...second,
      rollout: { seed: 2, ramp: { points: later ?? [], isLinear: false } },
    };
    const times = planTimes([first, shifted], NOW + 1_000, 24);
    expect(times.map(({ at }) => at - NOW)).toEqual([1_000, 6 * HOUR + 500]);
  });

  it('are bounded, and keep the last step', () => {
    const steps = Array.from({ length: 40 }, (_, index) => `${index + 1}%@${index + 1}h`);
    const hours = hoursOf([planned(`${steps.join(',')},100%@100h`)], 10);
    expect(hours).toHaveLength(10);
    expect([hours[0], hours.at(-1)]).toEqual(['0', '100*']);
    expect(hoursOf([planned('linear 1%@0h,50%@8h,100%@16h')], 5)).toHaveLength(5);
  });
});
