import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { createChannelView } from '../../src/domain/channel.ts';
import { admittedArches, isNativeOn } from '../../src/domain/compatible-arches.ts';
import type { Offer, OfferedArtifact } from '../../src/domain/offer.ts';
import { indexByMachine, nextWhole } from '../../src/domain/offers-by-machine.ts';
import { ARCHES, type Arch, type Format, PLATFORMS } from '../../src/domain/platform.ts';
import { parseVersion, versionText } from '../../src/domain/version.ts';
import { rounds } from '../support/rounds.ts';

const FORMATS = ['nsis', 'msi'] as const satisfies readonly Format[];

const artifacts = fc.record({
  platform: fc.constantFrom('windows' as const, 'macos' as const),
  arch: fc.constantFrom(...ARCHES),
  format: fc.constantFrom(...FORMATS),
  minimumOsVersion: fc.constantFrom(null, '10.0'),
  signatureSchemes: fc.constant([]),
});
const offers = fc
  .array(
    fc.record({
      status: fc.constantFrom('active' as const, 'active' as const, 'paused' as const),
      endsNative: fc.constantFrom(
        [],
        [],
        [{ platform: 'windows' as const, arch: 'arm64' as const }],
      ),
      artifacts: fc.array(artifacts, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 8 },
  )
  .map((stated) =>
    stated.map(
      (fields, index): Offer => ({
        version: parseVersion(`1.${index}.0`),
        manifest: { number: 1, digest: '' },
        releasedAt: '',
        requires: null,
        mandatoryFor: null,
        rollout: null,
        ...fields,
      }),
    ),
  );

/** Whether an offer leaves no machine behind, by looking at every older one. */
function isWhole(
  all: readonly Offer[],
  offer: Offer,
  arch: Arch | null,
  takes: (artifact: OfferedArtifact) => boolean,
): boolean {
  const possible: readonly Arch[] =
    arch === null ? ['x64', 'arm64', 'ia32', 'armv7'] : arch === 'arm64' ? ['arm64'] : [];
  const isBuilt = (each: Offer, on: Arch) =>
    each.artifacts.some((a) => a.platform === 'windows' && isNativeOn(on, a) && takes(a));
  return possible.every((on) => {
    if (isBuilt(offer, on)) return true;
    let isOut = false;
    for (const older of all.slice(0, all.indexOf(offer) + 1)) {
      if (older.status !== 'active') continue;
      if (on === 'arm64' && older.endsNative.length > 0) isOut = false;
      // Of a universal build it is not known whether it has more than these.
      const native = on === 'x64' || on === 'arm64' ? [on, 'universal'] : [on];
      const adds = older.artifacts.some(
        (a) => a.platform === 'windows' && native.includes(a.arch) && takes(a),
      );
      if (older !== offer && adds) isOut = true;
    }
    return !isOut;
  });
}

describe('the offers that leave no machine behind', () => {
  it('are the same as without the index', () => {
    fc.assert(
      fc.property(
        offers,
        fc.constantFrom('x64' as const, 'arm64' as const, null),
        fc.subarray([...FORMATS], { minLength: 1 }),
        fc.boolean(),
        (all, arch, formats, isNew) => {
          const channel = {
            name: 'stable',
            inherits: null,
            givesEarlyAccess: false,
            allowsDowngrade: false,
            offers: all,
            retired: new Set<string>(),
          };
          const machine = createChannelView(channel, []).offersFor('windows', arch);
          const takes = (a: OfferedArtifact) =>
            formats.includes(a.format as 'nsis') && (isNew || a.minimumOsVersion === null);
          const found: string[] = [];
          for (let i = nextWhole(machine, -1, takes); i < machine.offers.length; ) {
            found.push(versionText(machine.offers[i]?.version ?? parseVersion('0.0.0')));
            i = nextWhole(machine, i, takes);
          }
          const expected = machine.offers.filter((offer) => isWhole(all, offer, arch, takes));
          expect(found).toEqual(expected.map(({ version }) => versionText(version)));
        },
      ),
      { numRuns: rounds(200, 5_000) },
    );
  });
});

describe('the index', () => {
  it('has the offers and formats of every machine, whatever lists machines share', () => {
    fc.assert(
      fc.property(offers, fc.constantFrom(0, 128), (all, smallMax) => {
        const newestFirst = all.toReversed();
        const index = runAtOnce(indexByMachine(newestFirst, smallMax));
        for (const platform of PLATFORMS) {
          for (const arch of [...ARCHES, null]) {
            const arches = admittedArches(platform, arch);
            const fitting = (offer: Offer) =>
              offer.artifacts.filter((a) => a.platform === platform && arches.includes(a.arch));
            const found = index(platform, arch);
            expect(found.platform).toBe(platform);
            expect(found.offers).toEqual(newestFirst.filter((o) => fitting(o).length > 0));
            expect([...found.formats].sort()).toEqual(
              [...new Set(all.flatMap(fitting).map(({ format }) => format))].sort(),
            );
          }
        }
      }),
      { numRuns: rounds(200, 5_000) },
    );
  });

  it('keeps one list for machines with the same offers', () => {
    const build: OfferedArtifact = {
      platform: 'windows',
      arch: 'x64',
      format: 'nsis',
      minimumOsVersion: null,
      signatureSchemes: [],
    };
    const version = parseVersion('1.0.0');
    const [sample] = fc
      .sample(
        offers.filter((some) => some.length > 0),
        1,
      )
      .flat() as [Offer];
    const all = [{ ...sample, version, artifacts: [build] }];
    const index = runAtOnce(indexByMachine(all));
    for (const arch of ['x64', 'arm64', null] as const) {
      expect(index('windows', arch).offers).toBe(all);
      expect(index('windows', arch).formats).toBe(index('windows', 'x64').formats);
    }
  });
});
