import { describe, expect, it } from 'vitest';
import {
  REASON_BYTES_MAX,
  REVISION_BYTES_MAX,
  withdrawnBytes,
} from '../../src/catalog/revision-size.ts';
import { changeStatus } from '../../src/operations/change-status.ts';
import { startRollout } from '../../src/operations/start-rollout.ts';
import { createFixedClock, createSeededRandomness } from '../support/clock.ts';
import { offerOf, setUpLarge } from './large-revision.ts';

describe('the size of a catalog revision', () => {
  it('has room for 10,000 offers, all of which can be yanked with the longest reason', () => {
    const offers = Array.from({ length: 10_000 }, (_, index) => offerOf(index + 1));
    const channels = { stable: { inherits: null, offers, retired: [] } };
    expect(withdrawnBytes(channels)).toBeLessThanOrEqual(REVISION_BYTES_MAX);
    const reason = 'x'.repeat(REASON_BYTES_MAX - 2);
    const yanked = offers.map((offer) => ({ ...offer, status: 'yanked' as const, reason }));
    const worst = JSON.stringify({ stable: { inherits: null, offers: yanked, retired: [] } });
    expect(worst.length).toBeLessThanOrEqual(withdrawnBytes(channels));
  });

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
    const deps = { clock: createFixedClock(), randomness: createSeededRandomness(1) };
    const rollout = startRollout(deps, { text, freezeWindows: windows }, undefined);
    expect(rollout.steps).toHaveLength(50);
    const reason = 'x'.repeat(REASON_BYTES_MAX - 2);
    const yanked = { ...offerOf(1), status: 'yanked' as const, reason, rollout };
    const before = { stable: { inherits: null, offers: [], retired: [], drafts: [draft] } };
    const worst = JSON.stringify({ stable: { inherits: null, offers: [yanked], retired: [] } });
    const fixed = withdrawnBytes({ stable: { inherits: null, offers: [], retired: [] } });
    expect(worst.length).toBeLessThanOrEqual(withdrawnBytes(before) - fixed + 50);
  });

  it('refuses a reason above its limit, and states its size', async () => {
    const { deps, offer } = setUpLarge();
    await offer(1);
    const { version } = offerOf(1);
    const request = { application: 'desktop', version, channel: undefined };
    const yank = (reason: string) => changeStatus(deps, 'yank', { ...request, reason });
    await expect(yank('\u0001'.repeat(60))).rejects.toThrow('The reason has 362 bytes');
    await expect(yank('x'.repeat(299))).rejects.toThrow('Shorten it');
    expect((await yank('x'.repeat(298))).changed).toBe(true);
  });
});
