import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import { targetsJson } from '../../../src/releases/offer/draft-rules.ts';
import { killedAtCommit } from '../../support/faulty-store.ts';
import { publish } from '../../support/release.ts';
import { ALL, createScene, expecting, MINUTE } from './draft-scene.ts';

describe('drafts', () => {
  let scene: Awaited<ReturnType<typeof createScene>>;
  beforeEach(async () => {
    scene = await createScene();
  });
  afterEach(() => scene.remove());

  describe('--expect', () => {
    it('holds a release back until the last target is there, and then offers all of it', async () => {
      const first = await scene.add('windows', ALL);
      expect(first).toMatchObject({ status: 'draft', changed: true, held: { channel: 'stable' } });
      expect(await scene.state()).toEqual({
        last: 'draft',
        offers: [],
        drafts: ['stable 1.5.0 1 -linux-x64,macos-arm64'],
      });
      await scene.add('macos', ALL);
      const { channels } = await scene.signed();
      expect(channels.stable?.drafts).toMatchObject([
        { since: '2026-11-21T09:01:00.000Z', opens: 'when_complete' },
      ]);
      const last = await scene.add('linux', ALL);
      expect(last).toMatchObject({ status: 'active', held: null, manifest: 3 });
      expect(await scene.state()).toEqual({
        last: 'publish',
        offers: ['stable 1.5.0 3'],
        drafts: [],
      });
      // It is released when it is offered, not when its draft began.
      expect(last.release.releasedAt).toBe('2026-11-21T09:03:00.000Z');
      expect((await scene.signed()).channels.stable).not.toHaveProperty('drafts');
    });

    it('changes nothing when a job runs again, before and after the release is offered', async () => {
      await scene.add('windows', ALL);
      expect(await scene.add('windows', ALL)).toMatchObject({ changed: false, status: 'draft' });
      await scene.add('macos linux', ALL);
      expect(await scene.add('windows', ALL)).toMatchObject({ changed: false, status: 'active' });
      expect((await scene.signed()).revision).toBe(2);
    });

    it('offers a release at once that is complete from the start', async () => {
      expect(await scene.add('windows macos linux', ALL)).toMatchObject({ status: 'active' });
      expect((await scene.signed()).revision).toBe(1);
    });

    it('counts a universal build for both architectures, and no emulation', async () => {
      await scene.add('universal', expecting('macos-arm64', 'macos-x64', 'windows-arm64'));
      await scene.add('windows');
      expect((await scene.state()).drafts).toEqual(['stable 1.5.0 2 -windows-arm64']);
    });

    it('is fixed by the first publish; another list is refused with both, none means that one', async () => {
      await scene.add('windows', ALL);
      const other = await scene.refusal(
        scene.add('macos', expecting('windows-x64', 'macos-arm64')),
      );
      expect(other).toMatch(
        /^release_differs: .* fixed the expected targets: linux-x64, macos-arm64, windows-x64\. This command expects others: macos-arm64, windows-x64\./,
      );
      // The order and repetitions do not matter.
      const same = ['linux-x64', 'macos-arm64', 'windows-x64', 'linux-x64'];
      await scene.add('macos', expecting(...same));
      expect((await scene.add('linux')).status).toBe('active');
    });

    it('may be a setting of the channel, which the command replaces', async () => {
      await scene.add('windows', { version: '1.4.0' });
      await scene.set('stable', (channel) => ({ ...channel, expect: targetsJson(ALL.expect) }));
      await scene.add('windows');
      expect((await scene.state()).drafts).toEqual(['stable 1.5.0 1 -linux-x64,macos-arm64']);
      await scene.add('linux macos');
      expect(
        (await scene.add('windows', { version: '1.6.0', ...expecting('windows-x64') })).status,
      ).toBe('active');
      expect((await scene.state()).drafts).toEqual([]);
    });

    it('has no effect on a release that is offered', async () => {
      await scene.add('windows');
      expect((await scene.add('macos', ALL)).status).toBe('active');
      expect(await scene.state()).toMatchObject({ offers: ['stable 1.5.0 2'], drafts: [] });
    });

    it('ends with --release-partial, and late builds are offered as they come', async () => {
      await scene.add('windows', ALL);
      expect(await scene.refusal(scene.open())).toMatch(
        /^release_incomplete: 1\.5\.0 has no build for these expected targets on stable: linux-x64, macos-arm64\./,
      );
      expect((await scene.open({ releasePartial: true })).status).toBe('active');
      expect(await scene.add('macos', ALL)).toMatchObject({ status: 'active', changed: true });
      await scene.add('windows', { version: '1.6.0', ...ALL, releasePartial: true });
      expect((await scene.state()).offers).toEqual(['stable 1.5.0 2', 'stable 1.6.0 1']);
    });
  });

  describe('--draft', () => {
    it('offers nothing until a command opens it, and then changes nothing again', async () => {
      await scene.add('windows macos linux', { ...ALL, mode: 'draft' });
      await scene.add('windows:2', ALL);
      expect((await scene.state()).drafts).toEqual(['stable 1.5.0 3 -']);
      scene.parts.clock.advance(MINUTE);
      const opened = await scene.open(ALL);
      expect(opened).toMatchObject({ changed: true, status: 'active' });
      expect(opened.release.releasedAt).toBe('2026-11-21T09:03:00.000Z');
      expect(opened.release.artifacts.find(({ platform }) => platform === 'windows')?.size).toBe(9);
      expect(await scene.open()).toMatchObject({ changed: false, status: 'active' });
      expect(await scene.state()).toEqual({
        last: 'publish',
        offers: ['stable 1.5.0 3'],
        drafts: [],
      });
    });

    it('replaces the bytes of a draft until the first offer, and never after it', async () => {
      await scene.add('windows', { mode: 'draft' });
      await scene.add('windows:2', { mode: 'draft' });
      await scene.open();
      expect(await scene.refusal(scene.add('windows:3'))).toMatch(
        /^release_differs: .* never replaced/,
      );
    });

    it('refuses to add files to a release that is offered', async () => {
      await scene.add('windows');
      expect(await scene.refusal(scene.add('macos', { mode: 'draft' }))).toMatch(
        /^status_forbids: stable offers 1\.5\.0 already, so clients would get these files at once/,
      );
      expect(await scene.add('windows', { mode: 'draft' })).toMatchObject({ changed: false });
      expect((await showRelease(scene.parts, 'desktop', '1.5.0')).manifest).toBe(1);
    });

    it('of an unknown version cannot be opened, and the message says what to do', async () => {
      await scene.add('windows', { version: '1.4.0' });
      expect(await scene.refusal(scene.open())).toMatch(
        /^unknown_version: stable has no draft of 1\.5\.0\. To publish files, name them/,
      );
      await scene.add('windows', { mode: 'draft', channel: 'beta' });
      expect(await scene.refusal(scene.open())).toMatch(
        /It is a draft on beta: .* --channel beta\.$/,
      );
      expect(await scene.refusal(scene.open({ application: 'dektop' }))).toMatch(
        /^unknown_application/,
      );
    });

    it('opens what is listed, not what an interrupted publisher left behind', async () => {
      await scene.add('windows', { mode: 'draft' });
      const store = killedAtCommit(scene.parts.store);
      const artifacts = [await scene.build('macos')];
      const killed = publish(
        { ...scene.parts, store },
        { version: '1.5.0', artifacts, mode: 'draft' },
      );
      await expect(killed).rejects.toThrow('killed');
      await scene.open();
      expect(await scene.state()).toMatchObject({ offers: ['stable 1.5.0 1'] });
      // The next manifest still has everything.
      await scene.add('linux');
      expect((await scene.state()).offers).toEqual(['stable 1.5.0 2']);
    });
  });

  describe('the rollout of a draft', () => {
    const rollout = (text: string) => ({ rollout: { text, freezeWindows: [] } });
    const stored = async () => (await scene.signed()).channels.stable?.offers[0]?.rollout;

    it('starts when the release is offered', async () => {
      await scene.add('windows macos', { ...ALL, ...rollout('5%@0h,100%@1h') });
      scene.parts.clock.advance(600 * MINUTE);
      await scene.add('linux', ALL);
      expect(await stored()).toMatchObject({
        plan: '5%@0h,100%@1h',
        clock: { at: '2026-11-21T19:02:00.000Z', elapsed_ms: 0 },
      });
    });

    it('is refused while nothing is written when it is wrong, and may be replaced later', async () => {
      const wrong = await scene.refusal(
        scene.add('windows', { ...ALL, ...rollout('50%@0h,5%@1h') }),
      );
      expect(wrong).toMatch(/^invalid_rollout: The plan lowers the share/);
      expect(await readRevision(scene.parts, 'desktop')).toBeUndefined();
      await scene.add('windows', { mode: 'draft', ...rollout('5%') });
      // A build tool's own share does not replace what a publisher asked for.
      await scene.add('macos', { rollout: { text: '70%', freezeWindows: [], isFromBuild: true } });
      expect((await scene.signed()).channels.stable?.drafts?.[0]?.rollout?.text).toBe('5%');
      await scene.add('linux', rollout('10%'));
      await scene.open(rollout('20%'));
      expect(await stored()).toMatchObject({ plan: '20%' });
    });
  });
});
