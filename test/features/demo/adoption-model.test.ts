import { describe, expect, it } from 'vitest';
import { type ChannelView, createChannelView } from '../../../src/domain/channel.ts';
import type { Offer } from '../../../src/domain/offer.ts';
import { parseRange, parseVersion } from '../../../src/domain/version.ts';
import { createFleet, type DemoFleet, moveOn } from '../../../src/features/demo/adoption-model.ts';
import { createSeededRandomness } from '../../support/clock.ts';

const MACHINE = { platform: 'windows', arch: 'x64', format: null, osVersion: null } as const;
const SPAN = { at: 1_000, activeDays: 1, checksPerDay: 2 };

function offer(version: string, fields: Partial<Offer> = {}): Offer {
  const artifact = { platform: 'windows', arch: 'x64', format: 'nsis' } as const;
  return {
    version: parseVersion(version),
    status: 'active',
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: null,
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: [{ ...artifact, minimumOsVersion: null, signatureSchemes: [] }],
    ...fields,
  };
}

function viewOf(...offers: Offer[]): ChannelView {
  const settings = { inherits: null, givesEarlyAccess: false, allowsDowngrade: false };
  return createChannelView({ name: 'stable', ...settings, offers, retired: new Set() }, []);
}

function fleetOf(view: ChannelView): DemoFleet {
  const names = { application: 'desktop', channel: 'stable', machine: MACHINE };
  return createFleet(names, { view, size: 1_000, randomness: createSeededRandomness(1) });
}

const sizeOf = ({ installed }: DemoFleet, version: string): number => {
  const { quick = 0, slow = 0 } = installed.get(version) ?? {};
  return quick + slow;
};

describe('a fleet of the demo', () => {
  it('begins with most installations on the newest release', () => {
    const fleet = fleetOf(viewOf(offer('1.2.0'), offer('1.1.0'), offer('1.0.0')));
    expect(sizeOf(fleet, '1.2.0')).toBeCloseTo(840);
    expect(sizeOf(fleet, '1.1.0')).toBeCloseTo(100);
    expect(sizeOf(fleet, '1.0.0')).toBeCloseTo(60);
  });

  it('moves to a new release, quickly at first', () => {
    const fleet = fleetOf(viewOf(offer('1.0.0')));
    const view = viewOf(offer('2.0.0'), offer('1.0.0'));
    const sizes = Array.from({ length: 10 }, () => {
      moveOn(fleet, view, SPAN);
      return sizeOf(fleet, '2.0.0');
    });
    const gains = sizes.map((size, day) => size - (sizes[day - 1] ?? 0));
    expect(gains).toEqual([...gains].sort((a, b) => b - a));
    expect(sizes[0]).toBeGreaterThan(400);
    expect(sizes.at(-1)).toBeLessThan(1_000);
  });

  it('passes through a stepping stone, and counts what was offered', () => {
    const fleet = fleetOf(viewOf(offer('1.0.0')));
    const requires = parseRange('>=1.1.0', '');
    const view = viewOf(offer('2.0.0', { requires }), offer('1.1.0'), offer('1.0.0'));
    const { checks, links } = moveOn(fleet, view, SPAN);
    expect(checks).toEqual([{ version: '1.0.0', offered: '1.1.0', count: expect.closeTo(2_000) }]);
    expect(links.map(({ version }) => version)).toEqual(['1.1.0', '2.0.0']);
  });

  it('loses and gains no installation by an update', () => {
    const fleet = fleetOf(viewOf(offer('1.0.0')));
    const requires = parseRange('>=1.1.0', '');
    const view = viewOf(offer('2.0.0', { requires }), offer('1.1.0'), offer('1.0.0'));
    // Only the website adds some: 0.35 % a day.
    for (let day = 0; day < 20; day++) moveOn(fleet, view, SPAN);
    const all = [...fleet.installed.keys()].reduce(
      (sum, version) => sum + sizeOf(fleet, version),
      0,
    );
    expect(all).toBeCloseTo(1_000 * 1.0035 ** 20);
  });

  it('is divided by a rollout in proportion to its share', () => {
    const fleet = fleetOf(viewOf(offer('1.0.0')));
    const rollout = { seed: 5, ramp: { points: [{ at: 0, share: 4_000 }], isLinear: false } };
    const view = viewOf(offer('2.0.0', { rollout }), offer('1.0.0'));
    const offered = moveOn(fleet, view, SPAN).checks.find((check) => check.offered === '2.0.0');
    expect((offered?.count ?? 0) / 2_000).toBeGreaterThan(0.25);
    expect((offered?.count ?? 0) / 2_000).toBeLessThan(0.55);
  });
});
