import { describe, expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { rolloutJsonOf } from '../../../src/catalog/documents/rollout-document.ts';
import { parseRollout } from '../../../src/domain/rollout-text.ts';
import { clientSentences, installedText } from '../../../src/releases/forecast/clients-text.ts';
import {
  type ChannelChange,
  compareChannels,
} from '../../../src/releases/forecast/compare-channels.ts';
import { foreseeChanges } from '../../../src/releases/forecast/foresee-changes.ts';
import { offerJson } from '../offer-json.ts';

const LINUX = { os: 'linux', arch: 'x64', format: 'deb' } as const;
const WINDOWS = { os: 'windows', arch: 'x64', format: 'nsis' } as const;
const HOUR = 3_600_000;

const offer = (version: string, over: Partial<OfferJson> = {}) => offerJson(version, [LINUX], over);
const channel = (offers: OfferJson[], over: Partial<ChannelJson> = {}): ChannelJson => ({
  inherits: null,
  offers,
  retired: [],
  ...over,
});
type Channels = Record<string, ChannelJson>;

const compare = (before: Channels, after: Channels, now = 0) =>
  compareChannels({ before, after }, now);
/** `stable linux-x64 deb 1.1.0..1.0.0: 1.1.0 -> 1.2.0@500` */
const clients = (before: Channels, after: Channels, now = 0): readonly string[] =>
  foreseeChanges({ before, after }, now).map((group) => {
    const [was, is] = [group.before, group.after].map(({ offered, reached }) =>
      [...reached.map(({ version, share }) => `${version}@${share}`), String(offered)].join('/'),
    );
    return `${group.channel} ${group.target} ${installedText(group.installed, [group.seen])}: ${was} -> ${is}`;
  });
const fields = (changes: readonly ChannelChange[]) =>
  changes.map((change) =>
    change.kind === 'offer_changed'
      ? change.fields.map(({ field, before, after }) => [field, before, after])
      : change.kind,
  );
/** A rollout that began at the epoch. */
const rollout = (text: string, isRunning = true) =>
  rolloutJsonOf('salt', parseRollout(text, [], 0), { at: 0, elapsedMs: 0, isRunning });

describe('the difference between two states of the channels', () => {
  const before = { stable: channel([offer('1.0.0'), offer('1.1.0')]) };

  it('is empty for equal states, also when they were read separately', () => {
    expect(compare(before, before)).toEqual([]);
    expect(compare(before, structuredClone(before))).toEqual([]);
    expect(clients(before, structuredClone(before))).toEqual([]);
  });

  it('names offers that are new, retired, or no longer listed, the newest first', () => {
    const after = {
      stable: channel([offer('1.1.0'), offer('1.10.0'), offer('1.2.0')], { retired: ['1.0.0'] }),
    };
    expect(
      compare(before, after).map((each) => [each.kind, 'version' in each && each.version]),
    ).toEqual([
      ['offer_added', '1.10.0'],
      ['offer_added', '1.2.0'],
      ['offer_removed', '1.0.0'],
    ]);
    expect(compare(before, after).at(-1)).toMatchObject({ isRetired: true });
    expect(compare(before, { stable: channel([offer('1.1.0')]) })).toMatchObject([
      { kind: 'offer_removed', version: '1.0.0', isRetired: false },
    ]);
  });

  it('names the clients of every rollout that is under way, not only of the newest', () => {
    const with18 = (share: string) => ({
      stable: channel([
        offer('1.7.0'),
        offer('1.8.0', { rollout: rollout(share) }),
        offer('1.9.0', { rollout: rollout('1%') }),
      ]),
    });
    expect(clients(with18('1%'), with18('95%'))).toEqual([
      'stable linux-x64 deb 1.7.0: 1.9.0@100/1.8.0@100/null -> 1.9.0@100/1.8.0@9500/null',
      'stable linux-x64 deb older than 1.7.0: 1.9.0@100/1.8.0@100/1.7.0 -> 1.9.0@100/1.8.0@9500/1.7.0',
    ]);
  });

  it('names the fields of an offer that changed, and no others', () => {
    const paused = offer('1.1.0', { status: 'paused', reason: 'slow' });
    expect(fields(compare(before, { stable: channel([offer('1.0.0'), paused]) }))).toEqual([
      [
        ['status', 'active', 'paused'],
        ['reason', null, 'slow'],
      ],
    ]);
    const more = offerJson('1.1.0', [LINUX, WINDOWS], {
      manifest: { number: 2, digest: 'other' },
      ends_native: [{ os: 'windows', arch: 'arm64' }],
    });
    expect(fields(compare(before, { stable: channel([offer('1.0.0'), more]) }))).toEqual([
      [
        ['builds', ['linux-x64 deb'], ['linux-x64 deb', 'windows-x64 nsis']],
        ['manifest', 1, 2],
        ['endsNative', [], ['windows-arm64']],
      ],
    ]);
  });

  it('compares rollouts by their share at the time, their plan, and whether they are frozen', () => {
    const state = (text: string, isRunning = true) => ({
      stable: channel([offer('1.0.0'), offer('1.1.0', { rollout: rollout(text, isRunning) })]),
    });
    const plan = '5%@0h,50%@2h';
    expect(fields(compare(before, state(plan), HOUR))).toEqual([
      [
        [
          'rollout',
          { share: 10_000, plan: null, isFrozen: false },
          { share: 500, plan, isFrozen: false },
        ],
      ],
    ]);
    const frozen = { share: 500, plan, isFrozen: true };
    expect(fields(compare(state(plan), state(plan, false), 3 * HOUR))).toEqual([
      [['rollout', { share: 5000, plan, isFrozen: false }, frozen]],
    ]);
    // The clock of a plan moves when a release is paused and resumed. That alone is no difference.
    const moved = state(plan);
    const json = moved.stable.offers[1]?.rollout;
    if (json !== undefined) json.clock.at = new Date(HOUR).toISOString();
    expect(compare(state(plan), moved, HOUR)).toEqual([]);
  });

  it('names channels that are new or gone, and every setting that changed', () => {
    const after = {
      stable: channel(before.stable.offers, { allow_downgrade: true }),
      beta: channel([], { inherits: 'stable' }),
    };
    expect(compare(before, after)).toEqual([
      {
        kind: 'setting_changed',
        channel: 'stable',
        field: 'allow_downgrade',
        before: undefined,
        after: true,
      },
      { kind: 'channel_created', channel: 'beta' },
      {
        kind: 'setting_changed',
        channel: 'beta',
        field: 'inherits',
        before: undefined,
        after: 'stable',
      },
    ]);
    expect(fields(compare(after, before))).toEqual([
      'setting_changed',
      'channel_removed',
      'setting_changed',
    ]);
  });
});

describe('the clients that are offered something else', () => {
  const before = { stable: channel([offer('1.0.0'), offer('1.1.0')]) };

  it('are grouped by what they got before and get afterwards', () => {
    const after = { stable: channel([...before.stable.offers, offer('1.2.0')]) };
    expect(clients(before, after)).toEqual([
      'stable linux-x64 deb 1.1.0: null -> 1.2.0',
      'stable linux-x64 deb 1.0.0 and older: 1.1.0 -> 1.2.0',
      'stable linux-x64 deb new visitors: 1.1.0 -> 1.2.0',
    ]);
  });

  it('are told apart by the share of a rollout', () => {
    const at = (text: string) => ({
      stable: channel([...before.stable.offers, offer('1.2.0', { rollout: rollout(text) })]),
    });
    expect(clients(before, at('5%'))).toEqual([
      'stable linux-x64 deb 1.1.0: null -> 1.2.0@500/null',
      'stable linux-x64 deb 1.0.0 and older: 1.1.0 -> 1.2.0@500/1.1.0',
    ]);
    expect(clients(at('5%'), at('25%'))[1]).toBe(
      'stable linux-x64 deb 1.0.0 and older: 1.2.0@500/1.1.0 -> 1.2.0@2500/1.1.0',
    );
    expect(clients(before, at('0'))).toEqual([]);
  });

  it('include those of channels that inherit, and those that a setting affects', () => {
    const beta = channel([offer('1.1.0-beta.1')], { inherits: 'stable' });
    const after = { stable: channel([...before.stable.offers, offer('1.2.0')]), beta };
    expect(clients({ ...before, beta }, after).filter((line) => line.startsWith('beta'))).toEqual([
      'beta linux-x64 deb 1.1.0: null -> 1.2.0',
      'beta linux-x64 deb 1.1.0-beta.1 and older: 1.1.0 -> 1.2.0',
      'beta linux-x64 deb new visitors: 1.1.0 -> 1.2.0',
    ]);
    const alone = { ...before, beta: { ...beta, inherits: null } };
    expect(clients(alone, { ...before, beta })).toEqual([
      'beta linux-x64 deb 1.1.0-beta.1: null -> 1.1.0',
      'beta linux-x64 deb 1.0.0 and older: 1.1.0-beta.1 -> 1.1.0',
      'beta linux-x64 deb new visitors: 1.1.0-beta.1 -> 1.1.0',
    ]);
  });

  it('are found quickly on a channel of ten thousand offers', () => {
    const offers = Array.from({ length: 10_000 }, (_, index) =>
      offerJson(`1.${index}.0`, [LINUX, WINDOWS]),
    );
    const last = offers.at(-1) as OfferJson;
    const after = [...offers.slice(0, -1), { ...last, status: 'yanked' as const }];
    const lines = clients({ stable: channel(offers) }, { stable: channel(after) });
    expect(lines).toEqual([
      'stable linux-x64 deb 1.9998.0: 1.9999.0 -> null',
      'stable linux-x64 deb 1.9997.0 and older: 1.9999.0 -> 1.9998.0',
      'stable linux-x64 deb new visitors: 1.9999.0 -> 1.9998.0',
      'stable windows-x64 nsis 1.9998.0: 1.9999.0 -> null',
      'stable windows-x64 nsis 1.9997.0 and older: 1.9999.0 -> 1.9998.0',
      'stable windows-x64 nsis new visitors: 1.9999.0 -> 1.9998.0',
    ]);
  });

  it('have their share of the counted checks, also on versions that another channel lists', () => {
    const before = { stable: channel([offer('1.0.0'), offer('1.3.0')]) };
    const after = { stable: channel([offer('1.0.0'), offer('1.3.0', { status: 'paused' })]) };
    const checks = (version: string, count: number, over: object = {}) => ({
      channel: 'stable',
      platform: 'linux',
      version,
      checks: count,
      ...over,
    });
    const seen = [
      ...[checks('1.0.0', 50), checks('1.1.0', 20), checks('1.3.0', 25), checks('0.9.0', 5)],
      ...[checks('other', 100), checks('unstated', 100)],
      ...[checks('1.0.0', 100, { platform: 'macos' }), checks('1.0.0', 100, { channel: 'beta' })],
    ];
    const groups = foreseeChanges({ before, after }, 0, seen);
    expect(
      groups.map((group) => [installedText(group.installed, [group.seen]), group.seen]),
    ).toEqual([
      ['1.1.0 to 1.0.0 (70.0% of checks)', 0.7],
      ['0.9.0 and older (5.0% of checks)', 0.05],
      ['new visitors', null],
    ]);
    expect(clientSentences(groups, seen)[1]).toMatch(/^On stable, 33\.3% of the counted checks /);
  });
});
