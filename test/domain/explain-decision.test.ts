import { describe, expect, it } from 'vitest';
import { createClosedView } from '../../src/domain/channel.ts';
import { type ExplainedRelease, explainDecision } from '../../src/domain/explain-decision.ts';
import { bucketOf, installationHash } from '../../src/domain/installation-bucket.ts';
import type { Offer } from '../../src/domain/offer.ts';
import type { Rollout } from '../../src/domain/rollout.ts';
import { query } from '../support/update-query.ts';
import { NOW, offer, ruleOf, SETUP, view } from './explained-client.ts';

const rampTo = (...points: readonly (readonly [number, number])[]): Rollout => ({
  seed: 7,
  ramp: { points: points.map(([at, share]) => ({ at, share })), isLinear: false },
});

const explain = (offers: readonly Offer[], fields?: Parameters<typeof query>[0]) =>
  explainDecision(query(fields), view(offers), NOW);
const failed = (release: ExplainedRelease | undefined) =>
  release?.rules.filter(({ result }) => result !== 'passed').map(({ rule }) => rule);

describe('explainDecision', () => {
  it('goes from the newest release to the offered one, and tests all rules of each', () => {
    const explained = explain([
      offer('4.0.0', { status: 'paused', requiresText: '>=3.0.0' }),
      offer('3.0.0', { artifacts: [{ ...SETUP, platform: 'linux', format: 'appimage' }] }),
      offer('2.0.0'),
      offer('1.5.0'),
    ]);
    expect(explained.releases.map(({ version, outcome }) => [version, outcome])).toEqual([
      ['4.0.0', 'must_step_through'],
      ['3.0.0', 'unsupported_platform'],
      ['2.0.0', 'offer'],
    ]);
    expect(explained.releases.map(failed)).toEqual([
      ['requires', 'status'],
      ['platform', 'native_build', 'format', 'os_version'],
      [],
    ]);
    expect(explained).toMatchObject({ installed: 'not_listed', newest: '4.0.0', omitted: 0 });
  });

  it('states the bucket, the share, and when the plan reaches the installation', () => {
    const bucket = bucketOf(7, installationHash('desktop', 'me'));
    const rollout = rampTo([0, 0], [NOW + 5, bucket], [NOW + 9, bucket + 1]);
    const [held] = explain([offer('2.0.0', { rollout })], { installationId: 'me' }).releases;
    expect(held && ruleOf(held, 'rollout')).toEqual({
      rule: 'rollout',
      result: 'failed',
      share: 0,
      bucket,
      needed: bucket + 1,
      reachesAt: NOW + 9,
    });
    const [anonymous] = explain([offer('2.0.0', { rollout })]).releases;
    expect(anonymous && ruleOf(anonymous, 'rollout')).toMatchObject({
      bucket: null,
      needed: 10_000,
      reachesAt: null,
    });
  });

  it('names the older release whose native build the machine keeps', () => {
    const arm64 = { ...SETUP, arch: 'arm64' as const };
    const offers = [offer('3.0.0'), offer('2.0.0', { artifacts: [SETUP, arm64] })];
    const { decision, releases } = explain(offers, { arch: 'arm64' });
    expect(decision).toMatchObject({ reason: 'offer', artifact: arm64 });
    expect(releases[0]?.outcome).toBe('no_native_build');
    expect(releases[0] && ruleOf(releases[0], 'native_build')).toEqual({
      rule: 'native_build',
      result: 'failed',
      missing: 'arm64',
      builtIn: '2.0.0',
    });
  });

  it('states the system version that is needed, and what the release has for the machine', () => {
    const artifacts = [{ ...SETUP, minimumOsVersion: '10.0.19041' }];
    const [old] = explain([offer('2.0.0', { artifacts })], { osVersion: '6.1' }).releases;
    expect(old && ruleOf(old, 'os_version')).toEqual({
      rule: 'os_version',
      result: 'failed',
      minimums: ['10.0.19041'],
      stated: '6.1',
      checkedBy: 'server',
    });
    const [other] = explain([offer('2.0.0')], { formats: ['msi'] }).releases;
    expect(other && failed(other)).toEqual(['format', 'os_version']);
    expect(other && ruleOf(other, 'format')).toMatchObject({
      available: ['nsis'],
      wanted: ['msi'],
    });
  });

  it.each([
    ['2.0.0', 'active'],
    ['2.1.0', 'paused'],
    ['2.2.0', 'yanked'],
    ['0.1.0', 'retired'],
    ['9.0.0', 'not_listed'],
  ])('says what the channel says about the installed version %s', (from, state) => {
    const listed = [
      offer('2.0.0'),
      offer('2.1.0', { status: 'paused' }),
      offer('2.2.0', { status: 'yanked' }),
    ];
    expect(explain(listed, { from }).installed).toBe(state);
    expect(explain(listed, { currentVersion: null }).installed).toBe('not_stated');
  });

  it('counts the releases that it does not list, and always lists the offered one', () => {
    const many = Array.from({ length: 50 }, (_, index) =>
      offer(`2.${index}.0`, { status: 'paused' }),
    );
    const held = explain(many);
    expect([held.releases.length, held.omitted]).toEqual([20, 30]);
    const found = explain([...many, offer('1.1.0')]);
    expect([found.releases.length, found.omitted]).toEqual([21, 30]);
    expect(found.releases.at(-1)).toMatchObject({ version: '1.1.0', outcome: 'offer' });
  });

  it('tells nothing of a closed channel', () => {
    expect(explainDecision(query(), createClosedView('insider'), NOW)).toEqual({
      decision: { reason: 'not_entitled', path: [] },
      installed: null,
      goesBack: false,
      isEarly: false,
      newest: null,
      releases: [],
      omitted: 0,
    });
  });
});
