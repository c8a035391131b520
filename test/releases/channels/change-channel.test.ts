import { beforeEach, describe, expect, it } from 'vitest';
import { readApplications, readRevision } from '../../../src/catalog/reading/read.ts';
import type { AppError } from '../../../src/core/errors.ts';
import {
  type ChannelRequest,
  changeChannel,
  planChannel,
} from '../../../src/releases/channels/change-channel.ts';
import type { ChannelSettings } from '../../../src/releases/channels/channel-settings.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, failFrom } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

const application = 'desktop';
let writes: string[];
let parts: ReturnType<typeof createParts>;

function createParts() {
  const clock = createFixedClock();
  const store = createFaultyStore(createMemoryStore({ clock }));
  const ensureConforming = async () => void writes.push('probe');
  return { store, clock, randomness: createSeededRandomness(1), actor: 'test', ensureConforming };
}

beforeEach(() => {
  writes = [];
  parts = createParts();
});

const change = (channel: string, action: ChannelRequest['action'], reason: string | null = null) =>
  changeChannel(parts, { application, channel, action, reason });
const create = (channel: string, settings: ChannelSettings = {}, isNew = true) =>
  change(channel, { kind: 'create', settings, create: isNew });
const set = (channel: string, settings: ChannelSettings) =>
  change(channel, { kind: 'set', settings });
const remove = (channel: string, force = false) => change(channel, { kind: 'remove', force });

const channels = async () => (await readRevision(parts, application))?.signed.channels ?? {};
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: AppError) => reason,
  );
  return error === undefined ? 'nothing was refused' : `${error.code}: ${error.message}`;
};

async function release(version: string, channel = 'stable', mode: 'offer' | 'draft' = 'offer') {
  const directory = await makeTemporaryDirectory();
  const artifact = await makeArtifact(directory.path, {
    filename: `App-${version}.exe`,
    content: version,
  });
  try {
    return await publish(parts, { version, channel, artifacts: [artifact], mode });
  } finally {
    await directory.remove();
  }
}

describe('creating a channel', () => {
  it('makes a new application only when asked, and checks the store first', async () => {
    expect(await refusal(create('stable', {}, false))).toBe(
      'needs_create: No application "desktop" in this store. There are none yet. Add --create to create it.',
    );
    expect(await readApplications(parts)).toEqual([]);
    expect(await create('stable')).toMatchObject({ changed: true, revision: 1 });
    expect([await readApplications(parts), writes]).toEqual([['desktop'], ['probe']]);
  });

  it('stores its settings, and finds nothing to do the second time', async () => {
    await create('stable');
    const windows = { platform: 'windows', arch: 'x64' } as const;
    const settings = {
      inherits: 'stable',
      keep: 5,
      expect: [windows, { platform: 'macos', arch: 'arm64' } as const, windows],
      givesEarlyAccess: true,
      allowsDowngrade: true,
    };
    expect(await change('beta', { kind: 'create', settings, create: false }, 'why')).toMatchObject({
      settingsBefore: null,
      settings: { ...settings, expect: ['macos-arm64', 'windows-x64'] },
    });
    const { signed } = (await readRevision(parts, application)) ?? {};
    expect(signed?.change).toEqual({
      kind: 'channel',
      version: null,
      channels: ['beta'],
      reason: 'why',
      summary: 'create',
      targets: [],
    });
    expect(signed?.channels.beta).toEqual({
      inherits: 'stable',
      early_access: true,
      allow_downgrade: true,
      expect: [
        { os: 'macos', arch: 'arm64' },
        { os: 'windows', arch: 'x64' },
      ],
      keep: 5,
      offers: [],
      retired: [],
    });
    expect(await create('beta', settings)).toMatchObject({ changed: false, revision: 2 });
    expect(await create('beta', { keep: 5 })).toMatchObject({ changed: false });
    expect(await refusal(create('beta', { keep: 6 }))).toMatch(
      /^status_forbids: desktop has a channel beta already, with other settings: .* slipway channels set beta /,
    );
  });

  it('lets a channel for pre-releases inherit from stable, unless it is told otherwise', async () => {
    await create('stable');
    await create('beta');
    await create('internal');
    await create('nightly', { inherits: null });
    const inherits = Object.entries(await channels()).map(([name, each]) => [name, each.inherits]);
    expect(Object.fromEntries(inherits)).toEqual({
      stable: null,
      beta: 'stable',
      internal: null,
      nightly: null,
    });
  });

  it('is completed by the same command after the store failed at any step', async () => {
    await create('stable', { keep: 3 });
    const steps = parts.store.total();
    const failed: string[] = [];
    for (const when of ['before', 'after'] as const) {
      for (let step = 1; step <= steps; step++) {
        parts = createParts();
        parts.store.setPlan(failFrom(step, when));
        failed.push(await refusal(create('stable', { keep: 3 })));
        parts.store.setPlan(undefined);
        await create('stable', { keep: 3 });
        expect(await channels()).toEqual({
          stable: { inherits: null, keep: 3, offers: [], retired: [] },
        });
        expect(await readApplications(parts)).toEqual(['desktop']);
      }
    }
    const codes = failed.map((message) => message.split(':')[0]);
    expect(new Set(codes)).toEqual(
      new Set(['store_unavailable', 'outcome_unknown', 'nothing was refused']),
    );
  });

  it('refuses what is not a name', async () => {
    expect(await refusal(create('Be ta'))).toMatch(
      /^invalid_name: "Be ta" is not a usable channel/,
    );
    expect(await readApplications(parts)).toEqual([]);
  });
});

describe('changing a channel', () => {
  beforeEach(async () => {
    for (const name of ['stable', 'beta', 'alpha']) await create(name);
  });

  it('refuses unknown names, circles and chains that are too long, and writes nothing', async () => {
    await set('alpha', { inherits: 'beta' });
    const { revision } = await set('beta', { inherits: 'stable' });
    expect(await refusal(set('bta', { keep: 1 }))).toBe(
      'unknown_channel: No channel "bta" in desktop. Did you mean beta? Channels: stable, alpha, beta.',
    );
    expect(await refusal(set('alpha', { inherits: 'stabel' }))).toBe(
      'unknown_channel: No channel "stabel" in desktop. Did you mean stable? Channels: stable, beta.',
    );
    expect(await refusal(set('beta', { inherits: 'beta' }))).toMatch(/cannot inherit from itself/);
    expect(await refusal(set('stable', { inherits: 'alpha' }))).toBe(
      'invalid_request: stable cannot inherit from alpha, because that would be a circle: stable → alpha → beta → stable. First run slipway channels set beta --inherits none.',
    );
    expect(revision).toBe((await readRevision(parts, application))?.signed.revision);
    for (let at = 1; at <= 5; at++) {
      await create(`c${at}`, { inherits: at === 1 ? 'alpha' : `c${at - 1}` });
    }
    expect(await refusal(create('c6', { inherits: 'c5' }))).toMatch(
      /^invalid_request: c6 .* the chain would have 9 channels, and at most 8 are allowed: c6 → c5 → .* → stable\.$/,
    );
    // A chain also grows in the middle.
    await create('other', { inherits: null });
    expect(await refusal(set('stable', { inherits: 'other' }))).toMatch(/would have 9 channels/);
  });

  it('refuses to inherit from a channel that only a draft created, until it is created', async () => {
    await release('1.5.0', 'nightly', 'draft');
    await create('insiders');
    const sentence =
      'invalid_request: nightly has only drafts so far, and no client sees it or what it inherits. First run slipway channels create nightly.';
    expect(await refusal(set('insiders', { inherits: 'nightly' }))).toBe(sentence);
    expect(await refusal(create('canary', { inherits: 'nightly' }))).toBe(sentence);
    expect((await channels()).insiders?.inherits).toBe('stable');
    expect(await channels()).not.toHaveProperty('canary');
    await create('nightly');
    expect(await set('insiders', { inherits: 'nightly' })).toMatchObject({ changed: true });
  });

  it('keeps the settings that are not stated, and clears those that are', async () => {
    await set('beta', { keep: 3, allowsDowngrade: true });
    await set('beta', { givesEarlyAccess: true });
    expect((await channels()).beta).toMatchObject({ keep: 3, allow_downgrade: true });
    await set('beta', { keep: null, allowsDowngrade: false, givesEarlyAccess: false });
    expect((await channels()).beta).toEqual({ inherits: 'stable', offers: [], retired: [] });
    expect(await set('beta', { keep: null })).toMatchObject({ changed: false });
  });

  it('says what new clients get, on each channel that shows it', async () => {
    await release('1.0.0');
    await release('2.0.0-beta.1', 'beta');
    const target = 'windows-x64 nsis';
    const request = {
      application,
      channel: 'alpha',
      action: { kind: 'set', settings: { inherits: 'beta' } },
      reason: null,
    } as const;
    const clients = [{ channel: 'alpha', target, before: '1.0.0', after: '2.0.0-beta.1' }];
    expect(await planChannel(parts, request)).toMatchObject({ clients, dropped: [] });
    expect((await channels()).alpha?.inherits).toBe('stable');
    expect(await changeChannel(parts, request)).toMatchObject({ changed: true, clients });
    expect((await set('beta', { inherits: null })).clients).toEqual([]);
  });

  it('runs every check again on the state that another writer committed', async () => {
    await set('beta', { inherits: null });
    await set('alpha', { inherits: null });
    const results = await Promise.all([
      refusal(set('beta', { inherits: 'alpha' })),
      refusal(set('alpha', { inherits: 'beta' })),
    ]);
    expect(results.toSorted()).toEqual([
      expect.stringMatching(/^invalid_request: .* would be a circle/),
      'nothing was refused',
    ]);
  });
});

describe('removing a channel', () => {
  beforeEach(async () => {
    await release('1.0.0');
    await release('2.0.0-beta.1', 'beta');
    await create('alpha', { inherits: 'beta' });
  });

  it('refuses while another channel inherits from it, while it lists releases, and for the last one', async () => {
    expect(await refusal(remove('beta', true))).toBe(
      'status_forbids: alpha inherits from beta, and clients would lose its releases. First run slipway channels set alpha --inherits stable.',
    );
    await remove('alpha');
    expect(await refusal(remove('beta'))).toMatch(
      /^status_forbids: beta still lists 1 release: 2\.0\.0-beta\.1\. .*--force/,
    );
    await set('beta', { inherits: null });
    expect(await refusal(remove('stable', true))).toMatch(
      /^status_forbids: stable still lists 1 release: 1\.0\.0\. .*retire each release first/,
    );
    expect(await remove('beta', true)).toMatchObject({
      settings: null,
      dropped: ['2.0.0-beta.1'],
      clients: [{ channel: 'beta', before: '2.0.0-beta.1', after: null }],
    });
    expect(Object.keys(await channels())).toEqual(['stable']);
    expect(await refusal(remove('stable', true))).toMatch(/is the only channel of desktop/);
    expect(await refusal(remove('beta'))).toMatch(/^unknown_channel: /);
  });

  it('remembers its versions, so that none is published again with other files', async () => {
    await set('alpha', { inherits: null });
    await promoteRelease(parts, {
      application,
      version: '1.0.0',
      to: 'beta',
      create: false,
      allowPrerelease: false,
      allowOlder: true,
    });
    await remove('beta', true);
    expect(await refusal(release('2.0.0-beta.1', 'alpha'))).toBe(
      'status_forbids: 2.0.0-beta.1 was listed on a channel that was removed. Publish a new version.',
    );
    // Another channel lists it.
    expect((await release('1.0.0')).changed).toBe(false);
    await release('1.1.0');
    await create('beta');
    expect(await refusal(release('2.0.0-beta.1', 'beta'))).toMatch(/^status_forbids: /);
    expect((await readRevision(parts, application))?.signed.removed_versions).toEqual([
      '2.0.0-beta.1',
      '1.0.0',
    ]);
  });

  it('does not forget that a release was yanked, while another channel offers it', async () => {
    await release('1.5.0');
    const allowed = { create: true, allowPrerelease: false, allowOlder: true };
    const flags = { application, version: '1.5.0', ...allowed };
    await promoteRelease(parts, { ...flags, to: 'lab' });
    const only = { application, version: '1.5.0', channel: 'lab', reason: null };
    await changeStatus(parts, 'yank', only);
    const sentence =
      'status_forbids: 1.5.0 is yanked on lab and still offered on stable. Yank it there too: slipway yank 1.5.0 --channel stable.';
    expect(await refusal(remove('lab', true))).toBe(sentence);
    expect(await refusal(changeStatus(parts, 'retire', only))).toBe(sentence);
    await changeStatus(parts, 'yank', { ...only, channel: undefined });
    await changeStatus(parts, 'retire', only);
    expect(await refusal(promoteRelease(parts, { ...flags, to: 'lab' }))).toMatch(/status_forbids/);
  });

  it('remembers its versions for those that differ only in build metadata, too', async () => {
    await release('1.5.0+a', 'alpha');
    await remove('alpha', true);
    expect(await refusal(release('1.5.0+b'))).toBe(
      'status_forbids: 1.5.0+a was listed on a channel that was removed. Publish a new version.',
    );
    expect((await channels()).stable?.offers.map(({ version }) => version)).toEqual(['1.0.0']);
  });

  it('loses a race against a release that is published to it', async () => {
    await remove('alpha');
    await release('1.1.0');
    await create('internal');
    let isFirst = true;
    parts.store.setPlan(async ({ method, key }) => {
      if (!isFirst || method !== 'create' || !key.includes('/catalog/')) return undefined;
      isFirst = false;
      await release('3.0.0', 'internal');
      return undefined;
    });
    expect(await refusal(remove('internal'))).toMatch(/internal still lists 1 release: 3\.0\.0/);
    expect(Object.keys(await channels()).toSorted()).toEqual(['beta', 'internal', 'stable']);
  });
});
