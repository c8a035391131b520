import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  divideMachines,
  findCommonRelease,
  type NamedMachine,
} from '../../src/domain/common-release.ts';
import { artifactFrom } from '../../src/domain/decide-update.ts';
import { createNatives } from '../../src/domain/native-builds.ts';
import type { Offer, OfferedArtifact } from '../../src/domain/offer.ts';
import type { Arch, Format, Platform } from '../../src/domain/platform.ts';
import { parseTarget } from '../../src/domain/target.ts';
import type { UpdateQuery } from '../../src/domain/update-query.ts';
import { parseVersion, versionText } from '../../src/domain/version.ts';
import { query } from '../support/update-query.ts';
import { NOW, offer, view } from './explained-client.ts';

/** One release for a document that several kinds of machines read. */

const FORMATS: Readonly<Record<Platform, readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage'],
};

const machine = (name: string, formats?: readonly Format[]): NamedMachine => {
  const { platform, arch } = parseTarget(name);
  return { name, platform, arch, formats: formats ?? FORMATS[platform] };
};

const MACHINES: readonly NamedMachine[] = [
  ...['windows-x64', 'windows-arm64', 'macos-x64', 'macos-arm64', 'linux-x64', 'linux-arm64'].map(
    (name) => machine(name),
  ),
  { ...machine('windows-x64', ['msi']), name: 'windows-x64-msi' },
  { ...machine('linux-x64', ['deb']), name: 'linux-x64-deb' },
  { name: 'macos-universal', platform: 'macos', arch: 'universal', formats: ['tar.gz'] },
];

/** `linux-x64-deb`, without a format: the usual one. */
function build(text: string, minimumOsVersion: string | null = null): OfferedArtifact {
  const [platform, arch, format] = text.split('-') as [Platform, Arch, Format | undefined];
  const usual = FORMATS[platform][0] ?? 'zip';
  const signatureSchemes = ['minisign'] as const;
  return { platform, arch, format: format ?? usual, minimumOsVersion, signatureSchemes };
}

const builds = (...names: readonly string[]) => ({ artifacts: names.map((name) => build(name)) });

const CLIENT = query({ currentVersion: null, arch: null, signatureScheme: 'minisign' });

/** `2.0.0: linux-x64 …` */
function found(offers: readonly Offer[], client: Partial<UpdateQuery> = {}): string | undefined {
  const common = findCommonRelease({ ...CLIENT, ...client }, MACHINES, view(offers), NOW);
  if (common === undefined) return undefined;
  return `${versionText(common.offer.version)}: ${common.builds.map(({ name }) => name).join(' ')}`;
}

describe('the release of all machines', () => {
  it('is the newest one, with a build for each machine that can run one', () => {
    const offers = [offer('2.0.0', builds('windows-x64', 'macos-universal', 'linux-x64'))];
    expect(found(offers)).toBe(
      '2.0.0: windows-x64 windows-arm64 macos-x64 macos-arm64 linux-x64 macos-universal',
    );
    expect(found([])).toBeUndefined();
  });

  it('is held back by a machine that has only older builds', () => {
    const offers = [
      offer('3.0.0', builds('windows-x64')),
      offer('2.0.0', builds('windows-x64', 'linux-x64')),
      offer('1.0.0', builds('windows-x64', 'linux-x64')),
    ];
    expect(found(offers)).toMatch(/^2\.0\.0: .*linux-x64/);
    // A format is a machine of its own: without its name, the client would install another kind of package.
    expect(
      found([
        offer('2.0.0', builds('linux-x64')),
        offer('1.0.0', builds('linux-x64', 'linux-x64-deb')),
      ]),
    ).toBe('1.0.0: linux-x64 linux-x64-deb');
  });

  it('does not exist when no release has builds for all machines', () => {
    const windows = offer('2.0.0', builds('windows-x64'));
    expect(found([windows, offer('1.0.0', builds('linux-x64'))])).toBeUndefined();
    // A machine that no client is offered a release for holds nothing back.
    const paused = offer('1.0.0', { ...builds('linux-x64'), status: 'paused' });
    expect(found([windows, paused])).toBe('2.0.0: windows-x64 windows-arm64');
  });

  it('is not held back by a kind of build that is no processor', () => {
    const split = offer('2.0.0', builds('macos-x64', 'macos-arm64'));
    expect(found([split, offer('1.0.0', builds('macos-universal'))])).toBe(
      '2.0.0: macos-x64 macos-arm64',
    );
  });

  it('is not held back by a target whose native builds a release ended', () => {
    const older = offer(
      '1.0.0',
      builds('windows-x64', 'windows-arm64', 'linux-x64', 'linux-arm64'),
    );
    const newer = builds('windows-x64', 'linux-x64');
    expect(found([offer('2.0.0', newer), older])).toMatch(/^1\.0\.0/);
    const endsNative = [parseTarget('linux-arm64'), parseTarget('windows-arm64')];
    expect(found([offer('2.0.0', { ...newer, endsNative }), older])).toBe(
      '2.0.0: windows-x64 windows-arm64 linux-x64',
    );
  });

  it('is not held back by a machine whose first build is in a release that the client cannot have', () => {
    const held = offer('2.0.0', { ...builds('windows-x64', 'linux-x64'), requiresText: '>=1.5.0' });
    const offers = [held, offer('1.0.0', builds('windows-x64'))];
    expect(found(offers)).toBe('1.0.0: windows-x64 windows-arm64');
    expect(found(offers, { currentVersion: parseVersion('1.6.0') })).toMatch(/^2\.0\.0/);
    expect(found(offers, { currentVersion: parseVersion('1.0.0') })).toBeUndefined();
  });

  it('has no build that the stated system cannot run', () => {
    const offers = [
      offer('2.0.0', { artifacts: [build('macos-arm64', '14.0'), build('linux-x64')] }),
      offer('1.0.0', builds('macos-arm64', 'linux-x64')),
    ];
    expect(found(offers)).toMatch(/^1\.0\.0/);
    expect(found(offers, { osVersion: '14.2' })).toMatch(/^2\.0\.0/);
    expect(found([offers[0] ?? offer('2.0.0')])).toBe('2.0.0: linux-x64');
  });

  it('is older for a client that states it has the newest', () => {
    const offers = [offer('2.0.0', builds('linux-x64'))];
    expect(found(offers, { currentVersion: parseVersion('2.0.0') })).toBeUndefined();
    expect(found(offers, { currentVersion: parseVersion('3.0.0') })).toBeUndefined();
  });

  it('is held back by the machines that a publisher is told', () => {
    const holding = (offers: readonly Offer[]) => {
      const [newest = offer('9.0.0')] = offers;
      return divideMachines(CLIENT, MACHINES, view(offers), newest, NOW).holding;
    };
    const older = offer('1.0.0', builds('windows-x64', 'linux-x64', 'linux-x64-deb'));
    expect(holding([older])).toEqual([]);
    expect(holding([offer('2.0.0', builds('windows-x64', 'linux-x64')), older])).toEqual([
      'linux-x64-deb',
    ]);
    expect(holding([offer('2.0.0', builds('windows-x64')), older])).toEqual([
      'linux-x64',
      'linux-x64-deb',
    ]);
    const endsNative = [parseTarget('linux-x64')];
    expect(holding([offer('2.0.0', { ...builds('windows-x64'), endsNative }), older])).toEqual([]);
    // No client is offered it, so no document waits for it.
    expect(holding([offer('2.0.0', builds('windows-x64-msix')), older])).toEqual([]);
  });

  describe('in a channel with many offers', () => {
    const OFFERS = 500;
    const many = (fields: (index: number) => Partial<Offer>) =>
      view(Array.from({ length: OFFERS }, (_, index) => offer(`1.${index}.0`, fields(index))));

    it('looks at the status of each once, not once for each machine', () => {
      let reads = 0;
      const status = {
        get: () => {
          reads += 1;
          return 'paused';
        },
      };
      const shared = builds('windows-x64', 'macos-universal', 'linux-x64', 'linux-x64-deb');
      const counted = many(() => shared).offers.map((each) =>
        Object.defineProperty({ ...each }, 'status', status),
      );
      const channel = view([...counted, offer('0.9.0', shared)]);
      findCommonRelease(CLIENT, MACHINES, channel, NOW);
      reads = 0;
      expect(findCommonRelease(CLIENT, MACHINES, channel, NOW)?.offer.version.minor).toBe(9);
      expect(reads).toBe(OFFERS);
    });

    it('searches builds without a signature once, not once for each offer', () => {
      let reads = 0;
      const artifacts = builds('windows-x64', 'macos-universal', 'linux-x64').artifacts.map(
        (each) =>
          Object.defineProperty({ ...each }, 'signatureSchemes', {
            get: () => {
              reads += 1;
              return [];
            },
          }),
      );
      const channel = many(() => ({ artifacts }));
      findCommonRelease(CLIENT, MACHINES, channel, NOW);
      reads = 0;
      expect(findCommonRelease(CLIENT, MACHINES, channel, NOW)).toBeUndefined();
      expect(reads).toBeLessThan(MACHINES.length * artifacts.length);
    });
  });

  const NAMES = ['windows-x64', 'windows-arm64', 'windows-x64-msi', 'linux-x64', 'linux-x64-deb'];
  const anyOffer = fc.record({
    names: fc.uniqueArray(fc.constantFrom(...NAMES, 'macos-arm64', 'macos-universal'), {
      minLength: 1,
    }),
    status: fc.constantFrom('active' as const, 'active' as const, 'paused' as const),
    requiresText: fc.constantFrom(undefined, undefined, '>=9.0.0'),
    ends: fc.constantFrom([], [], [parseTarget('windows-arm64'), parseTarget('linux-x64')]),
  });

  it('equals what a search through every offer finds', () => {
    fc.assert(
      fc.property(fc.array(anyOffer, { maxLength: 7 }), (drawn) => {
        const offers = drawn.map(({ names, status, requiresText, ends }, index) =>
          offer(`${drawn.length - index}.0.0`, {
            ...builds(...names),
            status,
            endsNative: ends,
            ...(requiresText === undefined ? {} : { requiresText }),
          }),
        );
        expect(found(offers)).toBe(searched(offers));
        const [newest] = offers;
        if (newest === undefined) return;
        const divided = divideMachines(CLIENT, MACHINES, view(offers), newest, NOW);
        const stated = `${versionText(newest.version)}: ${divided.getting.join(' ')}`;
        const isStated = divided.holding.length === 0 && divided.getting.length > 0;
        expect(found(offers) === stated).toBe(isStated);
      }),
    );
  });

  /** The rule, without an index and without skipping an offer. */
  function searched(offers: readonly Offer[]): string | undefined {
    const channel = view(offers);
    const getsFrom = (each: Offer, client: NamedMachine): boolean =>
      artifactFrom(each, { ...CLIENT, ...client }, channel, NOW) !== undefined;
    for (const [index, each] of offers.entries()) {
      const natives = createNatives();
      for (const older of offers.slice(index).reverse()) {
        natives.end(older);
        natives.add(older);
      }
      const holds = (client: NamedMachine): boolean => {
        const { platform, arch, formats } = client;
        if (arch === null || arch === 'universal') return false;
        const isNewer = offers.slice(0, index).some((newer) => getsFrom(newer, client));
        const isServed = offers.some((other) => getsFrom(other, client));
        const own = natives.of(platform).get(arch) ?? [];
        return isNewer || (isServed && own.some(({ format }) => formats?.includes(format)));
      };
      const gets = MACHINES.filter((client) => getsFrom(each, client));
      const others = MACHINES.filter((client) => !gets.includes(client));
      if (gets.length > 0 && !others.some(holds))
        return `${versionText(each.version)}: ${gets.map(({ name }) => name).join(' ')}`;
    }
    return undefined;
  }
});
