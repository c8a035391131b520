import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../src/core/steps.ts';
import { type ChannelView, createChannelView } from '../../src/domain/channel.ts';
import { decideUpdate } from '../../src/domain/decide-update.ts';
import {
  createInstallationIds,
  type FleetGroup,
  groupName,
  updateQueryOf,
} from '../../src/domain/fleet.ts';
import { BUCKETS, bucketOf, installationHash } from '../../src/domain/installation-bucket.ts';
import type { Offer, OfferedArtifact } from '../../src/domain/offer.ts';
import { type GroupFate, simulateUpdates } from '../../src/domain/simulate-updates.ts';
import { parseRange, parseVersion, type Version, versionText } from '../../src/domain/version.ts';
import { rounds } from '../support/rounds.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');

function offer(version: string, fields: Partial<Offer> = {}): Offer {
  return {
    version: parseVersion(version),
    status: 'active',
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: null,
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: [artifact({})],
    ...fields,
  };
}

function artifact(fields: Partial<OfferedArtifact>): OfferedArtifact {
  return {
    platform: 'windows',
    arch: 'x64',
    format: 'nsis',
    minimumOsVersion: null,
    signatureSchemes: [],
    ...fields,
  };
}

function viewOf(offers: readonly Offer[]): ChannelView {
  return createChannelView(
    {
      name: 'stable',
      inherits: null,
      givesEarlyAccess: false,
      allowsDowngrade: false,
      offers,
      retired: new Set(),
    },
    [],
  );
}

function group(version: string, count: number, fields: Partial<FleetGroup> = {}): FleetGroup {
  return {
    channel: 'stable',
    version: parseVersion(version),
    platform: 'windows',
    arch: 'x64',
    format: null,
    osVersion: null,
    count,
    ...fields,
  };
}

function simulate(
  view: ChannelView,
  groups: readonly FleetGroup[],
  times: readonly number[],
  seed = 1,
): readonly GroupFate[] {
  const channels = new Map([['stable', view]]);
  return runAtOnce(simulateUpdates({ application: 'desktop', channels, groups, times, seed }));
}

/** Every installation asks by itself, one decision after the other. */
function bruteForce(
  view: ChannelView,
  groups: readonly FleetGroup[],
  times: readonly number[],
  seed: number,
) {
  const free = viewOf(view.offers.map((each) => ({ ...each, requires: null })));
  return groups.map((one) => {
    const idOf = createInstallationIds(seed, one);
    const running = times.map(() => ({}) as Record<string, number>);
    const endings: Record<string, number> = {};
    for (let index = 0; index < one.count; index++) {
      const ask = (version: Version, at: number, seen = view) => {
        const from = { application: 'desktop', channel: 'stable', version };
        return decideUpdate(updateQueryOf(one, { ...from, installationId: idOf(index) }), seen, at);
      };
      const follow = (from: Version, at: number): Version => {
        const decision = ask(from, at);
        return decision.reason === 'offer' ? follow(decision.offer.version, at) : from;
      };
      let version = one.version;
      times.forEach((time, place) => {
        version = follow(version, time);
        add(running[place] ?? {}, versionText(version));
      });
      version = follow(version, Number.POSITIVE_INFINITY);
      const missed = ask(version, Number.POSITIVE_INFINITY, free);
      const target = missed.reason === 'offer' ? versionText(missed.offer.version) : 'nothing';
      const { reason } = ask(version, Number.POSITIVE_INFINITY);
      add(endings, `${versionText(version)} ${reason} ${target}`);
    }
    return { group: groupName(one), running, endings };
  });
}

function add(counts: Record<string, number>, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

/** The simulation in the same shape. */
function inShort(fates: readonly GroupFate[]) {
  return fates.map(({ group: one, running, endings }) => {
    const ends: Record<string, number> = {};
    for (const { version, reason, missed, count } of endings) {
      const target = missed === null ? 'nothing' : versionText(missed);
      add(ends, `${versionText(version)} ${reason} ${target}`, count);
    }
    return {
      group: groupName(one),
      running: (running[0]?.counts ?? []).map((_, index) =>
        Object.fromEntries(
          running
            .map(({ version, counts }) => [versionText(version), counts[index] ?? 0] as const)
            .filter(([, count]) => count > 0),
        ),
      ),
      endings: ends,
    };
  });
}

const anyRollout: fc.Arbitrary<Offer['rollout']> = fc
  .record({
    seed: fc.nat(2 ** 32 - 1),
    shares: fc.array(fc.oneof(fc.nat(BUCKETS), fc.constantFrom(0, BUCKETS)), {
      minLength: 1,
      maxLength: 4,
    }),
    gaps: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 4, maxLength: 4 }),
    isLinear: fc.boolean(),
  })
  .map(({ seed, shares, gaps, isLinear }) => {
    let at = NOW - 6 * HOUR;
    const points = shares
      .toSorted((a, b) => a - b)
      .map((share, index) => {
        at += (gaps[index] ?? 1) * HOUR;
        return { at, share };
      });
    return { seed, ramp: { points, isLinear } };
  });

const anyArtifacts = fc.subarray(
  [
    artifact({}),
    artifact({ format: 'msi' }),
    artifact({ arch: 'arm64' }),
    artifact({ platform: 'macos', arch: 'universal', format: 'zip', minimumOsVersion: '12.0' }),
  ],
  { minLength: 1 },
);

const anyOffers: fc.Arbitrary<readonly Offer[]> = fc
  .array(
    fc.record({
      status: fc.constantFrom('active', 'active', 'active', 'paused', 'yanked'),
      requires: fc.option(fc.nat(30), { freq: 2 }),
      rollout: fc.option(anyRollout, { freq: 2 }),
      artifacts: anyArtifacts,
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((list) =>
    list.map(({ requires, status, ...fields }, index) =>
      offer(`1.${index}.0`, {
        ...fields,
        status: status as Offer['status'],
        requires:
          requires === null || index === 0 ? null : parseRange(`>=1.${requires % index}.0`, ''),
      }),
    ),
  );

const anyGroups: fc.Arbitrary<readonly FleetGroup[]> = fc.array(
  fc
    .record({
      minor: fc.nat(30),
      count: fc.integer({ min: 1, max: 60 }),
      machine: fc.constantFrom<Partial<FleetGroup>>(
        {},
        { format: 'msi' },
        { arch: 'arm64' },
        { platform: 'macos', arch: 'arm64' },
        { platform: 'macos', arch: 'x64', osVersion: '11.7' },
        { platform: 'macos', arch: 'x64', osVersion: '14.1' },
        { platform: 'linux', arch: 'x64' },
      ),
    })
    .map(({ minor, count, machine }) => group(`1.${minor}.0`, count, machine)),
  { minLength: 1, maxLength: 5 },
);

const anyTimes = fc
  .uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 6 })
  .map((hours) => hours.toSorted((a, b) => a - b).map((hour) => NOW + hour * HOUR));

/** A rollout that stays at a share. */
const staged = (share: number, seed = 7): Offer['rollout'] => ({
  seed,
  ramp: { points: [{ at: NOW, share }], isLinear: false },
});

const requires = (range: string): Partial<Offer> => ({ requires: parseRange(range, '') });

describe('a simulation', () => {
  it('counts what deciding for every installation one by one gives', () => {
    fc.assert(
      fc.property(anyOffers, anyGroups, anyTimes, fc.nat(), (offers, groups, times, seed) => {
        const view = viewOf(offers);
        expect(inShort(simulate(view, groups, times, seed))).toEqual(
          bruteForce(view, groups, times, seed),
        );
      }),
      { numRuns: rounds(100, 300) },
    );
  });

  it('counts right below more releases that hold a client than an explanation names', () => {
    const held = Array.from({ length: 40 }, (_, index) =>
      offer(`1.${index + 1}.0`, { rollout: staged(200, index) }),
    );
    const view = viewOf([offer('1.0.0'), ...held]);
    const groups = [group('1.0.0', 3_000)];
    const simulated = inShort(simulate(view, groups, [NOW]));
    expect(simulated).toEqual(bruteForce(view, groups, [NOW], 1));
    expect(Object.keys(simulated[0]?.running[0] ?? {})).toHaveLength(41);
  });

  it('gives a release to the share of its rollout, within the bounds of chance', () => {
    const size = 50_000;
    for (const share of [100, 1_000, 5_000, 9_900]) {
      const view = viewOf([offer('1.0.0'), offer('1.1.0', { rollout: staged(share) })]);
      const [fate] = inShort(simulate(view, [group('1.0.0', size)], [NOW]));
      const part = share / BUCKETS;
      // Five standard deviations: exceeded by chance once in two million runs.
      const bound = 5 * Math.sqrt(size * part * (1 - part));
      expect(Math.abs((fate?.running[0]?.['1.1.0'] ?? 0) - size * part)).toBeLessThan(bound);
    }
  });

  it('decides once for a group on which no rollout matters', () => {
    const asked: number[] = [];
    const view = viewOf([offer('1.0.0'), offer('1.1.0')]);
    const channels = new Map([['stable', view]]);
    const groups = [group('1.0.0', 100_000_000)];
    const onProgress = (done: number): void => void asked.push(done);
    const input = { application: 'desktop', channels, groups, times: [NOW], seed: 1, onProgress };
    expect(inShort(runAtOnce(simulateUpdates(input)))[0]?.running).toEqual([
      { '1.1.0': 100_000_000 },
    ]);
    expect(asked).toEqual([100_000_000]);
  });

  it('reports how far it is, and the end once', () => {
    const asked: number[] = [];
    const view = viewOf([offer('1.0.0'), offer('1.1.0', { rollout: staged(5_000) })]);
    const input = { application: 'desktop', channels: new Map([['stable', view]]), times: [NOW] };
    const groups = [group('1.0.0', 6_000), group('0.9.0', 2_000)];
    const onProgress = (done: number): void => void asked.push(done);
    runAtOnce(simulateUpdates({ ...input, groups, seed: 1, onProgress }));
    expect(asked).toEqual([4_000, 8_000]);
  });

  it('gives equal results for equal seeds, and other installations for others', () => {
    const view = viewOf([offer('1.0.0'), offer('1.1.0', { rollout: staged(5_000) })]);
    const run = (seed: number) => inShort(simulate(view, [group('1.0.0', 1_000)], [NOW], seed));
    expect(run(1)).toEqual(run(1));
    expect(run(1)).not.toEqual(run(2));
  });

  it('keeps an installation on what it got, although a newer release no longer admits it', () => {
    const later: Offer['rollout'] = {
      seed: 1,
      ramp: {
        points: [
          { at: NOW, share: 0 },
          { at: NOW + HOUR, share: BUCKETS },
        ],
        isLinear: false,
      },
    };
    // From 1.0.0 a client could install 1.2.0, and not from 1.1.0, which it gets first.
    const view = viewOf([
      offer('1.1.0'),
      offer('1.2.0', { ...requires('<1.1.0'), rollout: later }),
    ]);
    const [fate] = inShort(simulate(view, [group('1.0.0', 5)], [NOW, NOW + 2 * HOUR]));
    expect(fate?.running).toEqual([{ '1.1.0': 5 }, { '1.1.0': 5 }]);
    expect(fate?.endings).toEqual({ '1.1.0 must_step_through 1.2.0': 5 });
  });
});

describe('a stranded installation', () => {
  const endingsOf = (offers: readonly Offer[], from = '1.0.0', count = 1_000) =>
    inShort(simulate(viewOf(offers), [group(from, count)], [NOW]))[0]?.endings;

  it('is one that no path leads to the newest release that it could run', () => {
    const newest = offer('1.3.0', requires('>=1.2.0'));
    expect(endingsOf([offer('1.1.0'), newest])).toEqual({
      '1.1.0 must_step_through 1.3.0': 1_000,
    });
    expect(endingsOf([offer('1.2.0'), newest])).toEqual({ '1.3.0 up_to_date nothing': 1_000 });
    expect(endingsOf([offer('1.2.0', { status: 'paused' }), newest])).toEqual({
      '1.0.0 must_step_through 1.3.0': 1_000,
    });
    expect(endingsOf([newest], '1.2.0')).toEqual({ '1.3.0 up_to_date nothing': 1_000 });
  });

  it('is found where walking through the releases by hand finds one', () => {
    const anyRelease = fc.record({
      isActive: fc.boolean(),
      minimum: fc.option(fc.nat(8), { nil: 0 }),
      share: fc.constantFrom(0, 2_500, 5_000, BUCKETS, BUCKETS),
    });
    const anyReleases = fc.array(anyRelease, { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(anyReleases, (releases) => {
        const offers = releases.map(({ isActive, minimum, share }, index) =>
          offer(`1.${index + 1}.0`, {
            status: isActive ? 'active' : 'paused',
            ...(minimum > 0 && minimum <= index ? requires(`>=1.${minimum}.0`) : {}),
            rollout: staged(share, index),
          }),
        );
        const group10 = group('1.0.0', 50);
        const idOf = createInstallationIds(1, group10);
        let expected = 0;
        for (let index = 0; index < group10.count; index++) {
          const bytes = installationHash('desktop', idOf(index));
          const open = releases
            .map((release, place) => ({ ...release, minor: place + 1 }))
            .filter((release) => release.isActive)
            .filter(({ share, minor }) => bucketOf(minor - 1, bytes) < share)
            .toReversed();
          let minor = 0;
          const next = () =>
            open.find((release) => {
              const isRequired = release.minimum > 0 && release.minimum < release.minor;
              return release.minor > minor && (!isRequired || minor >= release.minimum);
            });
          for (let found = next(); found !== undefined; found = next()) minor = found.minor;
          if (minor < (open[0]?.minor ?? 0)) expected++;
        }
        const [fate] = simulate(viewOf(offers), [group10], [NOW]);
        const stranded = fate?.endings.filter(({ missed }) => missed !== null) ?? [];
        expect(stranded.reduce((sum, { count }) => sum + count, 0)).toBe(expected);
      }),
      { numRuns: rounds(60, 200) },
    );
  });

  it('is not one that waits for a rollout, or has no build', () => {
    expect(endingsOf([offer('1.1.0', { rollout: staged(0) })])).toEqual({
      '1.0.0 held_by_rollout nothing': 1_000,
    });
    const foreign = artifact({ platform: 'macos', format: 'zip' });
    expect(endingsOf([offer('1.1.0', { artifacts: [foreign] })])).toEqual({
      '1.0.0 unsupported_platform nothing': 1_000,
    });
  });

  it('is one whose stepping stone is never offered to it by its rollout', () => {
    const endings = endingsOf([
      offer('1.2.0', { rollout: staged(2_500) }),
      offer('1.3.0', requires('>=1.2.0')),
    ]);
    expect(Object.keys(endings ?? {}).sort()).toEqual([
      '1.0.0 must_step_through 1.3.0',
      '1.3.0 up_to_date nothing',
    ]);
    expect(endings?.['1.0.0 must_step_through 1.3.0']).toBeGreaterThan(650);
  });
});
