import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { artifactsPrefix } from '../../../src/catalog/documents/keys.ts';
import { withdrawnBytes } from '../../../src/catalog/documents/revision-size.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { isAppError } from '../../../src/core/errors.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import type { ChannelSettings } from '../../../src/releases/channels/channel-settings.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import { collectGarbage } from '../../../src/releases/verify/collect-garbage.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createDryRunStore } from '../../../src/store/dry-run-store.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { observe } from '../../reliability/observer.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';

const application = 'desktop';
const DAY_MS = 24 * 3_600_000;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

function createParts(seed = 1) {
  const clock = createFixedClock();
  const memory = createMemoryStore({ clock });
  const store = createFaultyStore(memory);
  const ensureConforming = async () => {};
  const randomness = createSeededRandomness(seed);
  return { store, memory, clock, randomness, actor: 'test', ensureConforming };
}
type Parts = ReturnType<typeof createParts>;

let parts: Parts;
beforeEach(() => {
  parts = createParts();
});

interface Built {
  readonly channel?: string;
  readonly content?: string;
  readonly into?: Parts;
}

/** The file name has no version, so that releases with the same content share an object. */
async function release(version: string, { channel, content = version, into = parts }: Built = {}) {
  const artifact = await makeArtifact(`${temporary.path}/${content}`, { content });
  return publish(into, { version, artifacts: [artifact], ...(channel && { channel }) });
}

const set = (channel: string, settings: ChannelSettings, into = parts) =>
  changeChannel(into, {
    application,
    channel,
    reason: null,
    action: { kind: 'set', settings },
  });
const change = (verb: 'yank' | 'pause' | 'retire', version: string, channel?: string) =>
  changeStatus(parts, verb, { application, version, channel, reason: null });
const promote = (version: string, to: string) =>
  promoteRelease(parts, {
    application,
    version,
    to,
    create: true,
    allowPrerelease: true,
    allowOlder: true,
  });

const channelNamed = async (name: string) =>
  (await readRevision(parts, application))?.signed.channels[name];
const listed = async (name = 'stable') =>
  (await channelNamed(name))?.offers.map(({ version, status }) => `${version} ${status}`);

describe('a channel that keeps its newest offers', () => {
  it('drops older ones with each release, and remembers when', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await release(version);
    const first = await set('stable', { keep: 2 });
    expect(first.dropped).toEqual(['1.0.0']);
    // So dropping is possible in a revision that has no room for another offer.
    expect(withdrawnBytes(first.after)).toBeLessThan(withdrawnBytes(first.before));
    parts.clock.advance(DAY_MS);
    const published = await release('1.3.0');
    expect(published).toMatchObject({ changed: true, dropped: ['1.1.0'] });
    expect(await channelNamed('stable')).toMatchObject({
      offers: [{ version: '1.2.0' }, { version: '1.3.0' }],
      retired: ['1.0.0', '1.1.0'],
      kept_out: [
        { version: '1.0.0', at: '2026-11-21T09:00:00.000Z' },
        { version: '1.1.0', at: '2026-11-22T09:00:00.000Z' },
      ],
    });
    expect(await release('1.3.0')).toMatchObject({ changed: false, dropped: [] });
    await expect(release('1.1.0')).rejects.toMatchObject({ code: 'status_forbids' });
  });

  it('drops older ones when a release is promoted to it', async () => {
    await release('1.0.0');
    await release('1.1.0');
    await set('stable', { keep: 1 });
    await release('1.2.0', { channel: 'internal' });
    await release('1.3.0', { channel: 'internal' });
    expect(await promote('1.2.0', 'stable')).toMatchObject({ dropped: ['1.1.0'] });
    expect(await promote('1.2.0', 'stable')).toMatchObject({ changed: false, dropped: [] });
    expect(await listed('internal')).toEqual(['1.2.0 active', '1.3.0 active']);
  });

  it('keeps an older version that the command itself adds', async () => {
    for (const version of ['1.0.0', '2.0.0']) await release(version);
    await set('stable', { keep: 1 });
    expect(await release('1.9.1')).toMatchObject({ dropped: [], newerVersion: '2.0.0' });
    expect(await listed()).toEqual(['2.0.0 active', '1.9.1 active']);
    expect(await release('2.1.0')).toMatchObject({ dropped: ['2.0.0', '1.9.1'] });
  });

  it('keeps what clients get until a rollout has reached them', async () => {
    await release('1.0.0');
    await set('stable', { keep: 1 });
    const artifacts = [await makeArtifact(`${temporary.path}/r`, { content: 'r' })];
    const rollout = { text: '5%@0h,100%@2d', freezeWindows: [] };
    const staged = await publish(parts, { version: '1.1.0', artifacts, rollout });
    expect(staged.dropped).toEqual([]);
    parts.clock.advance(2 * DAY_MS);
    expect(await set('stable', { keep: 2 })).toMatchObject({ dropped: [] });
    expect(await set('stable', { keep: 1 })).toMatchObject({ dropped: ['1.0.0'] });
  });

  it('keeps a version while another channel has a draft of it, which can be opened afterwards', async () => {
    await release('1.5.0', { channel: 'beta' });
    await set('beta', { keep: 1, inherits: null });
    const mac = { filename: 'App.zip', platform: 'macos', format: 'zip' } as const;
    const artifacts = [await makeArtifact(temporary.path, mac)];
    await publish(parts, { version: '1.5.0', artifacts, mode: 'draft' });
    expect(await release('1.6.0', { channel: 'beta' })).toMatchObject({ dropped: [] });
    expect(await listed('beta')).toEqual(['1.5.0 active', '1.6.0 active']);
    const asked = { application, channel: 'stable', version: '1.5.0', allowPrerelease: false };
    expect(await openDraft(parts, asked)).toMatchObject({ changed: true, status: 'active' });
    expect((await release('1.7.0', { channel: 'beta' })).dropped).toEqual(['1.6.0', '1.5.0']);
  });

  it('re-evaluates on the state that another writer committed', async () => {
    for (const version of ['1.0.0', '1.1.0']) await release(version);
    await set('stable', { keep: 1 });
    await release('1.2.0');
    let isFirst = true;
    parts.store.setPlan(async ({ method, key }) => {
      if (!isFirst || method !== 'create' || !key.includes('/catalog/')) return undefined;
      isFirst = false;
      await change('yank', '1.2.0');
      return undefined;
    });
    // Without the yank, this release drops 1.2.0.
    expect(await release('1.3.0')).toMatchObject({ dropped: [] });
    expect(await listed()).toEqual(['1.2.0 yanked', '1.3.0 active']);
  });

  it('has the same offers in the end when releases race', async () => {
    await release('1.0.0');
    await set('stable', { keep: 2 });
    const versions = ['1.1.0', '1.2.0', '1.3.0', '1.4.0'];
    await Promise.all(versions.map((version) => release(version)));
    await release('1.5.0');
    expect((await listed())?.toSorted()).toEqual(['1.4.0 active', '1.5.0 active']);
    expect((await channelNamed('stable'))?.retired.toSorted()).toEqual([
      ...['1.0.0', '1.1.0', '1.2.0', '1.3.0'],
    ]);
  });
});

const gc = ({ memory, ...rest }: Parts) =>
  collectGarbage({ ...rest, store: memory }, { application: undefined });
async function stored(into = parts): Promise<readonly string[]> {
  const bytes: string[] = [];
  for await (const { key } of into.memory.list(artifactsPrefix(application))) {
    bytes.push(Buffer.from((await into.memory.get(key))?.body ?? []).toString());
  }
  return bytes.toSorted();
}

describe('gc of what a channel kept out', () => {
  /** 1.0.0 and 1.1.0 are kept out, 1.2.0 is offered. */
  async function keepOut(into = parts): Promise<void> {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await release(version, { into });
    await set('stable', { keep: 1 }, into);
  }

  it('removes its files after 90 days, by the clock of the store', async () => {
    await keepOut();
    parts.clock.advance(90 * DAY_MS);
    expect((await gc(parts)).results).toMatchObject([{ objects: [] }]);
    parts.clock.advance(60_000);
    const wrong = { ...parts.clock, now: () => parts.clock.now() - 400 * DAY_MS };
    const dry = createDryRunStore({ store: parts.memory, clock: parts.clock });
    const planned = await collectGarbage({ ...parts, store: dry }, { application });
    expect([planned.results[0]?.objects.length, (await stored()).length]).toEqual([2, 3]);
    expect((await gc({ ...parts, clock: wrong })).results).toMatchObject([{ bytes: 10 }]);
    expect(await stored()).toEqual(['1.2.0']);
    expect((await observe(parts.memory, application, parts.clock.now)).torn).toEqual([]);
    await expect(release('1.0.0')).rejects.toMatchObject({ code: 'status_forbids' });
  });

  it('keeps the files of a release that was retired by hand, also on another channel', async () => {
    await keepOut();
    await release('1.3.0');
    await promote('1.3.0', 'internal');
    await release('1.4.0');
    await change('retire', '1.3.0', 'internal');
    await change('yank', '1.4.0');
    await change('retire', '1.4.0');
    parts.clock.advance(91 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['1.3.0', '1.4.0']);
  });

  it('keeps files while a channel lists the release, and until each channel kept it out for 90 days', async () => {
    await release('1.0.0');
    await promote('1.0.0', 'internal');
    await release('1.1.0');
    await promote('1.1.0', 'internal');
    await set('stable', { keep: 1 });
    parts.clock.advance(91 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['1.0.0', '1.1.0']);
    await set('internal', { keep: 1 });
    parts.clock.advance(89 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['1.0.0', '1.1.0']);
    parts.clock.advance(2 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['1.1.0']);
  });

  it('keeps the files of a channel that was removed', async () => {
    await release('1.0.0');
    for (const version of ['1.1.0', '1.2.0']) await release(version, { channel: 'internal' });
    await set('internal', { keep: 1 });
    await changeChannel(parts, {
      application,
      channel: 'internal',
      reason: null,
      action: { kind: 'remove', force: true },
    });
    parts.clock.advance(91 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['1.0.0', '1.1.0', '1.2.0']);
  });

  it('keeps a file that another manifest names', async () => {
    await release('1.0.0', { content: 'same' });
    expect((await release('1.1.0', { content: 'same' })).artifacts[0]?.uploaded).toBe(false);
    await set('stable', { keep: 1 });
    parts.clock.advance(91 * DAY_MS);
    await gc(parts);
    expect(await stored()).toEqual(['same']);
    expect((await observe(parts.memory, application, parts.clock.now)).torn).toEqual([]);
  });

  it('never removes a file that a commit names, while a publisher reuses its bytes', async () => {
    const SEED = 2_718_281;
    const randomness = createSeededRandomness(SEED);
    let removed = 0;
    const runs = rounds(15, 50);
    for (let run = 0; run < runs; run++) {
      const own = createParts(run);
      await keepOut(own);
      const days = 90 + (randomness.fraction() - 0.3) * 4;
      own.clock.advance(days * DAY_MS);
      const step = 1 + Math.floor(randomness.fraction() * 30);
      const pause = randomness.fraction() < 0.5 ? 0 : randomness.fraction() * 5 * DAY_MS;
      const repeat = `seed ${SEED}, run ${run}: ${days} days, gc at step ${step} after ${pause} ms`;
      own.store.forgetCalls();
      own.store.setPlan(async ({ number, method, key }) => {
        if (number !== step) return undefined;
        if (!(method === 'create' && key.includes('/manifest/'))) own.clock.advance(pause);
        for (const { objects } of (await gc(own)).results) removed += objects.length;
        return undefined;
      });
      // The bytes of a release that was kept out, under a new version.
      const again = { content: '1.0.0', into: own };
      await release('2.0.0', again).catch((error) => {
        if (!isAppError(error, 'store_unavailable')) throw error;
      });
      own.store.setPlan(undefined);
      for (const later of [0, 8 * DAY_MS]) {
        own.clock.advance(later);
        await gc(own);
        expect((await observe(own.memory, application, own.clock.now)).torn, repeat).toEqual([]);
      }
      await release('2.0.0', again);
      const { torn, offers } = await observe(own.memory, application, own.clock.now);
      expect([torn, [...offers.keys()]], repeat).toEqual([[], ['stable 2.0.0']]);
    }
    expect(removed).toBeGreaterThan(runs);
  });
});
