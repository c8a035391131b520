import { describe, expect, it } from 'vitest';
import { isLongList, type OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import {
  REVISION_BYTES_MAX,
  withdrawnBytes,
} from '../../../src/catalog/documents/revision-size.ts';
import { REASON_BYTES_MAX } from '../../../src/domain/reason.ts';
import { startRollout } from '../../../src/releases/offer/start-rollout.ts';
import { refuseExcess } from '../../../src/store/sequence/json.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { offerOf } from './large-revision.ts';

/** Six files with signatures and minimum systems. */
const sixFiles = (number: number): OfferJson => ({
  ...offerOf(number),
  artifacts: offerOf(number).artifacts.filter(({ format }) => format === 'zip'),
});
const withRollout = (number: number): OfferJson => {
  const start = { now: createFixedClock().now(), salt: createSeededRandomness(1).id() };
  const rollout = { text: '10%@0h,50%@1d,100%@2d', freezeWindows: [] };
  return {
    ...sixFiles(number),
    requires: null,
    mandatory_for: null,
    rollout: startRollout(start, rollout),
  };
};

describe('the size of a catalog revision', () => {
  it.each([
    ['5,000 offers of six files', 5_000, sixFiles],
    ['4,500 offers of six files with rollouts', 4_500, withRollout],
    ['3,700 offers of twelve files', 3_700, offerOf],
  ])(
    'has room for %s, all of which can be yanked with the longest reason',
    (_name, count, make) => {
      const offers = Array.from({ length: count }, (_, index) => make(index + 1));
      const channels = { stable: { inherits: null, offers, retired: [] } };
      expect(withdrawnBytes(channels)).toBeLessThanOrEqual(REVISION_BYTES_MAX);
      const reason = '"'.repeat(REASON_BYTES_MAX);
      const yanked = offers.map((offer) => ({ ...offer, status: 'yanked' as const, reason }));
      const worst = JSON.stringify({ stable: { inherits: null, offers: yanked, retired: [] } });
      expect(worst.length).toBeLessThanOrEqual(withdrawnBytes(channels));
    },
  );

  it('has room for every draft to be offered with a long plan, and yanked', () => {
    const { status: _status, reason: _reason, ...statement } = offerOf(1);
    const step = (index: number) => `${index}%@${index * 100}h`;
    const text = Array.from({ length: 50 }, (_, index) => step(index)).join(',');
    const windows = ['Fri 16:00..Mon 08:00 Europe/Berlin'];
    const draft = {
      ...statement,
      since: '2026-11-21T09:00:00.000Z',
      opens: 'when_complete' as const,
      rollout: { text, freeze_windows: windows },
    };
    const start = { now: createFixedClock().now(), salt: createSeededRandomness(1).id() };
    const rollout = startRollout(start, { text, freezeWindows: windows });
    expect(rollout.steps).toHaveLength(50);
    const reason = '"'.repeat(REASON_BYTES_MAX);
    const yanked = { ...offerOf(1), status: 'yanked' as const, reason, rollout };
    const before = { stable: { inherits: null, offers: [], retired: [], drafts: [draft] } };
    const worst = JSON.stringify({ stable: { inherits: null, offers: [yanked], retired: [] } });
    const fixed = withdrawnBytes({ stable: { inherits: null, offers: [], retired: [] } });
    expect(worst.length).toBeLessThanOrEqual(withdrawnBytes(before) - fixed + 50);
  });

  it('has short lists of expected targets, also in drafts, whose schema checks all targets at once', () => {
    const targets = JSON.stringify(Array.from({ length: 5_000 }, () => 0));
    const refused = 'has a list or an object of more than 4096 items';
    for (const text of [`{"expect":${targets}}`, `{"drafts":[{"expect":${targets}}]}`]) {
      expect(() => refuseExcess(Buffer.from(text), isLongList)).toThrow(refused);
    }
    expect(() => refuseExcess(Buffer.from(`{"offers":${targets}}`), isLongList)).not.toThrow();
  });
});
