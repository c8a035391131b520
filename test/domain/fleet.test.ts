import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  apportion,
  createIds,
  createInstallationIds,
  type FleetGroup,
  groupName,
  joinGroups,
  sizeOf,
  updateQueryOf,
} from '../../src/domain/fleet.ts';
import { BUCKETS, bucketOf, installationHash } from '../../src/domain/installation-bucket.ts';
import { parseVersion } from '../../src/domain/version.ts';

const group = (fields: Partial<FleetGroup> = {}): FleetGroup => ({
  channel: 'stable',
  version: parseVersion('1.0.0'),
  platform: 'windows',
  arch: 'x64',
  format: null,
  osVersion: null,
  count: 10,
  ...fields,
});

describe('the ids of installations', () => {
  it('are UUIDs, and depend on the seed and the group only', () => {
    const ids = (seed: number, one = group()) => {
      const idOf = createInstallationIds(seed, one);
      return [0, 1, 2, 99].map(idOf);
    };
    expect(ids(1)).toEqual(ids(1, group({ count: 5_000 })));
    expect(ids(1)).not.toEqual(ids(2));
    expect(ids(1)).not.toEqual(ids(1, group({ channel: 'beta' })));
    for (const id of ids(1)) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('are all different, and fill the buckets of a rollout evenly', () => {
    const seen = new Set<string>();
    const tenths = Array.from({ length: 10 }, () => 0);
    const size = 20_000;
    for (const name of ['a', 'b']) {
      const idOf = createIds(1, name);
      for (let index = 0; index < size; index++) {
        const id = idOf(index);
        seen.add(id);
        const tenth = Math.floor((10 * bucketOf(7, installationHash('desktop', id))) / BUCKETS);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
    }
    expect(seen.size).toBe(2 * size);
    // Five standard deviations.
    const bound = 5 * Math.sqrt(2 * size * 0.1 * 0.9);
    for (const count of tenths) expect(Math.abs(count - size / 5)).toBeLessThan(bound);
  });
});

describe('apportion', () => {
  it('divides exactly, and within one of the proportion', () => {
    const anyWeights = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        anyWeights.filter((weights) => weights.some((weight) => weight > 0)),
        (total, weights) => {
          const parts = apportion(total, weights);
          const sum = weights.reduce((a, b) => a + b, 0);
          expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
          for (const [index, part] of parts.entries()) {
            expect(Math.abs(part - (total * (weights[index] ?? 0)) / sum)).toBeLessThan(1);
          }
        },
      ),
    );
  });
});

describe('groups', () => {
  it('are joined when they are equal, and left out when they are empty', () => {
    const joined = joinGroups([
      group(),
      group({ format: 'nsis' }),
      group({ count: 5 }),
      group({ arch: 'arm64', count: 0 }),
    ]);
    expect(joined.map((one) => `${groupName(one)}: ${one.count}`)).toEqual([
      'stable 1.0.0 windows-x64: 15',
      'stable 1.0.0 windows-x64 nsis: 10',
    ]);
    expect(sizeOf(joined)).toBe(25);
  });

  it('ask with what is known of their machines', () => {
    const from = {
      application: 'desktop',
      channel: 'stable',
      version: parseVersion('1.0.0'),
      installationId: 'id',
    };
    expect(updateQueryOf(group(), from)).toMatchObject({ formats: null, osGate: 'client' });
    expect(updateQueryOf(group({ format: 'msi', osVersion: '10.0' }), from)).toMatchObject({
      formats: ['msi'],
      osVersion: '10.0',
      osGate: 'server',
      purpose: 'update',
      installationId: 'id',
      isManual: false,
      allowDowngrade: false,
    });
  });
});
