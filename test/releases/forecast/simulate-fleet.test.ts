import { describe, expect, it } from 'vitest';
import type { ChannelJson, OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { groupName } from '../../../src/domain/fleet.ts';
import { simulateFleet } from '../../../src/releases/forecast/simulate-fleet.ts';
import { seenFleet, spreadFleet } from '../../../src/releases/forecast/spread-fleet.ts';
import { summarizeSimulation } from '../../../src/releases/forecast/summarize-simulation.ts';
import { OTHER, UNSTATED } from '../../../src/usage/counts.ts';
import { offerJson } from '../offer-json.ts';

const NOW = Date.parse('2026-11-21T09:00:00Z');
const WINDOWS: OfferJson['artifacts'] = [{ os: 'windows', arch: 'x64', format: 'nsis' }];
const MAC: OfferJson['artifacts'] = [{ os: 'macos', arch: 'universal', format: 'zip' }];

const channel = (offers: readonly OfferJson[], over: Partial<ChannelJson> = {}): ChannelJson => ({
  inherits: null,
  offers: [...offers],
  retired: [],
  ...over,
});

const rollout = (share: number): NonNullable<OfferJson['rollout']> => ({
  salt: 'salt',
  plan: '',
  steps: [
    { share, after_seconds: 0 },
    { share: 10_000, after_seconds: 3_600 },
  ],
  linear: false,
  freeze_windows: [],
  clock: { at: new Date(NOW).toISOString(), elapsed_ms: 0, running: true },
});

const names = (groups: Parameters<typeof groupName>[0][]) =>
  groups.map((group) => `${groupName(group)}: ${group.count}`);

describe('a made-up fleet', () => {
  it('is spread over the listed and retired versions and the targets of each', () => {
    const channels = {
      stable: channel(
        [
          offerJson('1.1.0', [...WINDOWS, ...MAC]),
          offerJson('1.2.0', WINDOWS, { status: 'yanked' }),
          offerJson('1.3.0', WINDOWS, { rollout: rollout(500) }),
        ],
        { retired: ['1.0.0'] },
      ),
    };
    const { groups, description } = spreadFleet('desktop', channels, 'stable', 100, NOW);
    expect(names([...groups])).toEqual([
      'stable 1.1.0 windows-x64: 10',
      'stable 1.1.0 macos-x64: 10',
      'stable 1.1.0 macos-arm64: 10',
      'stable 1.2.0 windows-x64: 10',
      'stable 1.0.0 windows-x64: 10',
      'stable 1.0.0 macos-x64: 10',
      'stable 1.0.0 macos-arm64: 10',
      // They stand for clients on versions that were never published here.
      'stable 0.0.0-0 windows-x64: 10',
      'stable 0.0.0-0 macos-x64: 10',
      'stable 0.0.0-0 macos-arm64: 10',
    ]);
    expect(description).toContain('and over versions that it never listed: 0.0.0-0. The last');
    expect(description).toContain('spread evenly over 3 versions of stable');
    // An hour later its rollout has reached every client.
    const later = spreadFleet('desktop', channels, 'stable', 11, NOW + 3_600_000).groups;
    expect(names([...later])).toContain('stable 1.3.0 windows-x64: 1');
  });

  it('has the versions of inherited channels, and a version whose rollout is under way alone', () => {
    const channels = {
      stable: channel([offerJson('1.0.0', WINDOWS)]),
      beta: channel([offerJson('1.1.0-beta.1', WINDOWS)], { inherits: 'stable' }),
      edge: channel([offerJson('2.0.0', WINDOWS, { rollout: rollout(500) })]),
    };
    expect(names([...spreadFleet('desktop', channels, 'beta', 3, NOW).groups])).toEqual([
      'beta 1.1.0-beta.1 windows-x64: 1',
      'beta 1.0.0 windows-x64: 1',
      'beta 0.0.0-0 windows-x64: 1',
    ]);
    expect(names([...spreadFleet('desktop', channels, 'edge', 4, NOW).groups])).toEqual([
      'edge 2.0.0 windows-x64: 2',
      'edge 0.0.0-0 windows-x64: 2',
    ]);
  });

  it('has the versions at which a rule begins or ends, but none above all releases', () => {
    const channels = {
      stable: channel([
        offerJson('1.0.0', WINDOWS),
        offerJson('2.0.0', WINDOWS, { requires: '>=1.0.0 <1.5.0' }),
        offerJson('3.0.0', WINDOWS, { requires: '>1.6.0 <9.0.0' }),
      ]),
    };
    const { groups } = spreadFleet('desktop', channels, 'stable', 6, NOW);
    expect(groups.map(({ version }) => version.version)).toEqual([
      ...['1.0.0', '2.0.0', '3.0.0', '1.6.1-0', '1.5.0', '0.0.0-0'],
    ]);
  });

  it('is refused for a channel without versions, or that is not there', () => {
    const empty = { stable: channel([]) };
    expect(() => spreadFleet('desktop', empty, 'stable', 1, NOW)).toThrow(/lists no release/);
    expect(() => spreadFleet('desktop', empty, 'beta', 1, NOW)).toThrow(/No channel "beta" in/);
  });
});

describe('a fleet from counts', () => {
  const channels = { stable: channel([]) };
  const seen = (over: object = {}) => ({
    channel: 'stable',
    platform: 'windows',
    version: '1.0.0',
    checks: 30,
    ...over,
  });

  it('has the shares of the checks, the usual architectures, and says what it leaves out', () => {
    const rows = [
      seen(),
      seen({ platform: 'macos', checks: 10 }),
      seen({ version: OTHER, checks: 10 }),
      seen({ version: UNSTATED, checks: 4 }),
      seen({ platform: 'other', checks: 3 }),
      seen({ channel: 'gone', checks: 2 }),
      seen({ version: '1.1.0', checks: 0 }),
    ];
    const { groups, description } = seenFleet(rows, channels, 100);
    expect(names([...groups])).toEqual([
      'stable 1.0.0 windows-x64: 60',
      'stable 1.0.0 macos-arm64: 20',
      'stable 0.0.0-0 windows-x64: 20',
    ]);
    expect(description).toContain('in proportion to 50 counted checks');
    expect(description).toContain('10 came from versions that no channel lists');
    expect(description).toContain('9 checks');
    expect(description).toContain('windows-x64, macos-arm64, linux-x64');
  });

  it('is refused when no check is left', () => {
    expect(() => seenFleet([seen({ version: UNSTATED })], channels, 100)).toThrow(
      /no checks with a version/,
    );
  });
});

describe('a simulated fleet', () => {
  const step = [
    offerJson('1.0.0', WINDOWS),
    offerJson('1.1.0', WINDOWS),
    offerJson('1.2.0', WINDOWS, { requires: '>=1.1.0' }),
  ];
  const before = { stable: channel(step) };
  const with110 = (over: Partial<OfferJson>) => ({
    stable: channel(
      step.map((offer) => (offer.version === '1.1.0' ? { ...offer, ...over } : offer)),
    ),
  });
  const simulate = async (after: typeof before | null) => {
    const fleet = spreadFleet('desktop', before, 'stable', 400, NOW).groups;
    const request = { application: 'desktop', before, after, fleet, now: NOW, seed: 1 };
    const simulation = await simulateFleet({ ...request, onProgress: () => {} });
    const fates = simulation.after ?? simulation.before;
    const summary = summarizeSimulation(fates, after ?? before, simulation.times.length);
    return { simulation, summary };
  };

  it('compares two states at the same times, and asks in both for the same installations', async () => {
    const { simulation } = await simulate(with110({ rollout: rollout(5_000) }));
    expect(simulation.installations).toBe(400);
    expect(simulation.times.map(({ at, isStep }) => [at - NOW, isStep])).toEqual([
      [0, false],
      [3_600_000, true],
    ]);
    const before = summarizeSimulation(simulation.before, { stable: channel(step) }, 2);
    expect(before.totals).toEqual([
      { version: '1.2.0', installed: 100, counts: [400, 400] },
      { version: '1.1.0', installed: 100, counts: [0, 0] },
      { version: '1.0.0', installed: 100, counts: [0, 0] },
      { version: '0.0.0-0', installed: 100, counts: [0, 0] },
    ]);
  });

  it('names the stranded, the rule, and why each release in between is out of reach', async () => {
    const { summary } = await simulate(with110({ status: 'paused' }));
    expect(summary.stranded).toEqual([
      {
        channel: 'stable',
        version: '1.0.0',
        machine: 'windows-x64',
        count: 100,
        stays: '1.0.0',
        missed: '1.2.0',
        requires: '>=1.1.0',
        between: [{ version: '1.1.0', outcome: 'paused' }],
      },
      // Clients older than all releases update to 1.0.0, and get no further.
      expect.objectContaining({ version: '0.0.0-0', count: 100, stays: '1.0.0', missed: '1.2.0' }),
    ]);
    const yanked = (await simulate(with110({ status: 'yanked' }))).summary;
    expect(yanked.stranded[0]?.between).toEqual([{ version: '1.1.0', outcome: 'yanked' }]);
    const foreign = (await simulate(with110({ artifacts: MAC }))).summary;
    expect(foreign.stranded[0]?.between).toEqual([
      { version: '1.1.0', outcome: 'not_for_machine' },
    ]);
    const half = (
      await simulate(
        with110({ rollout: { ...rollout(0), steps: [{ share: 0, after_seconds: 0 }] } }),
      )
    ).summary;
    expect(half.stranded[0]?.between).toEqual([{ version: '1.1.0', outcome: 'held_by_rollout' }]);
  });

  it('says who waits in the end, also on a withdrawn version', async () => {
    const paused = {
      stable: channel([...step.slice(0, 2), offerJson('1.2.0', WINDOWS, { status: 'yanked' })]),
    };
    const { summary } = await simulate(paused);
    expect(summary.waiting).toEqual([
      { channel: 'stable', version: '1.2.0', reason: 'withdrawn', withheld: null, count: 100 },
    ]);
  });

  it('names the release that an operator can let them have before one that they cannot run', async () => {
    const held = { ...rollout(0), steps: [{ share: 0, after_seconds: 0 }] };
    const reasonsWith = async (over: Partial<OfferJson>) => {
      const offers = [
        offerJson('1.0.0', WINDOWS),
        offerJson('1.1.0', WINDOWS, over),
        offerJson('1.2.0', MAC),
      ];
      const fleet = spreadFleet(
        'desktop',
        { stable: channel([offerJson('1.0.0', WINDOWS)]) },
        'stable',
        9,
        NOW,
      );
      const states = { before: { stable: channel(offers) }, after: null };
      const request = { application: 'desktop', fleet: fleet.groups, now: NOW, seed: 1, ...states };
      const { before: fates, times } = await simulateFleet({ ...request, onProgress: () => {} });
      return summarizeSimulation(fates, states.before, times.length).waiting;
    };
    const of = (version: string, reason: string, withheld: string) => [
      { channel: 'stable', version, reason, withheld, count: 9 },
    ];
    expect(await reasonsWith({ rollout: held })).toEqual(of('1.0.0', 'held_by_rollout', '1.1.0'));
    expect(await reasonsWith({ status: 'paused' })).toEqual(of('1.0.0', 'paused', '1.1.0'));
    expect(await reasonsWith({ requires: '>=1.0.5', status: 'paused' })).toEqual(
      of('1.0.0', 'must_step_through', '1.1.0'),
    );
    expect(await reasonsWith({})).toEqual(of('1.1.0', 'unsupported_platform', '1.2.0'));
  });

  it('says that the own version of those who wait was withdrawn', async () => {
    const { summary } = await simulate({
      stable: channel([
        offerJson('1.0.0', WINDOWS, { status: 'yanked' }),
        offerJson('1.1.0', WINDOWS, { status: 'paused' }),
        offerJson('1.2.0', WINDOWS, { status: 'paused' }),
      ]),
    });
    expect(summary.waiting).toEqual([
      { channel: 'stable', version: '1.0.0', reason: 'withdrawn', withheld: '1.2.0', count: 100 },
      { channel: 'stable', version: '1.1.0', reason: 'paused', withheld: '1.2.0', count: 100 },
      { channel: 'stable', version: '0.0.0-0', reason: 'paused', withheld: '1.2.0', count: 100 },
    ]);
  });

  it('joins neighboring versions and machines with the same fate', async () => {
    const { summary } = await simulate(null);
    expect(summary.rows.map(({ newest, oldest, gets }) => [newest, oldest, gets])).toEqual([
      ['1.2.0', '1.2.0', [{ version: null, counts: [100] }]],
      ['1.1.0', '0.0.0-0', [{ version: '1.2.0', counts: [300] }]],
    ]);
  });

  it('refuses a channel that is not there, or that the change removes', async () => {
    const fleet = spreadFleet('desktop', before, 'stable', 3, NOW).groups;
    const request = { application: 'desktop', fleet, now: NOW, seed: 1, onProgress: () => {} };
    await expect(simulateFleet({ ...request, before: {}, after: null })).rejects.toMatchObject({
      code: 'unknown_channel',
    });
    await expect(simulateFleet({ ...request, before, after: {} })).rejects.toThrow(
      /removes the ch/,
    );
  });
});
