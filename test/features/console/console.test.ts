import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/features/console/changes/change-request.ts';
import type { Console } from '../../../src/features/console/console.ts';
import { changeSettings } from '../../../src/releases/applications/change-settings.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { query } from '../../support/update-query.ts';
import { openScene, type Scene } from './console-scene.ts';

const HOUR = 3_600_000;

describe('the console', () => {
  let scene: Scene;
  let ada: Console;
  let ben: Console;
  const stop = (kind: 'pause' | 'resume' | 'yank', version: string, reason: string | null = null) =>
    ({ kind, version, channel: null, reason }) satisfies Change;

  beforeEach(async () => {
    scene = await openScene();
    ada = scene.consoleOf('ada');
    ben = scene.consoleOf('ben');
    await scene.release('1.0.0');
    await scene.release('1.1.0', {
      rollout: { text: '25%@0h,100%@2h', freezeWindows: [] },
      notes: { und: 'It is **faster**. <script>alert(1)</script> [x](javascript:alert(1))' },
    });
    await scene.release('1.2.0', {
      expect: [
        { platform: 'windows', arch: 'x64' },
        { platform: 'windows', arch: 'arm64' },
      ],
    });
  });
  afterEach(() => scene.close());

  it('shows every release on every channel, with its share and what is missing', async () => {
    const { revision, channels, releases, attention, problem } = await ada.overview('desktop');
    expect([revision, problem]).toEqual([3, null]);
    expect(channels).toMatchObject([{ name: 'stable', newest: '1.0.0' }]);
    expect(
      releases.map(({ version, cells }) => [version, cells[0]?.status, cells[0]?.share]),
    ).toEqual([
      ['1.2.0', 'draft', 0],
      ['1.1.0', 'active', 2_500],
      ['1.0.0', 'active', 10_000],
    ]);
    expect(releases[0]?.cells[0]?.missing).toEqual(['windows-arm64']);
    expect(attention.map(({ kind, severity }) => [kind, severity])).toEqual([
      ['missing', 'warning'],
      ['rolling_out', 'info'],
    ]);
    scene.clock.advance(3 * HOUR);
    const later = await ada.overview('desktop');
    expect(later.channels[0]?.newest).toBe('1.1.0');
    expect(later.releases[1]?.cells[0]).toMatchObject({ share: 10_000, completeAt: null });
  });

  it('says which newer release replaced a release, once no client is offered it', async () => {
    const replaced = async () => {
      const { releases } = await ada.overview('desktop');
      return releases.map(({ version, cells }) => [version, cells[0]?.replacement]);
    };
    expect(await replaced()).toEqual([
      ['1.2.0', null],
      ['1.1.0', null],
      ['1.0.0', null],
    ]);
    scene.clock.advance(3 * HOUR);
    expect(await replaced()).toEqual([
      ['1.2.0', null],
      ['1.1.0', null],
      ['1.0.0', { version: '1.1.0', isComplete: true }],
    ]);
    expect((await ada.release('desktop', '1.0.0')).cells).toMatchObject([
      { replacement: { version: '1.1.0', isComplete: true } },
    ]);
    // A replaced rollout reaches no client, so it needs no attention.
    await scene.release('1.3.0', { rollout: { text: '10%', freezeWindows: [] } });
    await scene.release('1.4.0');
    const { attention } = await ada.overview('desktop');
    expect(attention.map(({ kind }) => kind)).toEqual(['missing']);
    expect((await replaced()).slice(0, 3)).toEqual([
      ['1.4.0', null],
      ['1.3.0', { version: '1.4.0', isComplete: true }],
      ['1.2.0', null],
    ]);
    const stopped = stop('pause', '1.4.0');
    await ada.change('desktop', { change: stopped, revision: null });
    expect((await replaced())[1]).toEqual(['1.3.0', null]);
  });

  it('says when some clients are still offered a release that was replaced for others', async () => {
    // Clients below 1.1.0 need 1.1.0 as a stepping stone.
    scene.clock.advance(3 * HOUR);
    await scene.release('2.0.0', { requires: '>=1.1.0' });
    const { releases } = await ada.overview('desktop');
    expect(releases.map(({ version, cells }) => [version, cells[0]?.replacement])).toEqual([
      ['2.0.0', null],
      ['1.2.0', null],
      ['1.1.0', { version: '2.0.0', isComplete: false }],
      ['1.0.0', { version: '2.0.0', isComplete: true }],
    ]);
  });

  it('refuses counts of a channel that does not exist', async () => {
    const asked = { application: 'desktop', days: 7 };
    expect(await ada.adoption({ ...asked, channel: 'stable' })).toMatchObject({ versions: [] });
    await expect(ada.adoption({ ...asked, channel: 'nope' })).rejects.toMatchObject({
      code: 'unknown_channel',
    });
  });

  it('gives each stage of a plan its time, and none while the plan stands still', async () => {
    const stages = async () => (await ada.release('desktop', '1.1.0')).rollouts[0]?.stages;
    const before = await stages();
    expect(before?.map(({ share }) => share)).toEqual([2_500, 10_000]);
    const [first, last] = before?.map(({ at }) => Date.parse(at ?? '')) ?? [];
    expect((last ?? 0) - (first ?? 0)).toBe(2 * HOUR);
    await ada.change('desktop', { change: stop('pause', '1.1.0'), revision: null });
    expect(await stages()).toEqual([
      { share: 2_500, at: expect.any(String) },
      { share: 10_000, at: null },
    ]);
  });

  it('shows the display name of an application, and its changes in words', async () => {
    expect((await ada.overview('desktop')).displayName).toBeNull();
    const set = async (displayName: string | null) => {
      await changeSettings(
        { ...scene, actor: 'ada' },
        { application: 'desktop', stated: { displayName }, reason: null },
      );
      scene.clock.advance(2_000);
      return (await ada.overview('desktop')).displayName;
    };
    expect(await set('<b>Acme</b> Notes')).toBe('<b>Acme</b> Notes');
    expect(await set(null)).toBeNull();
    const { entries } = await ada.history('desktop', undefined);
    expect(entries.slice(0, 2).map(({ summary }) => summary)).toEqual([
      'set display name none',
      'set display name <b>Acme</b> Notes',
    ]);
  });

  it('shows a release with its files, safe notes, rollout and the versions to go back to', async () => {
    const release = await ada.release('desktop', '1.1.0');
    expect(release.artifacts).toMatchObject([
      { filename: 'App-1.1.0-x64.exe', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(release.notes[0]?.html).toContain('<strong>faster</strong>');
    expect(release.notes[0]?.html).not.toMatch(/<script|href="javascript/);
    expect(release.rollouts).toMatchObject([
      { channel: 'stable', share: 2_500, plan: '25%@0h,100%@2h', isFrozen: false, counts: null },
    ]);
    expect(release.rollouts[0]?.points.map(({ share }) => share)).toEqual([2_500, 10_000]);
    expect(release.rollbackTargets).toEqual([{ channel: 'stable', versions: ['1.0.0'] }]);
    await expect(ada.release('desktop', '7.0.0')).rejects.toMatchObject({
      code: 'unknown_version',
    });
    await expect(ada.overview('dekstop')).rejects.toMatchObject({ code: 'unknown_application' });
  });

  it('pauses at once, whatever the person saw, and says when clients know it', async () => {
    await ada.overview('desktop');
    await scene.release('1.3.0');
    const paused = await ada.change('desktop', {
      change: stop('pause', '1.1.0', 'bad'),
      revision: null,
    });
    expect(paused).toMatchObject({ changed: true, revision: 5 });
    expect(paused.sentences.join(' ')).toContain(
      'Running services answer with it within 5 seconds.',
    );
    const { releases } = await ada.overview('desktop');
    const cell = releases.find(({ version }) => version === '1.1.0')?.cells[0];
    expect(cell).toMatchObject({ status: 'paused', reason: 'bad' });
    const again = await ada.change('desktop', { change: stop('pause', '1.1.0'), revision: null });
    expect(again).toMatchObject({ changed: false, revision: 5 });
  });

  it('says which releases clients are offered now, and not only listed', async () => {
    const offered = async () =>
      (await ada.overview('desktop')).releases
        .filter(({ isOfferedNow }) => isOfferedNow)
        .map(({ version }) => version);
    // The rollout of 1.1.0 has reached a quarter of the clients, and 1.2.0 is held back.
    expect(await offered()).toEqual(['1.1.0', '1.0.0']);
    await scene.release('1.3.0');
    expect(await offered()).toEqual(['1.3.0']);
    expect(await ada.release('desktop', '1.0.0')).toMatchObject({ isOfferedNow: false });
    // Clients before 1.3.0 must step through it.
    await scene.release('1.4.0', { requires: '>=1.3.0' });
    expect(await offered()).toEqual(['1.4.0', '1.3.0']);
  });

  it('takes a reason for a release that is paused already, in the state that the person saw', async () => {
    const change = stop('pause', '1.1.0', 'crashes at start');
    await ada.change('desktop', { change: stop('pause', '1.1.0'), revision: null });
    const preview = await ada.preview('desktop', { change, revision: 4 });
    expect(preview.consequences).toEqual([
      'Only the recorded reason changes. Clients get the same as before.',
    ]);
    expect(preview.clients).toEqual([]);
    expect(await ada.change('desktop', { change, revision: 4 })).toMatchObject({ changed: true });
    const { cells } = await ada.release('desktop', '1.1.0');
    expect(cells).toMatchObject([{ status: 'paused', reason: 'crashes at start', share: 2_500 }]);
    const [newest] = (await ada.history('desktop', undefined)).entries;
    expect(newest).toMatchObject({ kind: 'pause', reason: 'crashes at start' });
    // A colleague resumed it meanwhile: a late reason must not pause it again.
    await ben.change('desktop', { change: stop('resume', '1.1.0'), revision: 5 });
    await expect(ada.change('desktop', { change, revision: 5 })).rejects.toMatchObject({
      code: 'state_changed',
    });
  });

  it('keeps the share that a paused release had reached, and the past steps after a resume', async () => {
    const rollout = async () => (await ada.release('desktop', '1.1.0')).rollouts[0];
    scene.clock.advance(HOUR);
    await ada.change('desktop', { change: stop('pause', '1.1.0'), revision: null });
    scene.clock.advance(24 * HOUR);
    // The plan would have reached every client long ago.
    expect(await rollout()).toMatchObject({ share: 2_500, points: [{}, { share: 2_500 }] });
    await ada.change('desktop', { change: stop('resume', '1.1.0'), revision: 4 });
    const { points = [], interruptedAt, share } = (await rollout()) ?? {};
    expect(share).toBe(2_500);
    expect(points.map((point) => point.share)).toEqual([2_500, 2_500, 10_000]);
    const [from = 0, resumed = 0, end = 0] = points.map(({ at }) => Date.parse(at));
    expect(resumed).toBe(Date.parse(interruptedAt ?? ''));
    expect(end - from).toBe(2 * HOUR);
  });

  it('shows clients once that get the same on every target', async () => {
    const mac = { platform: 'macos', arch: 'universal' } as const;
    const files = [
      { ...mac, filename: 'App.zip', format: 'zip' },
      { ...mac, filename: 'App.dmg', format: 'dmg' },
    ] as const;
    await scene.release('1.3.0', {}, ['x64'], files);
    await scene.release('1.4.0', {}, ['x64'], files);
    const { revision } = await ada.overview('desktop');
    const { clients } = await ada.preview('desktop', { change: stop('pause', '1.4.0'), revision });
    // No updater installs a disk image, so only new visitors have one among their targets.
    expect(clients.map(({ target, installed, after }) => [target, installed, after])).toEqual([
      ['all targets', 'new visitors', '1.3.0'],
      ['all targets', '1.3.0', 'nothing (1.4.0 is paused)'],
      ['all targets', '1.1.0 and older', '1.3.0'],
    ]);
  });

  it('refuses any other change that was made on an old state, and changes nothing', async () => {
    const seen = (await ada.overview('desktop')).revision;
    await ben.change('desktop', { change: stop('pause', '1.1.0'), revision: seen });
    for (const change of [
      stop('yank', '1.1.0'),
      { kind: 'rollback', to: '1.0.0', channel: 'stable', reason: null },
      {
        kind: 'rollout',
        version: '1.0.0',
        channel: 'stable',
        plan: '5%',
        freezeWindows: [],
        reason: null,
      },
      { kind: 'notes', version: '1.1.0', locale: 'en', markdown: 'x', reason: null },
    ] satisfies Change[]) {
      const refused = {
        code: 'state_changed',
        message: expect.stringContaining('revision 4 by ben (pause 1.1.0)'),
      };
      await expect(ada.change('desktop', { change, revision: seen })).rejects.toMatchObject(
        refused,
      );
      await expect(ada.preview('desktop', { change, revision: seen })).rejects.toMatchObject(
        refused,
      );
    }
    // The new state is there at once, and not after the time for which an answer is kept.
    expect(await ada.overview('desktop')).toMatchObject({ revision: 4, revisionBy: 'ben' });
    await expect(
      ada.change('desktop', { change: stop('yank', '1.1.0'), revision: null }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('lets exactly one of two people win who confirm at the same moment', async () => {
    const { revision } = await ada.overview('desktop');
    const results = await Promise.allSettled(
      [ada, ben].map((each, index) =>
        each.change('desktop', { change: stop('yank', '1.1.0', `by ${index}`), revision }),
      ),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({ code: 'state_changed' });
    expect((await ada.history('desktop', undefined)).entries).toHaveLength(4);
  });

  it('previews a change without a write, with its consequences in words and its command', async () => {
    const { revision } = await ada.overview('desktop');
    scene.store.forgetCalls();
    const yank = await ada.preview('desktop', {
      change: stop('yank', '1.1.0', "it's bad"),
      revision,
    });
    expect(yank.command).toBe(`slipway yank 1.1.0 --reason 'it'\\''s bad'`);
    expect(yank.consequences[0]).toBe(
      '1.1.0 is withdrawn from stable permanently: a yank cannot be undone.',
    );
    expect(yank.differences).toEqual([
      { sign: '~', channel: 'stable', what: '1.1.0', detail: "status active → yanked (it's bad)" },
    ]);
    expect(yank.clients[0]).toMatchObject({ installed: '1.0.0', after: 'nothing newer' });
    const rollout = await ada.preview('desktop', {
      change: {
        kind: 'rollout',
        version: '1.1.0',
        channel: 'stable',
        plan: 'complete',
        freezeWindows: [],
        reason: null,
      },
      revision,
    });
    expect(rollout.command).toBe('slipway rollout 1.1.0 --complete --channel stable');
    expect(rollout.simulation).toMatchObject({ installations: 10_000, stranded: [] });
    expect(rollout.simulation?.versions[0]).toEqual({ version: '1.1.0', counts: [10_000] });
    const nothing = await ada.preview('desktop', { change: stop('resume', '1.1.0'), revision });
    expect(nothing).toMatchObject({ changes: false, differences: [] });
    expect(scene.store.counts.create).toBe(0);
    expect((await ben.overview('desktop')).revision).toBe(revision);
    await expect(
      ada.preview('desktop', {
        change: {
          kind: 'rollout',
          version: '1.1.0',
          channel: 'stable',
          plan: '130%',
          freezeWindows: [],
          reason: null,
        },
        revision,
      }),
    ).rejects.toMatchObject({ code: 'invalid_rollout' });
  });

  it('says that new visitors get no release: before the change, and afterwards', async () => {
    const { revision } = await ada.overview('desktop');
    const WARNING = /^No release is offered to everybody on stable: new visitors get no file/;
    const change = stop('pause', '1.0.0');
    const preview = await ada.preview('desktop', { change, revision });
    expect(preview.consequences[0]).toMatch(WARNING);
    expect(
      preview.clients.map(({ installed, before, after }) => [installed, before, after]),
    ).toEqual([
      ['older than 1.0.0', '1.1.0 for 25%, 1.0.0 for others', '1.1.0 for 25%, nothing for others'],
      ['new visitors', '1.0.0', 'nothing'],
    ]);
    await ada.change('desktop', { change, revision });
    const { attention } = await ada.overview('desktop');
    expect(attention).toContainEqual({
      kind: 'unserved',
      severity: 'warning',
      sentence: expect.stringMatching(WARNING),
      version: null,
      channel: 'stable',
    });
  });

  it('corrects notes, and rolls back', async () => {
    const { revision } = await ada.overview('desktop');
    const notes = {
      kind: 'notes',
      version: '1.1.0',
      locale: 'de',
      markdown: 'Schneller.',
      reason: null,
    } as const;
    await ada.change('desktop', { change: notes, revision });
    const release = await ada.release('desktop', '1.1.0');
    expect(release.notes.map(({ locale }) => locale).sort()).toEqual(['de', 'und']);
    const back = { kind: 'rollback', to: '1.0.0', channel: 'stable', reason: 'bad' } as const;
    const preview = await ada.preview('desktop', { change: back, revision: release.revision });
    expect(preview.consequences[0]).toBe(
      'This yanks 1 release permanently: 1.1.0. Then 1.0.0 is the newest release of stable again.',
    );
    await ada.change('desktop', { change: back, revision: release.revision });
    const { attention, releases } = await ada.overview('desktop');
    expect(releases.find(({ version }) => version === '1.1.0')?.cells[0]?.status).toBe('yanked');
    expect(attention.map(({ kind }) => kind)).toContain('yanked_newest');
  });

  it('shows who changed what, and the difference of each change', async () => {
    const { revision } = await ada.overview('desktop');
    await ada.change('desktop', { change: stop('yank', '1.1.0', 'bad'), revision });
    const { entries, next } = await ada.history('desktop', undefined);
    expect(entries[0]).toMatchObject({ revision: 4, by: 'ada', kind: 'yank', reason: 'bad' });
    expect([entries.length, next]).toEqual([4, null]);
    expect((await ada.history('desktop', 3)).entries.map((entry) => entry.revision)).toEqual([
      2, 1,
    ]);
    const changed = await ada.revision('desktop', 4);
    expect(changed.differences[0]?.detail).toBe('status active → yanked (bad)');
    // As it was then: 25 % of the clients, and not those that the plan had reached later.
    expect(changed.clients[0]?.before).toContain('25%');
    await expect(ada.revision('desktop', 40)).rejects.toMatchObject({ code: 'unknown_version' });
    await expect(ada.history('dekstop', undefined)).rejects.toMatchObject({
      code: 'unknown_application',
    });
  });

  it('explains a decision with its rules in order', async () => {
    const explained = await ada.explain({
      tier: null,
      audience: 'publisher',
      reference: undefined,
      query: query({ currentVersion: null }),
    });
    const { releases, ...decided } = explained.explanation;
    expect(decided).toMatchObject({ version: '1.0.0', reason: 'offer' });
    expect(releases.map(({ version, outcome }) => [version, outcome])).toEqual([
      ['1.1.0', 'held_by_rollout'],
      ['1.0.0', 'offer'],
    ]);
    expect(releases[0]?.rules.at(-1)).toMatchObject({ rule: 'rollout', result: 'failed' });
    expect(explained.remedies).toEqual([
      {
        version: '1.1.0',
        failedRules: 1,
        remedies: [
          {
            text: expect.stringMatching(/^The plan reaches every client on \S+ \S+Z$/),
            command: null,
          },
          {
            text: 'To offer 1.1.0 to every client at once, which ends the plan',
            command: 'slipway rollout 1.1.0 --channel stable --complete',
          },
        ],
      },
    ]);
  });

  it('says who paused the version that the client runs, when and why', async () => {
    await ada.change('desktop', {
      revision: 3,
      change: { kind: 'pause', version: '1.0.0', channel: 'stable', reason: 'crashes at start' },
    });
    const { explanation, remarks } = await ben.explain({
      tier: null,
      audience: 'publisher',
      reference: undefined,
      query: query(),
    });
    expect(explanation.installed).toMatchObject({ version: '1.0.0', state: 'paused' });
    expect(remarks[0]).toMatch(
      /^1\.0\.0, which the client runs, is paused on stable: "crashes at start" \(2026-11-21 [\d:]+Z, ada, revision 4\)\. Clients that have it keep it\.$/,
    );
  });

  it('shows what it last knew while the store fails, and since when', async () => {
    const known = await ada.overview('desktop');
    await ada.start();
    scene.store.goDown();
    scene.clock.advance(60_000);
    const stale = await ada.overview('desktop');
    expect(stale).toMatchObject({ revision: known.revision, readAt: known.readAt });
    expect(stale.problem).not.toBeNull();
    expect(stale.attention[0]).toMatchObject({ kind: 'store', severity: 'critical' });
    expect((await ada.start()).applications).toEqual(['desktop']);
    expect(
      (await ada.adoption({ application: 'desktop', days: 7, channel: undefined })).problems,
    ).toHaveLength(1);
    await expect(ben.overview('desktop')).rejects.toMatchObject({ kind: 'unavailable' });
    scene.store.comeUp();
    expect((await ada.overview('desktop')).problem).toBeNull();
    expect((await ben.overview('desktop')).problem).toBeNull();
  });

  it('shows what it last knew while the store is slow, and the new state later', async () => {
    await ada.overview('desktop');
    await scene.release('1.3.0');
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { get, head } = scene.store;
    scene.store.get = async (...asked) => gate.then(() => get(...asked));
    scene.store.head = async (...asked) => gate.then(() => head(...asked));
    expect(await ada.overview('desktop')).toMatchObject({
      revision: 3,
      problem: 'The object store has not answered for 3 seconds.',
    });
    goOn();
    await expect.poll(async () => (await ada.overview('desktop')).revision).toBe(4);
    expect((await ada.overview('desktop')).problem).toBeNull();
  });

  it('shows what clients of a channel get that inherits another one', async () => {
    await scene.release('2.0.0-beta.1', { channel: 'beta' });
    await changeChannel(
      { ...scene, actor: 'ada', ensureConforming: async () => {} },
      {
        application: 'desktop',
        channel: 'beta',
        reason: null,
        action: { kind: 'set', settings: { inherits: 'stable' } },
      },
    );
    const newestOf = async () =>
      Object.fromEntries(
        (await ada.overview('desktop')).channels.map(({ name, newest }) => [name, newest]),
      );
    scene.clock.advance(10_000);
    expect(await newestOf()).toEqual({ stable: '1.0.0', beta: '2.0.0-beta.1' });
    const release = await ada.release('desktop', '2.0.0-beta.1');
    expect(release.rollbackTargets).toEqual([{ channel: 'beta', versions: ['1.0.0'] }]);
    await ada.change('desktop', {
      change: stop('yank', '2.0.0-beta.1'),
      revision: release.revision,
    });
    expect(await newestOf()).toEqual({ stable: '1.0.0', beta: '1.0.0' });
    const yanked = async () =>
      (await ada.overview('desktop')).attention.filter(({ kind }) => kind === 'yanked_newest');
    expect(await yanked()).toHaveLength(1);
    // Clients of the yanked release go on to a newer one that the channel inherits.
    await scene.release('2.0.0');
    expect(await yanked()).toEqual([]);
  });

  it('says since when the store fails, also after a change that failed', async () => {
    const known = await ada.overview('desktop');
    await ada.release('desktop', '1.1.0');
    scene.store.goDown();
    const change = { change: stop('pause', '1.1.0'), revision: null };
    await expect(ada.change('desktop', change)).rejects.toMatchObject({ kind: 'unavailable' });
    const stale = await ada.overview('desktop');
    expect([stale.readAt, stale.problem === null]).toEqual([known.readAt, false]);
    const release = await ada.release('desktop', '1.1.0');
    expect([release.readAt, release.problem === null]).toEqual([known.readAt, false]);
  });

  it('stores nothing of notes that were refused', async () => {
    const { revision } = await ada.overview('desktop');
    await ben.change('desktop', { change: stop('pause', '1.0.0'), revision });
    scene.store.forgetCalls();
    const notes = {
      kind: 'notes',
      version: '1.1.0',
      locale: 'de',
      markdown: 'secret',
      reason: null,
    } as const;
    await expect(ada.change('desktop', { change: notes, revision })).rejects.toMatchObject({
      code: 'state_changed',
    });
    expect(scene.store.counts.create).toBe(0);
  });

  it('shares what it read between screens that ask at the same time', async () => {
    await ada.overview('desktop');
    scene.clock.advance(5_000);
    scene.store.forgetCalls();
    await Promise.all(Array.from({ length: 20 }, () => ada.overview('desktop')));
    // One reading of the catalog, with a listing and the newest hints.
    expect(scene.store.total()).toBeLessThan(7);
  });

  it('refuses every change when it only shows', async () => {
    const reader = await openScene({ isReadOnly: true });
    try {
      await reader.release('1.0.0');
      const shown = reader.consoleOf('eve');
      expect(await shown.start()).toMatchObject({ mayChange: false, actor: null });
      const request = { change: stop('pause', '1.0.0'), revision: null };
      await expect(shown.change('desktop', request)).rejects.toMatchObject({ code: 'read_only' });
      await expect(shown.preview('desktop', request)).rejects.toMatchObject({ code: 'read_only' });
      await expect(shown.doctor()).rejects.toMatchObject({ code: 'read_only' });
    } finally {
      await reader.close();
    }
  });
});
