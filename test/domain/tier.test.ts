import { describe, expect, it } from 'vitest';
import { createChannelView } from '../../src/domain/channel.ts';
import { DEFAULT_TIERS, parseTierTable, viewFor } from '../../src/domain/tier.ts';
import { parseVersion } from '../../src/domain/version.ts';

const TABLE = parseTierTable({
  free: ['developer_keys'],
  pro: ['developer_keys', 'analytics', 'channel:desktop/insider'],
  lab: ['channel:desktop/insider', 'channel:desktop/latest', 'channel:helper/nightly'],
});

describe('a table of tiers', () => {
  it('opens a channel that some tier names only to the tiers that name it', () => {
    const open = (tier: string | null, application: string, channel: string) =>
      TABLE.opensChannel(tier, application, channel);
    expect(['pro', 'lab'].map((tier) => open(tier, 'desktop', 'insider'))).toEqual([true, true]);
    expect([null, 'free'].map((tier) => open(tier, 'desktop', 'insider'))).toEqual([false, false]);
    expect(open('pro', 'helper', 'nightly')).toBe(false);
    expect(open(null, 'helper', 'insider')).toBe(true);
    expect(TABLE.restricts('desktop', 'insider')).toBe(true);
    expect(TABLE.restricts('helper', 'insider')).toBe(false);
  });

  it('resolves aliases of channels', () => {
    expect(TABLE.restricts('desktop', 'stable')).toBe(true);
    expect(TABLE.opensChannel('lab', 'desktop', 'stable')).toBe(true);
    expect(TABLE.channels).toContainEqual({ application: 'desktop', channel: 'stable' });
  });

  it('uses the first tier for an unknown tier', () => {
    expect(TABLE.tierNamed('platinum')).toBe('free');
    expect(TABLE.tierNamed(null)).toBe('free');
    expect(TABLE.opensChannel('platinum', 'desktop', 'insider')).toBe(false);
    expect(TABLE.opensChannel('__proto__', 'desktop', 'insider')).toBe(false);
    expect(TABLE.opensFeature('platinum', 'developer_keys')).toBe(true);
    expect(TABLE.opensFeature('lab', 'developer_keys')).toBe(false);
  });

  it.each([
    ['no object', []],
    ['no tier', {}],
    ['a name', { 'Pro tier': [] }],
    ['a list', { pro: 'analytics' }],
    ['a feature', { pro: ['everything'] }],
    ['a value', { pro: [null] }],
    ['a channel without its application', { pro: ['channel:insider'] }],
    ['a channel name', { pro: ['channel:desktop/In Sider'] }],
  ])('refuses an invalid table: %s', (_what, json) => {
    expect(() => parseTierTable(json)).toThrow();
  });
});

describe('a channel as a tier sees it', () => {
  const offer = (version: string) => ({
    version: parseVersion(version),
    status: 'active' as const,
    manifest: { number: 1, digest: '0'.repeat(64) },
    releasedAt: '2026-01-01T00:00:00Z',
    requires: null,
    mandatoryFor: null,
    rollout: null,
    endsNative: [],
    artifacts: [],
  });
  const retired = new Set(['0.9.0']);
  const plain = { inherits: null, givesEarlyAccess: false, allowsDowngrade: false };
  const stable = { ...plain, name: 'stable', offers: [offer('1.0.0')], retired };
  const offers = [offer('2.0.0-beta.1')];
  const beta = {
    ...plain,
    name: 'beta',
    inherits: 'stable',
    offers,
    retired: new Set(['0.8.0']),
  };
  const views = {
    stable: createChannelView(stable, []),
    beta: createChannelView(beta, [stable]),
  };
  const versionsSeen = (tier: string | null, name: keyof typeof views) =>
    viewFor(TABLE, tier, 'desktop', views[name]).channel.offers.map(
      ({ version }) => version.version,
    );

  it('is the channel itself without restricted channels', () => {
    const seen = viewFor(DEFAULT_TIERS, null, 'desktop', views.beta);
    expect(seen).toEqual({ channel: views.beta, isRestricted: false });
    expect(viewFor(TABLE, null, 'helper', views.beta).channel).toBe(views.beta);
  });

  it('is empty when it is closed', () => {
    const { channel, isRestricted } = viewFor(TABLE, 'pro', 'desktop', views.stable);
    expect([channel.isOpen, isRestricted]).toEqual([false, true]);
    expect(channel.offers).toEqual([]);
    expect(channel.offerOf('1.0.0')).toBeUndefined();
    expect(channel.isRetired('0.9.0')).toBe(false);
    expect(channel.showing(() => true).isOpen).toBe(false);
  });

  it('of a pre-release channel does not show a closed stable channel', () => {
    expect(versionsSeen('lab', 'beta')).toEqual(['2.0.0-beta.1', '1.0.0']);
    expect(versionsSeen('pro', 'beta')).toEqual(['2.0.0-beta.1']);
    const { channel, isRestricted } = viewFor(TABLE, null, 'desktop', views.beta);
    expect([channel.isOpen, isRestricted]).toEqual([true, true]);
    expect(channel.offerOf('1.0.0')).toBeUndefined();
    expect(['0.8.0', '0.9.0'].map((version) => channel.isRetired(version))).toEqual([true, false]);
    // One view for every client, not one for every question.
    expect(viewFor(TABLE, 'pro', 'desktop', views.beta).channel).toBe(channel);
  });
});
