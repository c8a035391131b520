import { describe, expect, it } from 'vitest';
import { adoptionOf } from '../../../src/features/console/views/adoption.ts';

const NOW = Date.parse('2026-11-25T00:20:00Z');

describe('the adoption that the console shows', () => {
  it('says which versions clients run now, whatever they ran in the weeks before', () => {
    const row = (day: string, version: string, checks: number) => ({
      application: 'desktop',
      channel: 'stable',
      platform: 'linux',
      day,
      version,
      checks,
      offers: 0,
      links: 0,
    });
    const rows = [
      row('2026-11-01', '1.0.0', 90_000),
      // At night, today alone has hardly any checks.
      row('2026-11-24', '1.0.0', 200),
      row('2026-11-24', '1.1.0', 700),
      row('2026-11-25', '1.1.0', 50),
      row('2026-11-25', 'other', 50),
    ];
    const usage = { rows, countedSince: 0, newestAt: NOW, unreadable: [], problem: null };
    const request = { application: 'desktop', days: 42, channel: undefined };
    const { versions, now } = adoptionOf(request, usage, NOW, true);
    expect(versions[0]?.version).toBe('1.0.0');
    expect(now.map(({ version, share }) => [version, Math.round(share * 1_000)])).toEqual([
      ['1.1.0', 750],
      ['1.0.0', 200],
      ['other', 50],
    ]);
    const quiet = adoptionOf({ ...request, channel: 'beta' }, usage, NOW, true);
    expect(quiet.now).toEqual([]);
  });
});
