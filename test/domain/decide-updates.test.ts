import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChannelView } from '../../src/domain/channel.ts';
import { decideUpdate } from '../../src/domain/decide-update.ts';
import { decideUpdates } from '../../src/domain/decide-updates.ts';
import type { Offer } from '../../src/domain/offer.ts';
import { ALL_CLIENTS, type Rollout } from '../../src/domain/rollout.ts';
import {
  compareVersions,
  inRange,
  parseRange,
  parseVersion,
  spansIn,
  type Version,
} from '../../src/domain/version.ts';
import { updateQuestion } from '../../src/releases/forecast/foresee-updates.ts';

const BUILD = {
  ...({ platform: 'linux', arch: 'x64', format: 'deb' } as const),
  minimumOsVersion: null,
  signatureSchemes: [],
};
const HALF: Rollout = {
  seed: 1,
  ramp: { points: [{ at: 0, share: ALL_CLIENTS / 2 }], isLinear: false },
};

type Rules = Pick<Offer, 'status' | 'rollout' | 'requires' | 'artifacts'>;
const OPEN: Rules = { status: 'active', rollout: null, requires: null, artifacts: [BUILD] };

function offer(version: Version, rules: Partial<Rules>): Offer {
  return {
    version,
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    mandatoryFor: null,
    endsNative: [],
    ...OPEN,
    ...rules,
  };
}

const viewOf = (offers: readonly Offer[]) =>
  createChannelView(
    {
      name: 'stable',
      inherits: null,
      givesEarlyAccess: false,
      allowsDowngrade: false,
      offers,
      retired: new Set<string>(),
    },
    [],
  );

const RANGES = [
  '>=2.0.0',
  '<=3.1.0',
  '^1.2.0 || >4.0.0 <5.0.0-beta',
  '3.0.0',
  '*',
  '=2.0.0-beta.1',
];
const versions = fc
  .uniqueArray(
    fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 3 }), fc.boolean()),
    { selector: (each) => each.join(), minLength: 1, maxLength: 60 },
  )
  .map((list) =>
    list
      .map(([major, minor, isBeta]) =>
        parseVersion(`${major}.${minor}.0${isBeta ? '-beta.1' : ''}`),
      )
      .sort((a, b) => compareVersions(b, a)),
  );

describe('the decisions for many versions', () => {
  const rules = fc.record<Partial<Rules>>(
    {
      status: fc.constantFrom('active', 'paused', 'paused', 'yanked'),
      requires: fc.constantFrom(...RANGES.map((text) => parseRange(text, ''))),
      rollout: fc.constant(HALF),
      artifacts: fc.constant([{ ...BUILD, platform: 'macos' as const }]),
    },
    { requiredKeys: [] },
  );

  it('are those for each version by itself', () => {
    const asked = updateQuestion('stable', BUILD, null);
    fc.assert(
      fc.property(versions, fc.infiniteStream(rules), versions, (listed, all, installed) => {
        const view = viewOf(listed.map((version) => offer(version, all.next().value ?? {})));
        for (const { version, decision } of decideUpdates(asked, view, installed, 0)) {
          expect(decision).toEqual(decideUpdate({ ...asked, currentVersion: version }, view, 0));
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each<[string, (number: number) => Partial<Rules>]>([
    ['are paused', () => ({ status: 'paused' })],
    ['are reached by no rollout', () => ({ rollout: HALF })],
    ['have one requirement', () => ({ requires: parseRange('>=999.0.0', '') })],
    [
      'have a requirement each',
      (n) => ({ requires: parseRange(`>=${Math.max(1, n - 50)}.0.0`, '') }),
    ],
  ])('look at each offer a bounded number of times when thousands %s', (_shape, rulesOf) => {
    const COUNT = 1_000;
    const numbers = Array.from({ length: COUNT }, (_, index) => COUNT - index);
    let looked = 0;
    const offers = numbers.map((number) => {
      const plain = offer(parseVersion(`${number}.0.0`), rulesOf(number));
      return {
        ...plain,
        get artifacts() {
          looked++;
          return plain.artifacts;
        },
      };
    });
    const view = viewOf(offers);
    const installed = offers.map(({ version }) => version);
    looked = 0;
    decideUpdates(updateQuestion('stable', BUILD, null), view, installed, 0);
    // A search for each version by itself looks at half a million.
    expect(looked).toBeLessThan(100 * COUNT);
  });
});

it('a range contains the versions in its spans, and no others', () => {
  fc.assert(
    fc.property(versions, fc.constantFrom(...RANGES), (listed, text) => {
      const range = parseRange(text, '');
      const spans = spansIn(listed, range);
      for (const [index, version] of listed.entries()) {
        const isIn = spans.some(({ from, to }) => index >= from && index < to);
        expect(isIn).toBe(inRange(version, range));
      }
    }),
  );
});
