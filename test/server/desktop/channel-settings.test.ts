import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUpdateAnswerSchema } from '../../../src/answers/check-update/check-update-text.ts';
import {
  type ChannelRequest,
  changeChannel,
} from '../../../src/releases/channels/change-channel.ts';
import {
  ANALYTICS,
  ask as askAs,
  signIn,
  UNLIMITED,
} from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { check, DOWNLOAD, get, LATEST_VERSION, release } from '../support.ts';

/** What the settings of a channel change for its clients. */

const WINDOWS = ['windows x64 nsis'];

let service: TestService;
beforeEach(async () => {
  service = await createTestService({
    env: { ...UNLIMITED, TIERS: '{"free":["developer_keys","analytics"]}' },
  });
});
afterEach(() => service.close());

const change = async (channel: string, action: ChannelRequest['action']) => {
  const deps = { ...service, actor: 'test', ensureConforming: async () => {} };
  await changeChannel(deps, { application: 'desktop', channel, action, reason: null });
  await service.refresh();
};

/** Every answer must have exactly the documented fields. */
const ask = async (body: object) => {
  const answer = await check(service, body);
  expect(answer.status).toBe(200);
  return checkUpdateAnswerSchema.parse(answer.body);
};

describe('going back to an older version', () => {
  const beta = { current_version: '2.0.0-beta.1' };
  beforeEach(async () => {
    await release(service, '1.5.0', WINDOWS);
    await release(service, '2.0.0-beta.1', WINDOWS, { channel: 'beta' });
  });

  it('needs the permission of the channel, and the wish of the client', async () => {
    const wish = { ...beta, allow_downgrade: true };
    expect(await ask(wish)).toMatchObject({ update_available: false, reason: 'up_to_date' });
    await change('stable', { kind: 'set', settings: { allowsDowngrade: true } });
    expect(await ask(beta)).toMatchObject({ update_available: false, reason: 'up_to_date' });
    expect(await ask(wish)).toMatchObject({ version: '1.5.0', downgrade: true });
    expect(await ask({ allow_downgrade: true })).toMatchObject({
      version: '1.5.0',
      downgrade: false,
    });
    // A client that has what the channel offers does not move.
    expect(await ask({ current_version: '1.5.0', allow_downgrade: true })).toMatchObject({
      reason: 'up_to_date',
    });
    await change('stable', { kind: 'set', settings: { allowsDowngrade: false } });
    expect(await ask(wish)).toMatchObject({ reason: 'up_to_date' });
  });

  it('is counted as a check of the version that the client has, and an offer of the older one', async () => {
    await change('stable', { kind: 'set', settings: { allowsDowngrade: true } });
    await ask({ ...beta, allow_downgrade: true });
    const { body } = await askAs(service, 'GET', ANALYTICS, {
      bearer: (await signIn(service)).access,
    });
    const counted = body.rows.map((row: Record<string, unknown>) =>
      [row.version, row.checks, row.offers].join(' '),
    );
    expect(counted.toSorted()).toEqual(['1.5.0 0 1', '2.0.0-beta.1 1 0']);
  });
});

describe('early access', () => {
  it('gives a person who asks by hand a release that has not reached the installation', async () => {
    await release(service, '1.5.0', WINDOWS);
    const rollout = { text: '0.01%', freezeWindows: [] };
    await release(service, '2.0.0', WINDOWS, { rollout });
    const hand = { manual: true, installation_id: 'late' };
    expect(await ask(hand)).toMatchObject({ version: '1.5.0' });
    await change('stable', { kind: 'set', settings: { givesEarlyAccess: true } });
    expect(await ask(hand)).toMatchObject({ version: '2.0.0', downgrade: false });
    expect(await ask({ installation_id: 'late' })).toMatchObject({ version: '1.5.0' });
  });
});

describe('wrong types', () => {
  it.each([
    ['manual', 'yes'],
    ['manual', 1],
    ['manual', null],
    ['allow_downgrade', 'true'],
    ['allow_downgrade', [true]],
  ])('%s: %j is answered with 400 and a pointer', async (field, value) => {
    await release(service, '1.5.0', WINDOWS);
    const { status, body } = await check(service, { [field]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: `/${field}`, detail: expect.stringMatching(/\S/) }],
    });
  });
});

describe('a system that is too old for the newest release', () => {
  it('gets the newest release that it can run', async () => {
    const gated = (machine: string, minimumOsVersion: string) => ({
      machine,
      minimumOsVersion,
      signatures: [{ scheme: 'minisign' as const, keyId: 'AB', value: 'the .sig' }],
    });
    await release(service, '1.5.0', [
      gated('macos arm64 zip', '11'),
      gated('macos arm64 tar.gz', '11'),
    ]);
    await release(service, '1.6.0', [
      gated('macos arm64 zip', '12'),
      gated('macos arm64 tar.gz', '12'),
    ]);
    await release(service, '2.0.0', [
      gated('macos arm64 zip', '14'),
      gated('macos arm64 tar.gz', '14'),
    ]);
    const tauri = async (system: string) =>
      (await get(service, `/feeds/desktop/stable/tauri/darwin/aarch64/1.0.0?os_version=${system}`))
        .body.version;
    const electron = async (query: string) =>
      /version: '?([^'\n]*)/.exec(
        (await get(service, `/feeds/desktop/stable/electron/latest-mac.yml?arch=arm64${query}`))
          .body,
      )?.[1];
    const mac = { platform: 'macos', arch: 'arm64' };
    for (const [system, version] of [
      ['11.7', '1.5.0'],
      ['12.0', '1.6.0'],
      ['13.6.1', '1.6.0'],
      ['15.1', '2.0.0'],
    ] as const) {
      expect(await ask({ ...mac, os_version: system })).toMatchObject({ version });
      expect(await tauri(system)).toBe(version);
      expect(await electron(`&os_version=${system}`)).toBe(version);
    }
    // The client compares the minimum that the document states.
    expect(await electron('')).toBe('2.0.0');
    expect(await ask({ ...mac, os_version: '10.15' })).toMatchObject({
      reason: 'unsupported_os_version',
    });
    // What a channel keeps makes no difference.
    await change('stable', { kind: 'set', settings: { keep: 1 } });
    expect(await ask({ ...mac, os_version: '11.7' })).toMatchObject({ version: '1.5.0' });
  });
});

describe('a version that a channel kept out', () => {
  it('is gone for downloads, and clients get what they got before', async () => {
    for (const version of ['1.1.0', '1.2.0', '1.3.0']) await release(service, version, WINDOWS);
    const byNumber = (version: string) => get(service, `${DOWNLOAD}/windows?version=${version}`);
    expect((await byNumber('1.1.0')).status).toBe(302);
    await change('stable', { kind: 'set', settings: { keep: 1 } });
    for (const version of ['1.1.0', '1.2.0']) {
      const { status, body } = await byNumber(version);
      expect([status, body.code]).toEqual([410, 'release_withdrawn']);
    }
    expect((await byNumber('1.3.0')).status).toBe(302);
    expect(await ask({})).toMatchObject({ version: '1.3.0' });
  });
});

describe('a channel that was removed', () => {
  it('is unknown to clients', async () => {
    await release(service, '1.5.0', WINDOWS);
    await release(service, '2.0.0-beta.1', WINDOWS, { channel: 'beta' });
    expect(await ask({ channel: 'beta' })).toMatchObject({ version: '2.0.0-beta.1' });
    await change('beta', { kind: 'remove', force: true });
    const { status, body } = await check(service, { channel: 'beta' });
    expect([status, body.code]).toEqual([404, 'unknown_channel']);
    for (const url of [`${LATEST_VERSION}?channel=beta`, `${DOWNLOAD}/windows?channel=beta`]) {
      expect((await get(service, url)).body.code).toBe('unknown_channel');
    }
    expect(await ask({})).toMatchObject({ version: '1.5.0' });
  });
});
