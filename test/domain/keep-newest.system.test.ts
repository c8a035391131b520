import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Channel, createChannelView, inheritedNames } from '../../src/domain/channel.ts';
import { decideUpdate, newestFor } from '../../src/domain/decide-update.ts';
import { BUCKETS } from '../../src/domain/installation-bucket.ts';
import { findSuperfluous } from '../../src/domain/keep-newest.ts';
import type { Offer, OfferedArtifact } from '../../src/domain/offer.ts';
import type { Rollout } from '../../src/domain/rollout.ts';
import { type UpdateQuery, visitorOn } from '../../src/domain/update-query.ts';
import { parseRange, parseVersion, versionText } from '../../src/domain/version.ts';
import { rounds } from '../support/rounds.ts';

const NOW = 1000;

const artifact = (fields: Partial<OfferedArtifact> = {}): OfferedArtifact => ({
  platform: 'windows',
  arch: 'x64',
  format: 'nsis',
  minimumOsVersion: null,
  signatureSchemes: [],
  ...fields,
});

const rolloutTo = (share: number): Rollout => ({
  seed: 1,
  ramp: { points: [{ at: 0, share }], isLinear: false },
});

function offer(version: string, fields: Partial<Offer> = {}, requires?: string): Offer {
  return {
    version: parseVersion(version),
    status: 'active',
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: requires === undefined ? null : parseRange(requires, ''),
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: [artifact()],
    ...fields,
  };
}

const channelOf = (
  name: string,
  offers: readonly Offer[],
  inherits: string | null = null,
): Channel => ({
  name,
  inherits,
  givesEarlyAccess: true,
  allowsDowngrade: true,
  offers,
  retired: new Set(),
});

const byName = (...channels: readonly Channel[]): ReadonlyMap<string, Channel> =>
  new Map(channels.map((channel) => [channel.name, channel]));

function dropped(
  offers: readonly Offer[],
  keep: number,
  { added, others = [] }: { added?: string; others?: readonly Channel[] } = {},
): readonly string[] {
  const channels = byName(channelOf('stable', offers), ...others);
  const version = added === undefined ? undefined : parseVersion(added);
  return findSuperfluous({ channels, name: 'stable', keep, added: version, now: NOW });
}

const releases = (...versions: readonly string[]): readonly Offer[] =>
  versions.map((version) => offer(version));

describe('a channel that keeps its newest offers', () => {
  const four = releases('1.0.0', '1.1.0', '1.2.0', '1.3.0');

  it('drops the older ones', () => {
    expect(dropped(four, 2)).toEqual(['1.1.0', '1.0.0']);
    expect(dropped(four, 4)).toEqual([]);
    expect(dropped(four, 2, { added: '1.0.0' })).toEqual(['1.1.0']);
  });

  it('keeps the newest for a target, a format and a system version', () => {
    for (const other of [
      artifact({ platform: 'macos' }),
      artifact({ arch: 'ia32' }),
      artifact({ format: 'msi' }),
    ]) {
      const rare = offer('1.0.5', { artifacts: [artifact(), other] });
      expect(dropped([...four, rare], 1)).toEqual(['1.2.0', '1.1.0', '1.0.0']);
    }
    const gated = offer('2.0.0', { artifacts: [artifact({ minimumOsVersion: '11' })] });
    expect(dropped([...four, gated], 1)).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('keeps what clients get until a rollout has reached them', () => {
    for (const share of [0, 500]) {
      const next = offer('2.0.0', { rollout: rolloutTo(share) });
      expect(dropped([...four, next], 1)).toEqual(['1.2.0', '1.1.0', '1.0.0']);
    }
    const complete = offer('2.0.0', { rollout: rolloutTo(BUCKETS) });
    expect(dropped([...four, complete], 1)).toEqual(['1.3.0', '1.2.0', '1.1.0', '1.0.0']);
  });

  it('keeps what is paused, yanked or rolled out in stages', () => {
    const kept = [
      offer('0.1.0', { status: 'paused' }),
      offer('0.2.0', { status: 'yanked' }),
      offer('0.3.0', { rollout: rolloutTo(100) }),
    ];
    expect(dropped([...kept, ...four], 1)).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('keeps stepping stones', () => {
    const second = offer('2.0.0', {}, '>=1.1.0 <1.2.0');
    const third = offer('3.0.0', {}, '>=2.0.0');
    // Clients on 1.1.x step to 2.0.0. All others below 2.0.0 get 1.3.0, and stay there.
    expect(dropped([...four, second, third], 1)).toEqual(['1.2.0', '1.1.0', '1.0.0']);
    const bridge = [offer('2.0.0', {}, '>=1.2.0 <1.2.5'), offer('3.0.0', {}, '>=2.0.0')];
    expect(dropped([...releases('1.0.0', '1.1.0', '1.2.0'), ...bridge], 1)).toEqual([
      '1.1.0',
      '1.0.0',
    ]);
  });

  it('keeps a native build that machines stay on', () => {
    const both = [artifact(), artifact({ arch: 'arm64' })];
    const offers = [
      offer('1.0.0', { artifacts: both }),
      offer('1.1.0', { artifacts: both }),
      ...releases('1.2.0', '1.3.0'),
    ];
    expect(dropped(offers, 1)).toEqual(['1.2.0', '1.0.0']);
    const target = { platform: 'windows', arch: 'arm64' } as const;
    const ended = [...offers, offer('1.4.0', { endsNative: [target] })];
    expect(dropped(ended, 1)).toEqual(['1.3.0', '1.2.0', '1.1.0', '1.0.0']);
  });

  it('keeps what clients of an inheriting channel get', () => {
    // Clients of beta who cannot take its release get the release of stable.
    const beta = channelOf('beta', [offer('2.0.0', {}, '>=1.2.0')], 'stable');
    const alpha = channelOf('alpha', [offer('1.0.0', { status: 'yanked' })], 'beta');
    expect(dropped(four, 1, { others: [beta, alpha] })).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('is quick for a channel of ten thousand offers', () => {
    const builds = [artifact(), artifact({ arch: 'arm64' }), artifact({ platform: 'macos' })];
    const offers = Array.from({ length: 10_000 }, (_, index) =>
      offer(`1.${index}.0`, { artifacts: builds }),
    );
    expect(dropped(offers, 20)).toHaveLength(9_980);
  });
});

/** Few values of each kind, so that offers often concern the same clients. */
const anyArtifact: fc.Arbitrary<OfferedArtifact> = fc.record({
  platform: fc.constantFrom('windows' as const, 'macos' as const),
  arch: fc.constantFrom('x64' as const, 'x64' as const, 'arm64' as const, 'universal' as const),
  format: fc.constantFrom('zip' as const, 'zip' as const, 'dmg' as const),
  minimumOsVersion: fc.constantFrom(null, null, null, '11', '12'),
  signatureSchemes: fc.constantFrom<OfferedArtifact['signatureSchemes']>([], [], ['minisign']),
});
const anyNumber = fc.integer({ min: 0, max: 9 });
const usually = <T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 8 }, other);
const ZIPS = [artifact({ format: 'zip' }), artifact({ format: 'zip', arch: 'arm64' })];
const anyArtifacts = fc.oneof(
  { arbitrary: fc.constantFrom(ZIPS, ZIPS.slice(0, 1)), weight: 3 },
  fc.uniqueArray(anyArtifact, {
    minLength: 1,
    maxLength: 3,
    selector: ({ platform, arch, format }) => `${platform} ${arch} ${format}`,
  }),
);
const anyRequires = usually<string | undefined>(
  undefined,
  fc.tuple(anyNumber, anyNumber).map(([a, b]) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    return high < 9 ? `>=1.${low}.0 <1.${high}.5` : `>=1.${low}.0`;
  }),
);
const anyOffer = (minor: number): fc.Arbitrary<Offer> =>
  fc
    .record({
      status: usually<Offer['status']>('active', fc.constantFrom('paused', 'yanked')),
      rollout: usually(null, fc.constantFrom(rolloutTo(0), rolloutTo(5000), rolloutTo(BUCKETS))),
      artifacts: anyArtifacts,
      requires: anyRequires,
      endsNative: usually<Offer['endsNative']>(
        [],
        fc.constant([{ platform: 'windows', arch: 'arm64' }]),
      ),
    })
    .map(({ requires, ...fields }) => offer(`1.${minor}.0`, fields, requires));
const anyOffers = fc
  .subarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  .chain((minors) => fc.tuple(...minors.map(anyOffer)));
const anyChannels = fc
  .tuple(anyOffers, anyOffers, anyOffers)
  .map(([stable, beta, alpha]) =>
    byName(
      channelOf('stable', stable),
      channelOf('beta', beta, 'stable'),
      channelOf('alpha', alpha, 'beta'),
    ),
  );
const anyClient: fc.Arbitrary<UpdateQuery> = fc
  .record({
    platform: fc.constantFrom('windows' as const, 'macos' as const),
    arch: fc.constantFrom(null, 'x64' as const, 'arm64' as const),
    formats: fc.constantFrom<(UpdateQuery['formats'] | null)[]>(
      null,
      ['zip', 'dmg'],
      ['dmg', 'zip'],
      ['zip'],
      ['dmg'],
    ),
    osVersion: fc.constantFrom(null, '10', '11', '11.5', '12'),
    osGate: fc.constantFrom('server' as const, 'client' as const),
    purpose: fc.constantFrom('update' as const, 'download' as const),
    signatureScheme: fc.constantFrom(null, null, 'minisign' as const),
    version: fc.option(fc.tuple(anyNumber, fc.constantFrom('.0', '.0-beta.1', '.7'))),
    installationId: fc.option(fc.constantFrom('a', 'b', 'c', 'd')),
    isManual: fc.boolean(),
    allowDowngrade: fc.boolean(),
  })
  .map(({ version, ...fields }) => ({
    ...visitorOn('windows', null),
    application: 'desktop',
    channel: 'stable',
    currentVersion: version === null ? null : parseVersion(`1.${version[0]}${version[1]}`),
    ...fields,
  }));

/** The channels after `name` dropped offers, as the commit stores them. */
function withDropped(
  channels: ReadonlyMap<string, Channel>,
  name: string,
  versions: readonly string[],
): ReadonlyMap<string, Channel> {
  const channel = channels.get(name) as Channel;
  const offers = channel.offers.filter(({ version }) => !versions.includes(versionText(version)));
  return new Map([...channels, [name, { ...channel, offers, retired: new Set(versions) }]]);
}

function answers(channels: ReadonlyMap<string, Channel>, client: UpdateQuery): readonly string[] {
  return [...channels.values()].map((channel) => {
    const inherited = inheritedNames(channel.name, (each) => channels.get(each)?.inherits);
    const view = createChannelView(
      channel,
      inherited.map((each) => channels.get(each) as Channel),
    );
    const decision = decideUpdate(client, view, NOW);
    const latest = newestFor(view, client, NOW);
    const offered =
      decision.reason === 'offer'
        ? [versionText(decision.offer.version), JSON.stringify(decision.artifact)]
        : [decision.reason === 'no_release'];
    return [channel.name, ...offered, latest && versionText(latest.version)].join(' ');
  });
}

describe('dropping offers', () => {
  const anyRule = fc.record({
    channels: anyChannels,
    name: fc.constantFrom('stable', 'beta', 'alpha'),
    keep: fc.integer({ min: 1, max: 4 }),
  });
  const superfluous = (rule: {
    channels: ReadonlyMap<string, Channel>;
    name: string;
    keep: number;
  }): readonly string[] => findSuperfluous({ ...rule, added: undefined, now: NOW });

  it('changes the answer of no client on any channel', () => {
    let drops = 0;
    fc.assert(
      fc.property(
        anyRule,
        fc.array(anyClient, { minLength: 20, maxLength: 40 }),
        (rule, clients) => {
          const versions = superfluous(rule);
          drops += versions.length;
          const after = withDropped(rule.channels, rule.name, versions);
          for (const client of clients) {
            expect(answers(after, client)).toEqual(answers(rule.channels, client));
          }
        },
      ),
      { numRuns: rounds(60, 120) },
    );
    // Otherwise the property would say nothing.
    expect(drops).toBeGreaterThan(20);
  });

  it('leaves the newest active offers and whatever is not offered to every client', () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        const versions = superfluous(rule);
        const { offers } = rule.channels.get(rule.name) as Channel;
        const active = offers
          .filter(({ status }) => status === 'active')
          .toSorted((a, b) => b.version.compare(a.version));
        expect(active.slice(0, rule.keep).map((o) => versionText(o.version))).not.toEqual(
          expect.arrayContaining([expect.toSatisfy((text: string) => versions.includes(text))]),
        );
        for (const each of offers.filter((o) => versions.includes(versionText(o.version)))) {
          expect(each.status).toBe('active');
          expect(each.rollout?.ramp.points[0]?.share ?? BUCKETS).toBe(BUCKETS);
        }
      }),
    );
  });

  it('drops nothing more the second time', () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        const after = withDropped(rule.channels, rule.name, superfluous(rule));
        expect(superfluous({ ...rule, channels: after })).toEqual([]);
      }),
    );
  });
});
