import { describe, expect, it } from 'vitest';
import { type ExplainDeps, explainUpdate } from '../../../src/answers/explain/explain-update.ts';
import { explanationJson, frozenBy } from '../../../src/answers/explain/explanation-json.ts';
import type {
  ChannelJson,
  Channels,
  OfferJson,
} from '../../../src/catalog/documents/revision-document.ts';
import { findStatusChanges } from '../../../src/catalog/reading/find-status-change.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { parseRevisionReference } from '../../../src/domain/revision-reference.ts';
import { DEFAULT_TIERS, parseTierTable, type TierTable } from '../../../src/domain/tier.ts';
import type { UpdateQuery } from '../../../src/domain/update-query.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { offerJson } from '../../releases/offer-json.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { query } from '../../support/update-query.ts';

const WINDOWS = [{ os: 'windows', arch: 'x64', format: 'nsis' }] as const;
const offer = (version: string, over: Partial<OfferJson> = {}): OfferJson =>
  offerJson(version, [...WINDOWS], { manifest: { number: 1, digest: '0'.repeat(64) }, ...over });
const channel = (offers: OfferJson[], over: Partial<ChannelJson> = {}): ChannelJson => ({
  inherits: null,
  offers,
  retired: [],
  ...over,
});

function open() {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const parts = { store, clock, randomness: createSeededRandomness(1), actor: 'ada@build-7' };
  const ask = (
    version: string,
    fields: Partial<UpdateQuery> = {},
    {
      at,
      tier = null,
      ...options
    }: Partial<Pick<ExplainDeps, 'tiers'>> & { at?: string; tier?: string | null } = {},
  ) =>
    explainUpdate(
      { ...parts, tiers: options.tiers ?? DEFAULT_TIERS, ...options },
      {
        tier,
        audience: 'publisher',
        reference: at === undefined ? undefined : parseRevisionReference(at),
        query: query({ from: version, ...fields }),
      },
    );
  return {
    parts,
    clock,
    store,
    ask,
    commit: async (channels: Channels) => {
      clock.advance(60_000);
      await changeCatalog(parts, 'desktop', () => ({
        plan: undefined,
        edit: {
          change: { kind: 'channel', version: null, channels: [], reason: null },
          channels,
        },
      }));
    },
  };
}

describe('explainUpdate', () => {
  it('names the channel that an offer comes from: the nearest one that lists the version', async () => {
    const { ask, commit } = open();
    await commit({
      stable: channel([offer('1.1.0'), offer('1.2.0', { reason: 'of stable' })]),
      beta: channel([offer('1.2.0', { status: 'paused', reason: 'of beta' })], {
        inherits: 'stable',
      }),
      alpha: channel([offer('0.9.0-alpha.1')], { inherits: 'beta' }),
    });
    const explained = await ask('1.0.0', { channel: 'alpha' });
    expect(explained.inherits).toEqual(['beta', 'stable']);
    expect(
      explained.releases.map(({ version, outcome, listing }) => [
        version,
        outcome,
        listing.channel,
        listing.offer.reason,
      ]),
    ).toEqual([
      ['1.2.0', 'paused', 'beta', 'of beta'],
      ['1.1.0', 'offer', 'stable', null],
    ]);
    expect(explanationJson(explained)).toMatchObject({ version: '1.1.0', offered_by: 'stable' });
  });

  it('names yanked releases that could have been offered, and what the installed version is', async () => {
    const { ask, commit } = open();
    const yanked = { status: 'yanked', reason: 'bad' } as const;
    await commit({
      stable: channel([offer('1.0.0', yanked), offer('1.1.0'), offer('1.2.0', yanked)], {
        retired: ['0.9.0'],
      }),
      beta: channel([offer('1.3.0-beta.1')]),
    });
    const found = await ask('1.0.0');
    expect(found.passedOver.map(({ offer: { version }, why }) => [version, why])).toEqual([
      ['1.2.0', 'yanked'],
    ]);
    expect(found.installed.state).toBe('yanked');
    expect(found.installed.listing).toMatchObject({ channel: 'stable', offer: { reason: 'bad' } });
    expect((await ask('1.1.0')).passedOver.map(({ offer: { version } }) => version)).toEqual([
      '1.2.0',
    ]);
    expect((await ask('1.3.0')).passedOver).toEqual([]);
    expect((await ask('0.9.0')).installed.state).toBe('retired');
    const beta = await ask('1.3.0-beta.1');
    expect([beta.installed.state, beta.installed.elsewhere]).toEqual(['not_listed', ['beta']]);
  });

  it('shows a tier what is open to it, and nothing else', async () => {
    const { ask, commit } = open();
    await commit({
      stable: channel([offer('1.1.0'), offer('7.7.7', { status: 'yanked' })]),
      beta: channel([offer('1.2.0-beta.1')], { inherits: 'stable' }),
      insider: channel([offer('9.9.9')]),
    });
    const only = (...closed: string[]): TierTable =>
      parseTierTable({ free: [], pro: closed.map((name) => `channel:desktop/${name}`) });
    const text = async (...given: Parameters<typeof ask>) =>
      JSON.stringify(explanationJson(await ask(...given)));
    const insider = only('insider');
    const closed = await ask('1.0.0', { channel: 'insider' }, { tiers: insider, tier: 'free' });
    expect(closed.decision.reason).toBe('not_entitled');
    expect(closed.openTo).toEqual(['pro']);
    expect(await text('1.0.0', { channel: 'insider' }, { tiers: insider })).not.toContain('9.9.9');
    expect(await text('9.9.9', {}, { tiers: insider })).not.toContain('insider');
    expect(await text('9.9.9', {}, { tiers: insider, tier: 'pro' })).toContain('insider');
    // An inherited channel that is closed takes its yanked releases with it.
    const beta = await text('1.0.0', { channel: 'beta' }, { tiers: only('stable') });
    expect(beta).not.toMatch(/1\.1\.0|7\.7\.7|stable/);
    expect(
      await text('1.0.0', { channel: 'beta' }, { tiers: only('stable'), tier: 'pro' }),
    ).toMatch(/7\.7\.7/);
  });

  it('uses the share at the time that is asked for, or when the revision was made', async () => {
    const { ask, commit, clock } = open();
    const start = clock.now() + 60_000;
    const rollout = {
      salt: 'x',
      plan: '0%@0h,100%@2h',
      steps: [
        { share: 0, after_seconds: 0 },
        { share: 10_000, after_seconds: 7_200 },
      ],
      linear: false,
      freeze_windows: [],
      clock: { at: new Date(start).toISOString(), elapsed_ms: 0, running: true },
    };
    await commit({ stable: channel([offer('2.0.0', { rollout })]) });
    const hoursLater = (hours: number) => new Date(start + hours * 3_600_000).toISOString();
    const reasonAt = async (at?: string) =>
      (await ask('1.0.0', {}, at === undefined ? {} : { at })).decision.reason;
    expect(await reasonAt()).toBe('held_by_rollout');
    expect(await reasonAt(hoursLater(2))).toBe('offer');
    expect((await ask('1.0.0', {}, { at: hoursLater(2) })).state.isForecast).toBe(true);
    clock.advance(3 * 3_600_000);
    expect(await reasonAt()).toBe('offer');
    expect(await reasonAt(hoursLater(1))).toBe('held_by_rollout');
    expect(await reasonAt('1')).toBe('held_by_rollout');
  });

  it('lists the drafts of the channels that the client sees', async () => {
    const { ask, commit } = open();
    const { status: _status, reason: _reason, rollout: _rollout, ...statement } = offer('1.6.0');
    const since = '2026-11-21T09:00:00Z';
    const awaited = [{ os: 'macos', arch: 'arm64' } as const];
    const drafts = [{ ...statement, since, opens: 'when_complete' as const, expect: awaited }];
    await commit({ stable: channel([offer('1.0.0')], { drafts }), beta: channel([], { drafts }) });
    const explained = await ask('1.0.0');
    expect(explained.drafts.map((item) => item.channel)).toEqual(['stable']);
    expect(explanationJson(explained).drafts).toEqual([
      { version: '1.6.0', channel: 'stable', waits_for: ['macos-arm64'], since },
    ]);
  });

  it('refuses an unknown channel, and fails when the store fails', async () => {
    const { ask, commit, store } = open();
    await commit({ stable: channel([offer('1.0.0')]) });
    await expect(ask('1.0.0', { channel: 'stabel' })).rejects.toThrow(/Did you mean stable\?/);
    await expect(ask('1.0.0', { application: 'other' })).rejects.toMatchObject({
      code: 'unknown_application',
    });
    store.goDown();
    await expect(ask('1.0.0')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('frozenBy', () => {
  it('says whether the publisher or a freeze window holds a rollout where it is', () => {
    const clock = { at: '2026-11-20T09:00:00Z', elapsed_ms: 0, running: true };
    const rollout = {
      salt: 'x',
      plan: '5%@0h,100%@9d',
      steps: [{ share: 500, after_seconds: 0 }],
      linear: false,
      freeze_windows: ['Sat 00:00..Sun 12:00 Europe/Berlin'],
      clock,
    };
    const [friday, saturday] = [Date.parse('2026-11-20T10:00Z'), Date.parse('2026-11-21T10:00Z')];
    expect([friday, saturday].map((time) => frozenBy(rollout, time))).toEqual([
      null,
      'freeze_window',
    ]);
    expect(frozenBy({ ...rollout, clock: { ...clock, running: false } }, friday)).toBe('publisher');
    expect(frozenBy(undefined, saturday)).toBeNull();
  });
});

describe('findStatusChanges', () => {
  it('finds the change that gave an offer its present status', async () => {
    const { ask, commit, parts, store } = open();
    const paused = offer('1.1.0', { status: 'paused' });
    for (const present of [offer('1.1.0'), paused, offer('1.1.0'), paused, paused]) {
      await commit({ stable: channel([offer('1.0.0'), present]) });
    }
    const newest = (await ask('1.0.0')).state.revision.signed;
    const find = (version: string) =>
      findStatusChanges(parts, 'desktop', newest, [{ channel: 'stable', version }]);
    expect(await find('1.1.0')).toEqual([
      {
        channel: 'stable',
        version: '1.1.0',
        status: 'paused',
        revision: 4,
        at: '2026-11-21T09:04:00.000Z',
        by: 'ada@build-7',
      },
    ]);
    expect(await find('1.0.0')).toMatchObject([{ status: 'active', revision: 1 }]);
    expect(await find('9.9.9')).toEqual([]);
    // A corrupt revision may hold the change: it is not guessed.
    const key = 'apps/desktop/catalog/0000000003.json';
    await store.delete(key);
    await store.create(key, Buffer.from('{'));
    expect(await find('1.1.0')).toEqual([]);
    store.goDown();
    await expect(find('1.1.0')).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('reads a bounded number of revisions', async () => {
    const { ask, commit, parts, store } = open();
    for (let revision = 1; revision <= 40; revision++) {
      await commit({ stable: channel([offer('1.0.0', { status: 'paused' })]) });
    }
    const newest = (await ask('1.0.0')).state.revision.signed;
    store.forgetCalls();
    const wanted = [{ channel: 'stable', version: '1.0.0' }];
    expect(await findStatusChanges(parts, 'desktop', newest, wanted)).toEqual([]);
    expect(store.counts.get).toBe(25);
  });
});
