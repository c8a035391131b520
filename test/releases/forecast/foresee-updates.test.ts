import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { viewsOf } from '../../../src/catalog/live/snapshot.ts';
import type { ChannelView } from '../../../src/domain/channel.ts';
import { decideUpdate } from '../../../src/domain/decide-update.ts';
import type { OfferedArtifact } from '../../../src/domain/offer.ts';
import { findUnserved } from '../../../src/domain/unserved-visitors.ts';
import {
  compareVersions,
  parseVersion,
  type Version,
  versionText,
} from '../../../src/domain/version.ts';
import { installedText } from '../../../src/releases/forecast/clients-text.ts';
import { foreseeUnserved } from '../../../src/releases/forecast/foresee-unserved.ts';
import {
  type ForeseenUpdate,
  foreseeUpdates,
  targetsOf,
  updateQuestion,
} from '../../../src/releases/forecast/foresee-updates.ts';
import { rounds } from '../../support/rounds.ts';
import { offerJson } from '../offer-json.ts';

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

const line = ({ channel: name, target, ...group }: ForeseenUpdate): string =>
  `${name} ${target} ${installedText(group.installed, [group.seen])}: ${group.offered ?? `${group.reason} ${group.withheld}`}`;

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
      'stable linux-x64 deb 1.1.0 and older: 1.2.0',
      'stable linux-x64 deb new visitors: 1.2.0',
    ]);
    const next = { stable: channel([...yanked.stable.offers, offer('1.4.0')]) };
    expect(foresee(before, next, '1.3.0')).toEqual([
      'stable linux-x64 deb 1.3.0: 1.4.0',
      'stable linux-x64 deb 1.2.0 and older: 1.4.0',
      'stable linux-x64 deb new visitors: 1.4.0',
    ]);
  });

  it('reports each target separately, also after the version is retired', () => {
    const before = { stable: channel([offer('1.0.0'), offer('2.0.0', {}, [WINDOWS, LINUX])]) };
    const after = { stable: channel([offer('1.0.0')], { retired: ['2.0.0'] }) };
    expect(foresee(before, after, '2.0.0')).toEqual([
      'stable linux-x64 deb 2.0.0: up_to_date null',
      'stable linux-x64 deb 1.0.0: up_to_date null',
      'stable linux-x64 deb older than 1.0.0: 1.0.0',
      'stable linux-x64 deb new visitors: 1.0.0',
      'stable windows-x64 nsis 2.0.0: up_to_date null',
      'stable windows-x64 nsis 1.0.0: up_to_date null',
      'stable windows-x64 nsis older than 1.0.0: unsupported_platform 1.0.0',
      'stable windows-x64 nsis new visitors: no_release null',
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
      'stable linux-x64 deb older than 1.0.0: 1.0.0',
      'stable linux-x64 deb new visitors: 2.0.0',
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
      'stable linux-x64 deb older than 1.0.0: 1.0.0',
      'stable linux-x64 deb new visitors: 1.0.0',
      'beta linux-x64 deb 1.1.0: 1.2.0-beta.1',
      'beta linux-x64 deb 1.0.0 and older: 1.2.0-beta.1',
      'beta linux-x64 deb new visitors: 1.2.0-beta.1',
    ]);
  });

  it('is quick for a channel of ten thousand offers', () => {
    const offers = Array.from({ length: 10_000 }, (_, index) =>
      offer(`1.${index}.0`, {}, [LINUX, WINDOWS]),
    );
    const last = offers.at(-1) as OfferJson;
    const after = [...offers.slice(0, -1), { ...last, status: 'yanked' as const }];
    const lines = foresee({ stable: channel(offers) }, { stable: channel(after) }, last.version);
    expect(lines).toHaveLength(8);
    expect(lines[2]).toBe('stable linux-x64 deb 1.9997.0 and older: 1.9998.0');
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
      'stable linux-x64 deb 1.3.0 to 1.2.0: up_to_date null',
      'stable linux-x64 deb 1.1.0: up_to_date null',
      'stable linux-x64 deb 1.0.0 and older: 1.1.0',
      'stable linux-x64 deb new visitors: 1.1.0',
    ]);
  });
});

describe('clients on versions that the channel never listed', () => {
  it('have an answer between two bounds of a rule, too', () => {
    const gated = offer('2.0.0', { requires: '>=1.5.0 <1.8.0' });
    const before = { stable: channel([offer('1.0.0'), gated]) };
    const after = { stable: channel([offer('1.0.0'), { ...gated, status: 'paused' }]) };
    expect(foresee(after, before, '2.0.0')).toEqual([
      'stable linux-x64 deb 2.0.0: up_to_date null',
      'stable linux-x64 deb from 1.8.0 to before 2.0.0: must_step_through 2.0.0',
      'stable linux-x64 deb from 1.5.0 to before 1.8.0: 2.0.0',
      'stable linux-x64 deb 1.0.0: must_step_through 2.0.0',
      'stable linux-x64 deb older than 1.0.0: 1.0.0',
      'stable linux-x64 deb new visitors: 2.0.0',
    ]);
  });

  it('get what their group gets, whatever they run and whatever the releases require', () => {
    const number = fc.integer({ min: 0, max: 3 });
    const version = fc
      .tuple(number, number, fc.constantFrom('', '-0', '-beta.1'))
      .map(([major, minor, pre]) => `${major}.${minor}.0${pre}`);
    const range = fc
      .array(fc.tuple(fc.constantFrom('>', '>=', '<', '<=', '', '^', '~'), version), {
        minLength: 1,
        maxLength: 3,
      })
      .map((parts) => parts.map(([operator, each]) => operator + each).join(' || '));
    const offers = fc.uniqueArray(
      fc.record({
        version,
        requires: fc.option(range),
        status: fc.constantFrom('active' as const, 'paused' as const, 'yanked' as const),
      }),
      { minLength: 1, maxLength: 6, selector: (each) => each.version },
    );
    fc.assert(
      fc.property(offers, fc.array(version, { minLength: 5, maxLength: 20 }), (made, running) => {
        const state = {
          stable: channel(made.map(({ version, ...over }) => offer(version, over))),
        };
        const newest = made
          .map((each) => parseVersion(each.version))
          .sort(compareVersions)
          .at(-1);
        const groups = foreseeUpdates(
          { before: state, after: state },
          [String(newest)],
          ['stable'],
          0,
        );
        const view = viewsOf(state).get('stable') as ChannelView;
        const [artifact] = targetsOf(state.stable.offers) as [OfferedArtifact];
        for (const client of running.map((text) => parseVersion(text))) {
          if (newest === undefined || compareVersions(client, newest) > 0) continue;
          const group = groups.filter(({ installed }) => isIn(client, installed));
          const own = decideUpdate(updateQuestion('stable', artifact, client), view, 0);
          const offered = own.reason === 'offer' ? versionText(own.offer.version) : null;
          expect(group.map((each) => each.offered)).toEqual([offered]);
        }
      }),
      { numRuns: rounds(150, 5_000) },
    );
  });
});

describe('new visitors without a release', () => {
  const MAC: Machine = ['macos', 'arm64', 'zip'];
  const paused = { status: 'paused' } as const;
  const yanked = { status: 'yanked' } as const;
  it.each<[string, Record<string, ChannelJson>, readonly string[]]>([
    ['none: a channel that never had a release', { stable: channel([]) }, []],
    ['none: a release for every client', { stable: channel([offer('1.0.0')]) }, []],
    ['all: the only release is paused', { stable: channel([offer('1.0.0', paused)]) }, ['stable']],
    ['all: the only release is yanked', { stable: channel([offer('1.0.0', yanked)]) }, ['stable']],
    ['all: every release is retired', { stable: channel([], { retired: ['1.0.0'] }) }, ['stable']],
    [
      'those with a platform whose only release is paused',
      { stable: channel([offer('1.0.0'), offer('1.1.0', paused, [LINUX, MAC])]) },
      ['stable macos'],
    ],
    [
      'none of a channel that inherits a release',
      {
        stable: channel([offer('1.0.0')]),
        beta: channel([offer('1.1.0', paused)], { inherits: 'stable' }),
      },
      [],
    ],
    [
      'all of a channel whose own offer of the version is paused',
      {
        stable: channel([offer('1.0.0')]),
        beta: channel([offer('1.0.0', paused)], { inherits: 'stable' }),
      },
      ['beta'],
    ],
  ])('are %s', (_what, channels, expected) => {
    const found = findUnserved(viewsOf(channels), 0);
    expect(found.map((each) => [each.channel, each.platform ?? []].flat().join(' '))).toEqual(
      expected,
    );
  });

  it('are foreseen where they got one before', () => {
    const full = { stable: channel([offer('1.0.0', {}, [LINUX, MAC])]) };
    const mac = { stable: channel([offer('1.0.0', paused, [LINUX, MAC]), offer('1.1.0')]) };
    const none = { stable: channel([offer('1.0.0', paused, [LINUX, MAC])]) };
    const all = { channel: 'stable', platform: null };
    expect(foreseeUnserved({ before: full, after: none }, 0)).toEqual([all]);
    expect(foreseeUnserved({ before: full, after: mac }, 0)).toEqual([
      { ...all, platform: 'macos' },
    ]);
    expect(foreseeUnserved({ before: mac, after: none }, 0)).toEqual([all]);
    expect(foreseeUnserved({ before: none, after: mac }, 0)).toEqual([]);
  });
});

function isIn(client: Version, installed: ForeseenUpdate['installed']): boolean {
  if (installed === null) return false;
  const { oldest, below } = installed;
  return (
    (oldest === null || compareVersions(client, parseVersion(oldest)) >= 0) &&
    (below === null || compareVersions(client, parseVersion(below)) < 0)
  );
}
