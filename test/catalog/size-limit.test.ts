import { describe, expect, it } from 'vitest';
import {
  REASON_BYTES_MAX,
  REVISION_BYTES_MAX,
  withdrawnBytes,
} from '../../src/catalog/revision-document.ts';
import { changeStatus } from '../../src/operations/change-status.ts';
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
