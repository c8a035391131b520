import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChannelView } from '../../src/domain/channel.ts';
import { decideUpdate } from '../../src/domain/decide-update.ts';
import { type ExplainedRelease, explainDecision } from '../../src/domain/explain-decision.ts';
import { findLeftBehind } from '../../src/domain/native-builds.ts';
import type { Offer, OfferedArtifact, OfferStatus } from '../../src/domain/offer.ts';
import { ARCHES, PLATFORMS } from '../../src/domain/platform.ts';
import type { Rollout } from '../../src/domain/rollout.ts';
import { targetName } from '../../src/domain/target.ts';
import type { UpdateQuery } from '../../src/domain/update-query.ts';
import {
  compareVersions,
  inRange,
  parseRange,
  parseVersion,
  versionText,
} from '../../src/domain/version.ts';
import { rounds } from '../support/rounds.ts';
import { query } from '../support/update-query.ts';
import { NOW, offer, ruleOf, view } from './explained-client.ts';

const versions = fc
  .tuple(fc.nat(3), fc.nat(3), fc.option(fc.nat(2)))
  .map(([a, b, pre]) => `${a}.${b}.0${pre === null ? '' : `-beta.${pre}`}`);
const artifacts = fc.record({
  platform: fc.constantFrom(...PLATFORMS),
  arch: fc.constantFrom(...ARCHES),
  format: fc.constantFrom('nsis', 'nsis-web', 'zip', 'dmg', 'appimage', 'deb'),
  minimumOsVersion: fc.constantFrom(null, '10.0', '12'),
  signatureSchemes: fc.constantFrom([], ['minisign']),
}) as fc.Arbitrary<OfferedArtifact>;
const rollouts: fc.Arbitrary<Rollout | null> = fc.option(
  fc
    .tuple(
      fc.nat(5),
      fc.uniqueArray(fc.integer({ min: NOW - 50_000, max: NOW + 90_000 }), { minLength: 1 }),
      fc.array(fc.nat(10_000), { minLength: 10, maxLength: 10 }),
      fc.boolean(),
    )
    .map(([seed, times, shares, isLinear]) => {
      const sorted = [0, 10_000, ...shares].toSorted((a, b) => a - b);
      const points = times
        .toSorted((a, b) => a - b)
        .map((at, index) => ({ at, share: sorted[index] ?? 10_000 }));
      return { seed, ramp: { points, isLinear } };
    }),
);
const offers = fc.uniqueArray(
  fc
    .record({
      version: versions,
      status: fc.constantFrom<OfferStatus>('active', 'active', 'paused', 'yanked'),
      requiresText: fc.constantFrom(undefined, undefined, '>=1.0.0', '^2.0.0'),
      artifacts: fc.array(artifacts, { maxLength: 6 }),
      endsNative: fc.constantFrom([], [], [{ platform: 'windows', arch: 'arm64' }] as const),
      rollout: rollouts,
    })
    .map(({ version, requiresText, ...fields }) =>
      offer(version, { ...fields, ...(requiresText === undefined ? {} : { requiresText }) }),
    ),
  { selector: ({ version }) => versionText(version), maxLength: 14 },
);
const channels = fc
  .record({ offers, givesEarlyAccess: fc.boolean(), allowsDowngrade: fc.boolean() })
  .map(({ offers: all, ...flags }) => view(all, flags));
const queries = fc
  .record({
    currentVersion: fc.option(versions.map((text) => parseVersion(text))),
    platform: fc.constantFrom(...PLATFORMS),
    arch: fc.constantFrom(...ARCHES, null),
    formats: fc.constantFrom(null, ['nsis' as const], ['zip' as const, 'dmg' as const]),
    osVersion: fc.constantFrom(null, '10.0.1', '11', 'odd'),
    osGate: fc.constantFrom('server' as const, 'client' as const),
    installationId: fc.option(fc.string({ minLength: 1, maxLength: 3 })),
    isManual: fc.boolean(),
    allowDowngrade: fc.boolean(),
    signatureScheme: fc.constantFrom(null, null, 'minisign' as const),
  })
  .map(query);

/** The dotted numbers of a version, compared by hand. */
function isAtLeast(actual: string | null, minimum: string): boolean {
  const numbers = (text: string) => /^\d+(\.\d+)*$/.test(text) && text.split('.').map(Number);
  const [a, b] = [actual === null ? false : numbers(actual), numbers(minimum)];
  if (a === false || b === false) return false;
  const index = [0, 1, 2].find((each) => (a[each] ?? 0) !== (b[each] ?? 0)) ?? 0;
  return (a[index] ?? 0) >= (b[index] ?? 0);
}

const RUNS: Readonly<Record<string, readonly string[]>> = {
  arm64: ['arm64', 'universal', 'x64'],
  universal: ['universal'],
  null: ['universal', 'x64'],
};

/** The builds of an offer that are left after the platform, the format and the system, by rules written anew. */
function left({ artifacts: all }: Pick<Offer, 'artifacts'>, asked: UpdateQuery) {
  const runs = [...(RUNS[String(asked.arch)] ?? [String(asked.arch), 'universal'])];
  if (asked.platform === 'linux' && asked.arch === 'arm64') runs.pop();
  if (asked.arch === null) {
    const more = { macos: ['arm64'], windows: ['ia32'], linux: [] };
    runs.push(...more[asked.platform]);
  }
  const byPlatform = all.filter((a) => a.platform === asked.platform && runs.includes(a.arch));
  const byFormat = byPlatform.filter(
    (a) =>
      (asked.formats === null ? a.format !== 'nsis-web' : asked.formats.includes(a.format)) &&
      (asked.signatureScheme === null || a.signatureSchemes.includes(asked.signatureScheme)),
  );
  const bySystem = byFormat.filter(
    ({ minimumOsVersion: minimum }) =>
      minimum === null || asked.osGate === 'client' || isAtLeast(asked.osVersion, minimum),
  );
  return { platform: byPlatform.length, format: byFormat.length, os_version: bySystem.length };
}

function expectRulesHold(release: ExplainedRelease, asked: UpdateQuery, channel: ChannelView) {
  const { offer: own } = release;
  const builds = left(own, asked);
  const checked = (before: number, now: number) =>
    before === 0 ? 'not_checked' : now > 0 ? 'passed' : 'failed';
  expect(ruleOf(release, 'platform').result).toBe(checked(1, builds.platform));
  expect(ruleOf(release, 'format').result).toBe(checked(builds.platform, builds.format));
  expect(ruleOf(release, 'os_version').result).toBe(checked(builds.format, builds.os_version));

  const native = ruleOf(release, 'native_build');
  const leftBehind = findLeftBehind(channel.offers, own.version).map(targetName);
  if (native.result === 'failed') {
    const older = channel.offerOf(String(native.builtIn));
    expect(older && compareVersions(older.version, own.version)).toBeLessThan(0);
    // The builds of the missing architecture that the client could install.
    const natives = (each: Offer | undefined) =>
      left(
        {
          ...own,
          artifacts: (each ?? own).artifacts.filter(
            ({ arch }) => arch === native.missing || arch === 'universal',
          ),
        },
        { ...asked, arch: native.missing },
      ).os_version;
    expect(natives(own)).toBe(0);
    expect(natives(older)).toBeGreaterThan(0);
  } else if (native.result === 'passed' && asked.formats === null && asked.osGate === 'client') {
    const isPlain = asked.signatureScheme === null && asked.arch !== null;
    const formats = channel.offers.flatMap(({ artifacts: all }) => all.map((a) => a.format));
    // Without formats for a first installation alone, the client takes every build.
    if (isPlain && asked.platform !== 'linux' && !formats.includes('nsis-web')) {
      if (asked.arch === 'arm64') expect(leftBehind).not.toContain(`${asked.platform}-arm64`);
    }
  }

  const requires = ruleOf(release, 'requires');
  const { currentVersion } = asked;
  const isAdmitted =
    requires.range === null ||
    (currentVersion !== null && inRange(currentVersion, parseRange(requires.range, '')));
  expect(requires.result).toBe(isAdmitted ? 'passed' : 'failed');
  expect(ruleOf(release, 'status')).toMatchObject({
    status: own.status,
    result: own.status === 'active' ? 'passed' : 'failed',
  });
  expectRolloutHolds(release, asked, channel);
}

function expectRolloutHolds(release: ExplainedRelease, asked: UpdateQuery, channel: ChannelView) {
  const { rollout } = release.offer;
  const rule = ruleOf(release, 'rollout');
  if (rollout === null) return expect(rule).toMatchObject({ result: 'passed', share: 10_000 });
  const isOffered = (now: number): boolean => {
    const { givesEarlyAccess } = channel;
    const bare = view([offer('99.0.0', { rollout })], { givesEarlyAccess });
    const client = { ...asked, platform: 'windows' as const, arch: 'x64' as const };
    const anyFile = { formats: null, signatureScheme: null, allowDowngrade: false };
    return decideUpdate({ ...client, ...anyFile }, bare, now).reason === 'offer';
  };
  expect(rule.result).toBe(isOffered(NOW) ? 'passed' : 'failed');
  expect(rule.result === 'passed').toBe(rule.share >= rule.needed);
  if (rule.reachesAt !== null) {
    expect([isOffered(rule.reachesAt), isOffered(rule.reachesAt - 1)]).toEqual([true, false]);
    expect(rule.reachesAt).toBeGreaterThan(NOW);
  } else if (rule.result === 'failed') {
    expect(isOffered(Number.MAX_SAFE_INTEGER)).toBe(false);
  }
}

describe('explainDecision, for any channel, query and time', () => {
  it('has the decision of decideUpdate, and states only rules that hold', () => {
    fc.assert(
      fc.property(channels, queries, (channel, asked) => {
        const explained = explainDecision(asked, channel, NOW);
        const decision = decideUpdate(asked, channel, NOW);
        expect(explained.decision).toEqual(decision);
        const { releases } = explained;
        for (const { version, outcome } of decision.path) {
          expect(releases.find((release) => release.version === version)?.outcome).toBe(outcome);
        }
        expect(releases.map(({ offer: own }) => own)).toEqual(
          channel.offers.slice(0, releases.length),
        );
        const offered = releases.find(({ outcome }) => outcome === 'offer');
        expect(offered?.offer).toBe(decision.reason === 'offer' ? decision.offer : undefined);
        if (offered !== undefined) expect(releases.at(-1)).toBe(offered);
        for (const release of releases) {
          const first = release.rules.find(({ result }) => result === 'failed')?.rule;
          expect([release.outcome, first]).toEqual([release.outcome, BY_OUTCOME[release.outcome]]);
          expectRulesHold(release, asked, channel);
        }
      }),
      { numRuns: rounds(200, 2_000) },
    );
  });
});

const BY_OUTCOME = {
  offer: undefined,
  unsupported_platform: 'platform',
  no_native_build: 'native_build',
  unsupported_format: 'format',
  unsupported_os_version: 'os_version',
  must_step_through: 'requires',
  paused: 'status',
  held_by_rollout: 'rollout',
} as const;
