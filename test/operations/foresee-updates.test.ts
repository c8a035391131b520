import { describe, expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../src/catalog/revision-document.ts';
import { type ForeseenUpdate, foreseeUpdates } from '../../src/operations/foresee-updates.ts';
import { offerJson } from './offer-json.ts';

type Machine = readonly ['windows' | 'macos' | 'linux', 'x64' | 'arm64', 'nsis' | 'zip' | 'deb'];
const WINDOWS: Machine = ['windows', 'x64', 'nsis'];
const LINUX: Machine = ['linux', 'x64', 'deb'];

function offer(
  version: string,
  over: Partial<OfferJson> = {},
  machines: readonly Machine[] = [LINUX],
): OfferJson {
  return offerJson(
    version,
    machines.map(([os, arch, format]) => ({ os, arch, format })),
    over,
  );
}

const channel = (offers: OfferJson[], over: Partial<ChannelJson> = {}): ChannelJson => ({
  inherits: null,
  offers,
  retired: [],
  ...over,
});

const line = ({ channel: name, target, newest, oldest, ...answer }: ForeseenUpdate): string =>
  `${name} ${target} ${newest}${newest === oldest ? '' : `..${oldest}`}: ${answer.offered ?? `${answer.reason} ${answer.withheld}`}`;

function foresee(
  before: Record<string, ChannelJson>,
  after: Record<string, ChannelJson>,
  version: string,
  changed = ['stable'],
): readonly string[] {
  return foreseeUpdates({ before, after }, [version], changed, 0).map(line);
}

describe('the updates that clients get after a change', () => {
  it('a yank moves its clients to a newer release, and none to an older one', () => {
    const older = [offer('1.0.0'), offer('1.1.0'), offer('1.2.0')];
    const before = { stable: channel([...older, offer('1.3.0')]) };
    const yanked = { stable: channel([...older, offer('1.3.0', { status: 'yanked' })]) };
    expect(foresee(before, yanked, '1.3.0')).toEqual([
      'stable linux-x64 deb 1.3.0: up_to_date null',
      'stable linux-x64 deb 1.2.0: up_to_date null',
      'stable linux-x64 deb 1.1.0..1.0.0: 1.2.0',
    ]);
    const next = { stable: channel([...yanked.stable.offers, offer('1.4.0')]) };
    expect(foresee(before, next, '1.3.0')).toEqual([
      'stable linux-x64 deb 1.3.0: 1.4.0',
      'stable linux-x64 deb 1.2.0..1.0.0: 1.4.0',
    ]);
  });

  it('reports each target separately, also after the version is retired', () => {
    const before = { stable: channel([offer('1.0.0'), offer('2.0.0', {}, [WINDOWS, LINUX])]) };
    const after = { stable: channel([offer('1.0.0')], { retired: ['2.0.0'] }) };
    expect(foresee(before, after, '2.0.0')).toEqual([
      'stable linux-x64 deb 2.0.0: up_to_date null',
      'stable linux-x64 deb 1.0.0: up_to_date null',
      'stable windows-x64 nsis 2.0.0: up_to_date null',
      'stable windows-x64 nsis 1.0.0: up_to_date null',
    ]);
  });

  it('names the release that clients cannot reach without a yanked stepping stone', () => {
    const stone = offer('1.5.0');
    const gated = offer('2.0.0', { requires: '>=1.5.0' });
    const before = { stable: channel([offer('1.0.0'), stone, gated]) };
    const after = { stable: channel([offer('1.0.0'), { ...stone, status: 'yanked' }, gated]) };
    expect(foresee(before, after, '1.5.0')).toEqual([
      'stable linux-x64 deb 1.5.0: 2.0.0',
      'stable linux-x64 deb 1.0.0: must_step_through 2.0.0',
    ]);
  });

  it('includes pre-release channels, which show stable, and no other channels', () => {
    const state = (status: OfferJson['status']) => ({
      stable: channel([offer('1.0.0'), offer('1.1.0', { status })]),
      beta: channel([offer('1.2.0-beta.1')], { inherits: 'stable' }),
      internal: channel([offer('1.1.0')]),
    });
    expect(foresee(state('active'), state('paused'), '1.1.0')).toEqual([
      'stable linux-x64 deb 1.1.0: up_to_date null',
      'stable linux-x64 deb 1.0.0: paused 1.1.0',
      'beta linux-x64 deb 1.1.0: 1.2.0-beta.1',
      'beta linux-x64 deb 1.0.0: 1.2.0-beta.1',
    ]);
  });

  it('is quick for a channel of ten thousand offers', () => {
    const offers = Array.from({ length: 10_000 }, (_, index) =>
      offer(`1.${index}.0`, {}, [LINUX, WINDOWS]),
    );
    const last = offers.at(-1) as OfferJson;
    const after = [...offers.slice(0, -1), { ...last, status: 'yanked' as const }];
    const lines = foresee({ stable: channel(offers) }, { stable: channel(after) }, last.version);
    expect(lines).toHaveLength(6);
    expect(lines[2]).toBe('stable linux-x64 deb 1.9997.0..1.0.0: 1.9998.0');
  });
});

describe('several versions', () => {
  it('form groups of their own, and the clients on them have an answer too', () => {
    const older = [offer('1.0.0'), offer('1.1.0')];
    const bad = [offer('1.2.0'), offer('1.3.0')];
    const before = { stable: channel([...older, ...bad]) };
    const yanked = bad.map((each) => ({ ...each, status: 'yanked' as const }));
    const after = { stable: channel([...older, ...yanked]) };
    const versions = ['1.2.0', '1.3.0'];
    const lines = foreseeUpdates({ before, after }, versions, ['stable'], 0).map(line);
    expect(lines).toEqual([
      'stable linux-x64 deb 1.3.0..1.2.0: up_to_date null',
      'stable linux-x64 deb 1.1.0: up_to_date null',
      'stable linux-x64 deb 1.0.0: 1.1.0',
    ]);
  });
});
