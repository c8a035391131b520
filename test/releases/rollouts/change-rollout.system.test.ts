import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import {
  changeRollout,
  type RolloutAction,
  type RolloutChanged,
} from '../../../src/releases/rollouts/change-rollout.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION } from '../../server/support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** Rollouts from the publisher's command to the answers of the service. */

const HOUR = 3_600_000;
/** A Friday at noon. */
const START = Date.parse('2036-11-21T12:00:00Z');
const FEED = '/feeds/desktop/stable/electron/latest.yml';
const IDS = Array.from({ length: 400 }, (_, n) => `id-${n}`);

let service: TestService;
let clock: ReturnType<typeof createHastyClock>;

beforeEach(async () => {
  clock = createHastyClock();
  clock.advance(START - clock.now());
  service = await createTestService({ clock });
  await release('1.0.0');
});
afterEach(() => service.close());

async function release(version: string, request: Partial<PublishRequest> = {}): Promise<void> {
  const artifact = await makeArtifact(`${service.directory}/${version}`, { content: version });
  await publish(service, { version, artifacts: [artifact], ...request });
  await service.refresh();
}

async function change(
  action: RolloutAction | string,
  version = '1.1.0',
  channel?: string,
): Promise<RolloutChanged> {
  const done = await changeRollout(
    { ...service, actor: 'test' },
    {
      application: 'desktop',
      version,
      channel,
      reason: null,
      action:
        typeof action === 'string'
          ? { kind: 'start', requested: { text: action, freezeWindows: [] } }
          : action,
    },
  );
  await service.refresh();
  return done;
}

async function setStatus(verb: StatusVerb, version = '1.1.0'): Promise<void> {
  const request = { application: 'desktop', version, channel: undefined, reason: null };
  await changeStatus({ ...service, actor: 'test' }, verb, request);
  await service.refresh();
}

/** Lets time pass, and the service ask the store whether its catalog is still the newest. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await service.refresh();
}

const staged = (text: string, ...freezeWindows: string[]) => ({ rollout: { text, freezeWindows } });

async function check(
  id?: string,
  from = '1.0.0',
  at = service,
): Promise<{ version?: string; reason: string }> {
  const body = {
    current_version: from,
    platform: 'windows',
    arch: 'x64',
    ...(id === undefined ? {} : { installation_id: id }),
  };
  const answer = await at.app.http.inject({ method: 'POST', url: CHECK_UPDATE, body });
  if (answer.statusCode === 503 && answer.json().code === 'overloaded') {
    // The machine of the test is busy, and the service sheds load for a second.
    await setTimeout(200);
    return check(id, from, at);
  }
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

/** One after the other: a service sheds some of many checks at once. */
async function checkAll(at = service) {
  const answers = [];
  for (const id of IDS) answers.push({ id, ...(await check(id, '1.0.0', at)) });
  return answers;
}

async function offeredTo(): Promise<ReadonlySet<string>> {
  const answers = await checkAll();
  expect(new Set(answers.map(({ reason }) => reason))).not.toContain('up_to_date');
  return new Set(answers.filter(({ version }) => version === '1.1.0').map(({ id }) => id));
}

const shareOf = async (): Promise<number> => Math.round(((await offeredTo()).size / 400) * 100);

const get = (url: string, headers: Record<string, string> = {}) =>
  service.app.http.inject({ url, headers });

describe('a rollout', () => {
  it('offers a release to a share of the installations, which only grows as it is raised', async () => {
    await release('1.1.0', staged('0'));
    let before: ReadonlySet<string> = await offeredTo();
    expect(before.size).toBe(0);
    for (const percent of [5, 25, 50, 75, 100]) {
      const { changed, channels } = await change(`${percent}%`);
      expect([changed, channels[0]?.after]).toEqual([true, percent * 100]);
      const now = await offeredTo();
      expect(Math.abs(now.size / 4 - percent)).toBeLessThan(10);
      expect([...before].filter((id) => !now.has(id))).toEqual([]);
      before = now;
    }
    const lowered = await change('25%').then(offeredTo);
    await change('75%');
    const raised = await offeredTo();
    expect([...lowered].filter((id) => !raised.has(id))).toEqual([]);
    await change({ kind: 'complete' });
    expect(await shareOf()).toBe(100);
  });

  it('offers it to clients without an id, and to visitors, at 100 % only', async () => {
    await release('1.1.0', staged('1%@0h,99.99%@1h,100%@2h'));
    const seen = async () => [
      (await check()).reason,
      (await get(LATEST_VERSION)).json().version,
      (await get(`${DOWNLOAD}/windows`, { accept: 'application/json' })).json().version,
      /version: '(.*)'/.exec((await get(FEED)).body)?.[1],
    ];
    expect(await seen()).toEqual(['held_by_rollout', '1.0.0', '1.0.0', '1.0.0']);
    await pass(1.5 * HOUR);
    expect(await seen()).toEqual(['held_by_rollout', '1.0.0', '1.0.0', '1.0.0']);
    await pass(HOUR);
    expect(await seen()).toEqual(['offer', '1.1.0', '1.1.0', '1.1.0']);
  });

  it('is followed by plan, freeze, and the end of the freeze, without a new revision', async () => {
    const window = 'Fri 16:00..Mon 08:00 Europe/Berlin';
    await release('1.1.0', staged('0@0h,50%@2h,100%@4h', window));
    expect(await shareOf()).toBe(0);
    await pass(2 * HOUR);
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    // The weekend begins at 15:00 UTC.
    await pass(60 * HOUR);
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    await pass(5 * HOUR);
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    // 07:30 UTC on Monday: the plan has run three hours and a half.
    const { channels } = await change({ kind: 'freeze' });
    expect(channels).toMatchObject([{ before: 5000, after: 5000 }]);
    await pass(500 * HOUR);
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    await change({ kind: 'unfreeze' });
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    await pass(70 * HOUR);
    expect(await shareOf()).toBe(100);
  });

  it('reads the id where clients of each kind send it', async () => {
    await release('1.1.0', staged('50%'));
    const offered = await offeredTo();
    const versionFor = async (url: string, headers: Record<string, string>) =>
      /version: '(.*)'/.exec((await get(url, headers)).body)?.[1];
    for (const id of IDS.slice(0, 40)) {
      const expected = offered.has(id) ? '1.1.0' : '1.0.0';
      expect(await versionFor(FEED, { 'x-user-staging-id': id })).toBe(expected);
      expect(await versionFor(FEED, { 'x-installation-id': id })).toBe(expected);
      expect(await versionFor(`${FEED}?installation_id=${id}`, {})).toBe(expected);
    }
    const first = String([...offered][0]);
    const other = String(IDS.find((id) => !offered.has(id)));
    for (const empty of [{ 'x-user-staging-id': '' }, { 'x-installation-id': '' }]) {
      expect(await versionFor(`${FEED}?installation_id=`, empty)).toBe('1.0.0');
    }
    const both = { 'x-user-staging-id': first, 'x-installation-id': other };
    expect(await versionFor(`${FEED}?installation_id=${other}`, both)).toBe('1.1.0');
  });

  it('keeps caches from giving one installation the feed of another', async () => {
    const cacheOf = async () => (await get(FEED)).headers['cache-control'];
    expect(await cacheOf()).toMatch(/^public/);
    await release('1.1.0', staged('0@0h,50%@1h,100%@2h'));
    expect(await cacheOf()).toMatch(/^public/);
    await pass(HOUR);
    expect(await cacheOf()).toBe('private, no-store');
    expect((await get(FEED)).body).not.toContain('stagingPercentage');
    await pass(HOUR);
    expect(await cacheOf()).toMatch(/^public/);
  });

  it('stands still while the release is paused', async () => {
    await release('1.1.0', staged('50%@0h,100%@6h'));
    await pass(5 * HOUR);
    await setStatus('pause');
    expect((await check(IDS[0])).reason).toBe('paused');
    await expect(change('60%')).rejects.toMatchObject({
      code: 'status_forbids',
      message: expect.stringContaining('To change the rollout, resume it first: slipway resume'),
    });
    await pass(100 * HOUR);
    await setStatus('resume');
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    await pass(HOUR);
    expect(await shareOf()).toBe(100);
  });

  it('is the same when the command runs again, and for every machine that publishes', async () => {
    await release('1.1.0', staged('1%@0h,50%@6h'));
    await pass(5 * HOUR);
    expect((await change('1%@0h,50%@6h')).changed).toBe(false);
    const other = await makeArtifact(`${service.directory}/mac`, {
      platform: 'macos',
      arch: 'arm64',
      format: 'dmg',
      filename: 'App.dmg',
    });
    await publish(service, { version: '1.1.0', artifacts: [other], ...staged('1%@0h,50%@6h') });
    await service.refresh();
    await pass(HOUR);
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
  });

  it('belongs to one channel: a promoted release has its own', async () => {
    await release('1.1.0', { channel: 'beta', create: true, ...staged('0') });
    const to = { application: 'desktop', version: '1.1.0', to: 'stable' };
    const flags = { create: false, allowPrerelease: false };
    const writer = { ...service, actor: 'test' };
    await promoteRelease(writer, { ...to, ...flags, ...staged('50%') });
    await service.refresh();
    expect(Math.abs((await shareOf()) - 50)).toBeLessThan(10);
    const changed = await change('75%', '1.1.0', 'stable');
    expect(changed.channels).toMatchObject([{ channel: 'stable', before: 5000, after: 7500 }]);
  });

  it('leads a client past releases that are held: to the newest that it is offered', async () => {
    await release('1.1.0');
    await release('1.2.0', staged('0'));
    expect(await check(IDS[0])).toMatchObject({ reason: 'offer', version: '1.1.0' });
    expect(await check(IDS[0], '1.1.0')).toMatchObject({ reason: 'held_by_rollout' });
  });
});

describe('replicas whose clocks are four minutes apart', () => {
  it('offer a release at the same moment: by the time of the store', async () => {
    const FOUR_MINUTES = 4 * 60_000;
    const replicas = await Promise.all(
      [-FOUR_MINUTES, FOUR_MINUTES].map((ahead) =>
        createTestService({
          clock: { now: () => clock.now() + ahead, sleep: clock.sleep },
          store: { ...service.store, clockOffsetMs: () => -ahead },
        }),
      ),
    );
    await release('1.1.0', staged('1%@0h,50%@1h,100%@2h'));
    const seen = async () => {
      const offered: number[] = [];
      for (const replica of replicas) {
        await replica.refresh();
        const answers = await checkAll(replica);
        offered.push(answers.filter(({ version }) => version === '1.1.0').length);
      }
      return offered;
    };
    const shares: number[] = [];
    for (const ms of [
      0,
      HOUR - FOUR_MINUTES / 4,
      FOUR_MINUTES / 2,
      HOUR - FOUR_MINUTES,
      FOUR_MINUTES,
    ]) {
      await pass(ms);
      const [a = 0, b = 0] = await seen();
      expect(a).toBe(b);
      shares.push(Math.round(a / 4));
    }
    expect([shares[0], shares[1]].every((share = 100) => share < 5)).toBe(true);
    expect([shares[2], shares[3]].every((share = 0) => Math.abs(share - 50) < 8)).toBe(true);
    expect(shares[4]).toBe(100);
    await Promise.all(replicas.map((replica) => replica.close()));
  });
});

describe('a command without a channel', () => {
  const channels = async (action: RolloutAction | string) =>
    (await change(action)).channels.map(({ channel, after }) => [channel, after]);

  beforeEach(async () => {
    await release('1.1.0', { channel: 'beta', create: true });
    const to = { application: 'desktop', version: '1.1.0', to: 'stable', create: false };
    const promoted = { ...to, allowPrerelease: false, ...staged('1%@0h,100%@100h') };
    await promoteRelease({ ...service, actor: 'test' }, promoted);
    await service.refresh();
  });

  it('changes the rollout that is under way, and takes nothing back elsewhere', async () => {
    expect(await channels('25%')).toEqual([['stable', 2500]]);
    expect(await channels({ kind: 'freeze' })).toEqual([['stable', 2500]]);
    expect(await channels({ kind: 'complete' })).toEqual([['stable', 10_000]]);
    expect(await channels('10%')).toEqual([
      ['stable', 1000],
      ['beta', 1000],
    ]);
  });

  it('stops a rollout also when another channel has paused the release', async () => {
    const paused = { application: 'desktop', version: '1.1.0', channel: 'beta', reason: null };
    await changeStatus({ ...service, actor: 'test' }, 'pause', paused);
    expect(await channels('0')).toEqual([['stable', 0]]);
  });
});

describe('a release that no client is offered', () => {
  it('keeps no machine waiting for its native builds', async () => {
    const build = (version: string, arch: 'x64' | 'arm64') =>
      makeArtifact(`${service.directory}/${version}`, {
        arch,
        filename: `App-${arch}.exe`,
        content: `${version} ${arch}`,
      });
    const both = await Promise.all([build('1.1.0', 'x64'), build('1.1.0', 'arm64')]);
    await publish(service, { version: '1.1.0', artifacts: both, ...staged('0') });
    await publish(service, { version: '1.1.1', artifacts: [await build('1.1.1', 'x64')] });
    await service.refresh();
    const body = { current_version: '1.0.0', platform: 'windows', arch: 'arm64' };
    const answer = await service.app.http.inject({ method: 'POST', url: CHECK_UPDATE, body });
    expect(answer.json()).toMatchObject({ reason: 'offer', version: '1.1.1' });
  });
});

describe('a rollout is refused', () => {
  it('for a release that is yanked, retired or unknown, with that state', async () => {
    await release('1.1.0');
    await setStatus('yank');
    await expect(change('5%')).rejects.toMatchObject({
      code: 'status_forbids',
      message: '1.1.0 is yanked on stable. That is permanent. Publish a new version.',
    });
    await setStatus('retire');
    await expect(change('5%')).rejects.toMatchObject({
      code: 'status_forbids',
      message: '1.1.0 is retired on stable. That is permanent. Publish a new version.',
    });
    await expect(change('5%', '9.0.0')).rejects.toMatchObject({ code: 'unknown_version' });
    await expect(change('5%', '1.0.0', 'beta')).rejects.toMatchObject({ code: 'unknown_channel' });
  });

  it('with the reason, before anything is written or uploaded', async () => {
    const always = ['Mon 00:00..Thu 00:00 UTC', 'Wed 23:00..Mon 00:00 UTC'];
    for (const [text, windows, message] of [
      ['5', [], /percent sign/],
      ['10%@0h,5%@1h', [], /lowers the share/],
      ['1%@0h,5%@1h', always, /leave too little time/],
    ] as const) {
      await expect(release('1.1.0', staged(text, ...windows))).rejects.toThrow(message);
    }
    for await (const { key } of service.store.list('')) expect(key).not.toContain('1.1.0');
    await expect(change('5', '1.0.0')).rejects.toMatchObject({ code: 'invalid_rollout' });
  });

  it('when every client is offered the release already', async () => {
    await release('1.1.0');
    const artifact = await makeArtifact(`${service.directory}/mac`, {
      platform: 'macos',
      arch: 'arm64',
      format: 'dmg',
      filename: 'App.dmg',
    });
    await expect(
      publish(service, { version: '1.1.0', artifacts: [artifact], ...staged('5%') }),
    ).rejects.toMatchObject({ code: 'status_forbids' });
    await publish(service, { version: '1.1.0', artifacts: [artifact], ...staged('100%') });
    expect((await change('100%')).changed).toBe(false);
    await expect(change({ kind: 'freeze' })).rejects.toThrow(/there is nothing to freeze/);
    expect((await change({ kind: 'complete' })).changed).toBe(false);
  });
});
