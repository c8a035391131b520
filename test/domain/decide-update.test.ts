import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Channel,
  type ChannelView,
  createChannelView,
  createClosedView,
  inheritedNames,
} from '../../src/domain/channel.ts';
import { suits } from '../../src/domain/choose-artifact.ts';
import { decideUpdate as decideAt, newestFor as newestAt } from '../../src/domain/decide-update.ts';
import { findLeftBehind } from '../../src/domain/native-builds.ts';
import type { Offer, OfferedArtifact, OfferStatus } from '../../src/domain/offer.ts';
import { ARCHES, FORMATS, PLATFORMS } from '../../src/domain/platform.ts';
import { targetName } from '../../src/domain/target.ts';
import { parseTierTable, viewFor } from '../../src/domain/tier.ts';
import { type UpdateQuery, visitorOn } from '../../src/domain/update-query.ts';
import {
  compareVersions,
  parseRange,
  parseVersion,
  versionText,
} from '../../src/domain/version.ts';
import { rounds } from '../support/rounds.ts';
import { query } from '../support/update-query.ts';

const WINDOWS: OfferedArtifact = {
  platform: 'windows',
  arch: 'x64',
  format: 'nsis',
  minimumOsVersion: null,
  signatureSchemes: [],
};

function offer(version: string, fields: Partial<Offer> & { requiresText?: string } = {}): Offer {
  const { requiresText, ...rest } = fields;
  return {
    version: parseVersion(version),
    status: 'active',
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: requiresText === undefined ? null : parseRange(requiresText, ''),
    mandatoryFor: null,
    endsNative: [],
    rollout: null,
    artifacts: [WINDOWS],
    ...rest,
  };
}

function view(offers: readonly Offer[], fields: Partial<Channel> = {}, stable?: readonly Offer[]) {
  const channel = {
    name: 'stable',
    inherits: null,
    givesEarlyAccess: false,
    allowsDowngrade: false,
    offers,
    retired: new Set<string>(),
    ...fields,
  };
  const base = stable && {
    name: 'stable',
    inherits: null,
    givesEarlyAccess: false,
    allowsDowngrade: false,
    offers: stable,
    retired: new Set<string>(),
  };
  return createChannelView(channel, base === undefined || channel.inherits === null ? [] : [base]);
}

/** Without a rollout, the time does not matter. */
const NOW = 0;
const decideUpdate = (asked: UpdateQuery, channel: ChannelView) => decideAt(asked, channel, NOW);
const newestFor = (channel: ChannelView, asked: Parameters<typeof newestAt>[1]) =>
  newestAt(channel, asked, NOW);

const decide = (offers: readonly Offer[], fields?: Parameters<typeof query>[0]) => {
  const decision = decideUpdate(query(fields), view(offers));
  return decision.reason === 'offer'
    ? `${versionText(decision.offer.version)} ${decision.artifact.arch} ${decision.artifact.format}`
    : decision.reason;
};

/** The version that is offered, or the reason. */
const reasonFor = (channel: ChannelView, fields?: Parameters<typeof query>[0]) => {
  const decision = decideUpdate(query(fields), channel);
  return decision.reason === 'offer' ? versionText(decision.offer.version) : decision.reason;
};

describe('decideUpdate', () => {
  it('offers the newest release, and nothing to clients that have it', () => {
    expect(decide([offer('1.1.0'), offer('1.2.0')])).toBe('1.2.0 x64 nsis');
    expect(decide([offer('1.1.0'), offer('1.0.0')], { from: '1.1.0' })).toBe('up_to_date');
    expect(decide([offer('1.1.0')], { from: '1.1.0+local' })).toBe('up_to_date');
    expect(decide([], { from: '1.1.0' })).toBe('no_release');
  });

  it('skips paused and yanked releases', () => {
    const paused = offer('1.2.0', { status: 'paused' });
    expect(decide([paused, offer('1.1.0')])).toBe('1.1.0 x64 nsis');
    expect(decide([paused, offer('1.1.0')], { from: '1.1.0' })).toBe('paused');
    expect(decide([paused], { from: '1.2.0' })).toBe('up_to_date');
    const yanked = offer('1.2.0', { status: 'yanked' });
    expect(decide([yanked, offer('1.1.0')], { from: '1.1.0' })).toBe('up_to_date');
    expect(decide([yanked, offer('1.1.0'), offer('1.3.0')], { from: '1.2.0' })).toBe(
      '1.3.0 x64 nsis',
    );
    expect(decide([yanked])).toBe('no_release');
  });

  describe('to a client that states no version and installs an older release', () => {
    const blind = { currentVersion: null, installsOlder: true };
    const newer = (fields: Partial<Offer> & { requiresText?: string }, asked = {}) =>
      decide([offer('1.2.0', fields), offer('1.1.0')], { ...blind, ...asked });

    it('offers the newest release', () => {
      expect(decide([offer('1.2.0'), offer('1.1.0', { status: 'yanked' })], blind)).toBe(
        '1.2.0 x64 nsis',
      );
    });

    it('offers nothing while it may have a newer one', () => {
      expect(newer({ status: 'paused' })).toBe('paused');
      expect(newer({ status: 'yanked' })).toBe('no_release');
      expect(newer({ requiresText: '>=1.1.0' })).toBe('must_step_through');
      const artifacts = [{ ...WINDOWS, minimumOsVersion: '10.0' }];
      expect(newer({ artifacts })).toBe('unsupported_os_version');
      expect(newer({ artifacts }, { osVersion: '10.0' })).toBe('1.2.0 x64 nsis');
    });

    it('ignores newer releases for other machines and of other formats', () => {
      const other = (artifact: Partial<OfferedArtifact>, status: Offer['status']) =>
        newer({ status, artifacts: [{ ...WINDOWS, ...artifact }] }, { formats: ['nsis'] });
      for (const status of ['paused', 'yanked'] as const) {
        expect(other({ platform: 'linux' }, status)).toBe('1.1.0 x64 nsis');
        expect(other({ arch: 'arm64' }, status)).toBe('1.1.0 x64 nsis');
        expect(other({ format: 'msi' }, status)).toBe('1.1.0 x64 nsis');
      }
    });

    it('ignores newer releases whose rollout has not reached it', () => {
      const rollout = { seed: 1, ramp: { points: [{ at: 0, share: 5_000 }], isLinear: false } };
      for (const status of ['active', 'paused', 'yanked'] as const) {
        expect(newer({ status, rollout })).toBe('1.1.0 x64 nsis');
      }
      const ids = Array.from({ length: 50 }, (_, index) => `id ${index}`);
      const got = ids.map((installationId) =>
        newer({ status: 'yanked', rollout }, { installationId }),
      );
      expect(new Set(got)).toEqual(new Set(['1.1.0 x64 nsis', 'no_release']));
      const had = ids.map((installationId) => newer({ rollout }, { installationId }));
      expect(got.map((each) => each === 'no_release')).toEqual(
        had.map((each) => each === '1.2.0 x64 nsis'),
      );
    });
  });

  it('offers a release only to versions in its `requires`', () => {
    const offers = [offer('3.0.0', { requiresText: '>=2.0.0' }), offer('2.0.0'), offer('1.5.0')];
    expect(decide(offers)).toBe('2.0.0 x64 nsis');
    expect(decide(offers, { from: '2.0.0' })).toBe('3.0.0 x64 nsis');
    expect(decide(offers, { from: '2.0.0-beta.1' })).toBe('2.0.0 x64 nsis');
    expect(decide(offers.slice(0, 1))).toBe('must_step_through');
    expect(decide(offers, { currentVersion: null })).toBe('2.0.0 x64 nsis');
    // A person who downloads an installer installs anew.
    expect(decide(offers, { currentVersion: null, purpose: 'download' })).toBe('3.0.0 x64 nsis');
  });

  it('counts pre-releases in ranges as ordinary versions', () => {
    const offers = [offer('2.0.0', { requiresText: '>=1.0.0' })];
    expect(decide(offers, { from: '1.1.0-beta.1' })).toBe('2.0.0 x64 nsis');
  });

  it('admits builds of the same architecture, universal builds, and x64 builds by emulation', () => {
    const mac = (arch: OfferedArtifact['arch'], format: OfferedArtifact['format'] = 'zip') => ({
      ...WINDOWS,
      platform: 'macos' as const,
      arch,
      format,
    });
    const on = (arch: UpdateQuery['arch'], ...artifacts: OfferedArtifact[]) =>
      decide([offer('2.0.0', { artifacts })], { platform: 'macos', arch });
    expect(on('arm64', mac('x64'), mac('arm64'))).toBe('2.0.0 arm64 zip');
    expect(on('arm64', mac('x64'), mac('universal'))).toBe('2.0.0 universal zip');
    expect(on('arm64', mac('x64'))).toBe('2.0.0 x64 zip');
    expect(on('x64', mac('arm64'))).toBe('unsupported_platform');
    expect(on(null, mac('x64'), mac('arm64'), mac('universal'))).toBe('2.0.0 universal zip');
    expect(on(null, mac('x64'), mac('arm64'))).toBe('2.0.0 arm64 zip');
    expect(decide([offer('2.0.0')], { arch: 'arm64' })).toBe('2.0.0 x64 nsis');
    const linux = { ...WINDOWS, platform: 'linux' as const, format: 'appimage' as const };
    expect(
      decide([offer('2.0.0', { artifacts: [linux] })], { platform: 'linux', arch: 'arm64' }),
    ).toBe('unsupported_platform');
  });

  describe('on machines that run x64 builds by emulation', () => {
    const built = (...builds: string[]): OfferedArtifact[] =>
      builds.map((build) => {
        const [arch, format = 'nsis', minimum] = build.split(' ');
        return {
          ...WINDOWS,
          arch: arch as OfferedArtifact['arch'],
          format: format as OfferedArtifact['format'],
          minimumOsVersion: minimum ?? null,
        };
      });
    const arm64 = { arch: 'arm64' } as const;
    const both = offer('1.0.0', { artifacts: built('x64', 'arm64') });
    const x64 = (version: string, fields: Partial<Offer> = {}) =>
      offer(version, { artifacts: built('x64'), ...fields });

    it('keeps native builds: a release without one is not newer', () => {
      expect(decide([x64('1.1.0'), both], arm64)).toBe('up_to_date');
      expect(decide([x64('1.1.0'), both], { ...arm64, from: '0.9.0' })).toBe('1.0.0 arm64 nsis');
      expect(decide([x64('1.1.0'), both])).toBe('1.1.0 x64 nsis');
      const universal = offer('1.0.0', { artifacts: built('universal') });
      expect(decide([x64('1.1.0'), universal], arm64)).toBe('up_to_date');
      const native = offer('1.2.0', { artifacts: built('arm64') });
      expect(decide([native, x64('1.1.0'), both], arm64)).toBe('1.2.0 arm64 nsis');
      expect(decideUpdate(query(arm64), view([x64('1.1.0'), both])).path).toEqual([
        { version: '1.1.0', outcome: 'no_native_build' },
      ]);
    });

    it('offers x64 builds where no native build is for this client', () => {
      expect(decide([x64('1.1.0'), x64('1.0.0')], arm64)).toBe('1.1.0 x64 nsis');
      // Of another format, for a newer system, or withdrawn.
      const others = [built('arm64 msix'), built('arm64 nsis 11.0')];
      for (const artifacts of others) {
        const fields = { ...arm64, formats: ['nsis'] as const, osVersion: '10.0.19045' };
        expect(decide([x64('1.1.0'), offer('1.0.0', { artifacts })], fields)).toBe(
          '1.1.0 x64 nsis',
        );
      }
      for (const status of ['paused', 'yanked'] as const) {
        expect(decide([x64('1.1.0'), { ...both, status }], arm64)).toBe('1.1.0 x64 nsis');
      }
    });

    it('offers an x64 stepping stone that is older than the first native build', () => {
      const native = offer('3.0.0', {
        artifacts: built('arm64', 'x64'),
        requires: parseRange('>=2.0.0', ''),
      });
      expect(decide([native, x64('2.0.0')], arm64)).toBe('2.0.0 x64 nsis');
      expect(decide([native, x64('2.0.0')], { ...arm64, from: '2.0.0' })).toBe('3.0.0 arm64 nsis');
    });

    it('ends native builds with the release that ends them, while it is active', () => {
      const endsNative = [{ platform: 'windows', arch: 'arm64' }] as const;
      const last = x64('1.2.0', { endsNative });
      expect(decide([last, x64('1.1.0'), both], arm64)).toBe('1.2.0 x64 nsis');
      expect(decide([x64('1.3.0'), last, both], arm64)).toBe('1.3.0 x64 nsis');
      expect(decide([{ ...last, status: 'paused' }, x64('1.1.0'), both], arm64)).toBe('up_to_date');
      expect(decide([x64('1.3.0'), { ...last, status: 'yanked' }, both], arm64)).toBe('up_to_date');
      const again = offer('1.4.0', { artifacts: built('arm64') });
      expect(decide([x64('1.5.0'), again, last, both], { ...arm64, from: '1.4.0' })).toBe(
        'up_to_date',
      );
      const onMac = [{ platform: 'macos', arch: 'arm64' }] as const;
      expect(decide([x64('1.2.0', { endsNative: onMac }), both], arm64)).toBe('up_to_date');
    });

    it('leaves no machine behind when the client does not state its architecture', () => {
      const unsaid = { arch: null };
      expect(decide([x64('1.1.0'), both], unsaid)).toBe('up_to_date');
      const onMac = ({ artifacts, ...rest }: Offer): Offer => ({
        ...rest,
        artifacts: artifacts.map((each) => ({ ...each, platform: 'macos', format: 'zip' })),
      });
      const onlyArm64 = offer('1.1.0', { artifacts: built('arm64') });
      const mac = { ...unsaid, platform: 'macos' } as const;
      expect(decide([onMac(onlyArm64), onMac(both)], mac)).toBe('up_to_date');
      expect(decide([onMac(onlyArm64)], mac)).toBe('1.1.0 arm64 zip');
      // Every Windows machine that does not state its architecture runs 32-bit programs.
      const onlyIa32 = offer('1.1.0', { artifacts: built('ia32') });
      expect(decide([onlyIa32], unsaid)).toBe('1.1.0 ia32 nsis');
      expect(decide([onlyIa32, both], unsaid)).toBe('up_to_date');
      // The job for ia32 was faster than the one for x64.
      const visitor = { ...unsaid, purpose: 'download', currentVersion: null } as const;
      expect(decide([onlyIa32, offer('1.0.0', { artifacts: built('x64') })], visitor)).toBe(
        '1.0.0 x64 nsis',
      );
      const [x64Msi] = built('x64').map((each) => ({ ...each, format: 'msi' as const }));
      const mixed = [...built('ia32'), ...(x64Msi === undefined ? [] : [x64Msi])];
      expect(decide([offer('1.1.0', { artifacts: mixed })], visitor)).toBe('1.1.0 x64 msi');
      expect(decide([offer('1.1.0', { artifacts: built('universal') }), both], unsaid)).toBe(
        '1.1.0 universal nsis',
      );
      // A person gets the usual architecture.
      expect(decide([x64('1.1.0'), both], { ...unsaid, purpose: 'download' })).toBe(
        '1.1.0 x64 nsis',
      );
    });

    it('names the machines that a release leaves behind', () => {
      const names = (offers: readonly Offer[], version: string) =>
        findLeftBehind(offers, parseVersion(version)).map(targetName);
      expect(names([x64('1.1.0'), both], '1.1.0')).toEqual(['windows-arm64']);
      expect(names([x64('1.1.0'), both], '1.0.0')).toEqual([]);
      expect(names([x64('1.1.0'), { ...both, status: 'yanked' }], '1.1.0')).toEqual([]);
      const endsNative = [{ platform: 'windows', arch: 'arm64' }] as const;
      expect(names([x64('1.1.0', { endsNative }), both], '1.1.0')).toEqual([]);
      const universal = offer('1.1.0', { artifacts: built('universal') });
      expect(names([universal, both], '1.1.0')).toEqual([]);
    });
  });

  it('chooses by purpose, and offers or refuses a requested format', () => {
    const artifacts = (['dmg', 'zip', 'pkg'] as const).map((format) => ({
      ...WINDOWS,
      platform: 'macos' as const,
      format,
    }));
    const on = (fields: Partial<UpdateQuery>) =>
      decide([offer('2.0.0', { artifacts })], { platform: 'macos', ...fields });
    expect(on({})).toBe('2.0.0 x64 zip');
    expect(on({ purpose: 'download', currentVersion: null })).toBe('2.0.0 x64 dmg');
    expect(on({ formats: ['pkg'] })).toBe('2.0.0 x64 pkg');
    expect(on({ formats: ['tar.gz'] })).toBe('unsupported_format');
    const setup = [{ ...WINDOWS, format: 'squirrel-setup' as const }];
    expect(decide([offer('2.0.0', { artifacts: setup })])).toBe('unsupported_format');
  });

  it('requires the system version unless the client checks it itself', () => {
    const artifacts = [{ ...WINDOWS, minimumOsVersion: '10.0.17763' }];
    const on = (osVersion: string | null, fields: Partial<UpdateQuery> = {}) =>
      decide([offer('2.0.0', { artifacts })], { osVersion, ...fields });
    expect(on('10.0.19045')).toBe('2.0.0 x64 nsis');
    expect(on('10.0.17763.1')).toBe('2.0.0 x64 nsis');
    expect(on('6.1.7601')).toBe('unsupported_os_version');
    expect(on('Windows 10')).toBe('unsupported_os_version');
    expect(on(null)).toBe('unsupported_os_version');
    expect(on(null, { osGate: 'client' })).toBe('2.0.0 x64 nsis');
  });

  it('is mandatory for the versions in `mandatory_for`', () => {
    const offers = [offer('2.0.0', { mandatoryFor: parseRange('<1.2.0', '') })];
    const on = (from: string) => decideUpdate(query({ from }), view(offers));
    expect(on('1.1.0')).toMatchObject({ mandatory: true });
    expect(on('1.2.0')).toMatchObject({ mandatory: false });
  });

  it('shows stable releases on a pre-release channel, whose own offers count first', () => {
    const beta = { name: 'beta', inherits: 'stable' };
    const on = (own: readonly Offer[], stable: readonly Offer[], from = '1.0.0') =>
      decideUpdate(query({ from, channel: 'beta' }), view(own, beta, stable));
    expect(on([offer('1.1.0-beta.1')], [offer('1.1.0')])).toMatchObject({
      offer: { version: { version: '1.1.0' } },
    });
    expect(on([offer('1.2.0-beta.1')], [offer('1.1.0')])).toMatchObject({
      offer: { version: { version: '1.2.0-beta.1' } },
    });
    expect(on([offer('1.1.0', { status: 'yanked' })], [offer('1.1.0')]).reason).toBe('no_release');
    const lts = view([offer('1.0.5')], { name: 'lts' }, [offer('2.0.0')]);
    expect(decideUpdate(query(), lts)).toMatchObject({ offer: { version: { version: '1.0.5' } } });
  });

  it('shows the offers of every channel in a chain of inherited ones, the nearest first', () => {
    const channel = (name: string, inherits: string | null, offers: readonly Offer[]): Channel => ({
      name,
      inherits,
      offers,
      givesEarlyAccess: false,
      allowsDowngrade: false,
      retired: new Set([`0.${name.length}.0`]),
    });
    const stable = channel('stable', null, [offer('1.1.0'), offer('1.2.0')]);
    const beta = channel('beta', 'stable', [offer('1.2.0', { status: 'paused' })]);
    const names = inheritedNames('alpha', (name) => ({ alpha: 'beta', beta: 'stable' })[name]);
    expect(names).toEqual(['beta', 'stable']);
    const alpha = createChannelView(channel('alpha', 'beta', [offer('1.0.0')]), [beta, stable]);
    expect(reasonFor(alpha, { from: '0.1.0' })).toBe('1.1.0');
    expect(['0.5.0', '0.4.0', '0.6.0', '0.9.0'].map(alpha.isRetired)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const withoutStable = alpha.showing((name) => name === 'beta');
    expect(withoutStable.offers.map(({ version }) => versionText(version))).toEqual([
      '1.2.0',
      '1.0.0',
    ]);
    const circle: Record<string, string> = { a: 'b', b: 'c', c: 'b' };
    expect(inheritedNames('a', (name) => circle[name])).toEqual(['b', 'c']);
    expect(inheritedNames('b', (name) => circle[name])).toEqual(['c']);
  });

  it('gives early access to a person who asks by hand, on a channel that allows it', () => {
    const at = (share: number) => ({
      rollout: { seed: 7, ramp: { points: [{ at: 0, share }], isLinear: false } },
    });
    const answer = (share: number, givesEarlyAccess: boolean, isManual: boolean) =>
      reasonFor(view([offer('2.0.0', at(share))], { givesEarlyAccess }), { isManual });
    expect(answer(1, true, true)).toBe('2.0.0');
    for (const [share, isAllowed, isManual] of [
      [1, true, false],
      [1, false, true],
      [0, true, true],
    ] as const) {
      expect(answer(share, isAllowed, isManual)).toBe('held_by_rollout');
    }
    const paused = view([offer('2.0.0', { ...at(1), status: 'paused' })], {
      givesEarlyAccess: true,
    });
    expect(reasonFor(paused, { isManual: true })).toBe('paused');
  });

  it('offers an older version only to a client that accepts it, on a channel that permits it', () => {
    const offers = [offer('1.9.0'), offer('1.8.0', { status: 'paused' })];
    const permits = view(offers, { allowsDowngrade: true, retired: new Set(['1.7.0', '2.5.0']) });
    const ask = (from: string, channel = permits, allowDowngrade = true) =>
      reasonFor(channel, { from, allowDowngrade });
    expect(ask('2.0.0-beta.3')).toBe('1.9.0');
    expect(ask('2.0.0-beta.3', permits, false)).toBe('up_to_date');
    expect(ask('2.0.0-beta.3', view(offers))).toBe('up_to_date');
    expect(ask('1.9.0')).toBe('up_to_date');
    // No client leaves a release that the channel lists or listed.
    expect(ask('2.5.0')).toBe('up_to_date');
    const bad = [offer('2.1.0', { status: 'yanked' }), offer('2.2.0', { status: 'paused' })];
    const withdrawn = view([...offers, ...bad], { allowsDowngrade: true });
    expect(ask('2.1.0', withdrawn)).toBe('1.9.0');
    expect(ask('2.2.0', withdrawn)).toBe('up_to_date');
    const waiting = view([offer('1.8.0'), offer('1.9.0', { requiresText: '>=3.0.0' })], {
      allowsDowngrade: true,
    });
    expect(ask('2.0.0', waiting)).toBe('1.8.0');
    expect(
      ask('2.0.0', view([offer('1.9.0', { status: 'paused' })], { allowsDowngrade: true })),
    ).toBe('up_to_date');
  });

  it('answers not_entitled for a closed channel before any other reason', () => {
    const closed = createClosedView('insider');
    for (const fields of [{}, { from: '9.0.0' }, { currentVersion: null }, { formats: [] }]) {
      expect(decideUpdate(query(fields), closed)).toEqual({ reason: 'not_entitled', path: [] });
    }
    expect(newestFor(closed, visitorOn('windows', 'x64'))).toBeUndefined();
  });

  it('explains its decision', () => {
    const offers = [
      offer('3.0.0', { status: 'paused' }),
      offer('2.0.0', { requiresText: '>=1.5.0' }),
      offer('1.9.0'),
    ];
    expect(decideUpdate(query(), view(offers)).path).toEqual([
      { version: '3.0.0', outcome: 'paused' },
      { version: '2.0.0', outcome: 'must_step_through' },
      { version: '1.9.0', outcome: 'offer' },
    ]);
  });
});

const versions = fc
  .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.option(fc.nat(3)))
  .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre === null ? '' : `-beta.${pre}`}`);
const artifacts = fc.record({
  platform: fc.constantFrom(...PLATFORMS),
  arch: fc.constantFrom(...ARCHES),
  format: fc.constantFrom(...FORMATS),
  minimumOsVersion: fc.constantFrom(null, '10.0', '12'),
  signatureSchemes: fc.constantFrom([], ['minisign' as const]),
});
const offers = fc.uniqueArray(
  fc
    .record({
      version: versions,
      status: fc.constantFrom<OfferStatus>('active', 'paused', 'yanked'),
      requiresText: fc.constantFrom(undefined, '>=1.0.0', '^2.0.0', '<1.0.0'),
      artifacts: fc.array(artifacts, { maxLength: 4 }),
      endsNative: fc.constantFrom(
        [],
        [],
        [{ platform: 'windows' as const, arch: 'arm64' as const }],
        [{ platform: 'macos' as const, arch: 'arm64' as const }],
      ),
    })
    .map(({ version, requiresText, ...fields }) =>
      offer(version, { ...fields, ...(requiresText === undefined ? {} : { requiresText }) }),
    ),
  { selector: ({ version }) => versionText(version), maxLength: 12 },
);
const queries = fc
  .record({
    from: versions,
    platform: fc.constantFrom(...PLATFORMS),
    arch: fc.constantFrom(...ARCHES, null),
    formats: fc.constantFrom(null, ['nsis' as const], ['zip' as const, 'dmg' as const]),
    osVersion: fc.constantFrom(null, '10.0.1', '11', 'odd'),
    osGate: fc.constantFrom('server' as const, 'client' as const),
    purpose: fc.constantFrom('update' as const, 'download' as const),
    signatureScheme: fc.constantFrom(null, 'minisign' as const),
  })
  .map(query);

describe('decideUpdate, for any input', () => {
  it('is total and deterministic, and never offers an artifact that breaks a rule', () => {
    fc.assert(
      fc.property(offers, queries, (all, asked) => {
        const channel = view(all);
        const decision = decideUpdate(asked, channel);
        expect(decideUpdate(asked, channel)).toEqual(decision);
        if (decision.reason !== 'offer') return;
        const { offer: chosen, artifact } = decision;
        expect(chosen.status).toBe('active');
        expect(asked.currentVersion).not.toBeNull();
        if (asked.currentVersion) {
          expect(compareVersions(chosen.version, asked.currentVersion)).toBeGreaterThan(0);
        }
        expect(chosen.artifacts).toContain(artifact);
        expect(artifact.platform).toBe(asked.platform);
        if (asked.formats) expect(asked.formats).toContain(artifact.format);
        if (asked.signatureScheme)
          expect(artifact.signatureSchemes).toContain(asked.signatureScheme);
      }),
      { numRuns: rounds(400, 2_000) },
    );
  });

  it('answers clients of an open channel as if there were no tiers, and other clients with not_entitled', () => {
    const channels = fc.subarray(['stable', 'beta']);
    const tiers = fc.constantFrom(null, 'free', 'pro', 'unheard-of');
    const named = fc.constantFrom('stable', 'beta');
    fc.assert(
      fc.property(
        offers,
        offers,
        queries,
        channels,
        tiers,
        named,
        (own, base, ask, kept, tier, name) => {
          const opened = kept.map((channel) => `channel:desktop/${channel}`);
          const table = parseTierTable({ free: [], pro: opened });
          const isBeta = name === 'beta';
          const whole = isBeta ? view(own, { name, inherits: 'stable' }, base) : view(base);
          const asked = { ...ask, channel: name };
          const { channel, isRestricted } = viewFor(table, tier, 'desktop', whole);
          const decision = decideUpdate(asked, channel);
          expect(decideUpdate(asked, channel)).toEqual(decision);
          const isOpen = (channelName: string) => tier === 'pro' || !kept.includes(channelName);
          expect(decision.reason === 'not_entitled').toBe(!isOpen(name));
          expect(isRestricted).toBe(kept.includes(name) || (isBeta && kept.includes('stable')));
          if (!isOpen(name)) {
            expect(decision).toEqual({ reason: 'not_entitled', path: [] });
          } else if (isBeta && !isOpen('stable')) {
            // As if there were no stable channel: no word of it in offer, reason or path.
            expect(decision).toEqual(decideUpdate(asked, view(own, { name, inherits: 'stable' })));
          } else {
            expect(channel).toBe(whole);
          }
        },
      ),
      { numRuns: rounds(400, 2_000) },
    );
  });

  it('moves no machine off its native builds', () => {
    fc.assert(
      fc.property(offers, queries, (all, asked) => {
        const decision = decideUpdate(asked, view(all));
        if (decision.reason !== 'offer' || asked.arch === null) return;
        const { offer: chosen, artifact } = decision;
        const isNative = (arch: OfferedArtifact['arch']) =>
          arch === asked.arch || arch === 'universal';
        if (isNative(artifact.arch)) return;
        const ended = all
          .filter(({ status }) => status === 'active')
          .filter(({ version }) => compareVersions(version, chosen.version) <= 0)
          .filter(({ endsNative }) =>
            endsNative.some((t) => t.platform === asked.platform && t.arch === asked.arch),
          )
          .sort((a, b) => compareVersions(b.version, a.version))[0];
        for (const other of all) {
          if (other.status !== 'active') continue;
          if (compareVersions(other.version, chosen.version) > 0) continue;
          if (ended && compareVersions(other.version, ended.version) < 0) continue;
          for (const build of other.artifacts) {
            const here = build.platform === asked.platform && isNative(build.arch);
            expect(here && suits(build, asked)).toBe(false);
          }
        }
      }),
      { numRuns: rounds(400, 5_000) },
    );
  });

  it('does not depend on the order in which offers are stored', () => {
    fc.assert(
      fc.property(offers, queries, (all, asked) => {
        expect(decideUpdate(asked, view([...all].reverse()))).toEqual(
          decideUpdate(asked, view(all)),
        );
      }),
      { numRuns: rounds(400, 1_000) },
    );
  });

  it('offers at least as new a version after one more release', () => {
    fc.assert(
      fc.property(offers, queries, (all, asked) => {
        const [added, ...before] = all.toSorted((a, b) => compareVersions(b.version, a.version));
        if (added === undefined) return;
        const old = decideUpdate(asked, view(before));
        const now = decideUpdate(asked, view(all));
        if (old.reason !== 'offer') return;
        expect(now.reason).toBe('offer');
        if (now.reason === 'offer') {
          expect(compareVersions(now.offer.version, old.offer.version)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: rounds(400, 1_000) },
    );
  });

  it('agrees with the latest version on a website', () => {
    fc.assert(
      fc.property(offers, fc.constantFrom(...PLATFORMS), (all, platform) => {
        const channel = view(all);
        const latest = newestFor(channel, visitorOn(platform, null));
        const asked = query({
          platform,
          arch: null,
          currentVersion: null,
          purpose: 'download',
          osGate: 'client',
        });
        const decision = decideUpdate(asked, channel);
        expect(decision.reason === 'offer' ? decision.offer : undefined).toBe(latest);
      }),
      { numRuns: rounds(400, 1_000) },
    );
  });
});
