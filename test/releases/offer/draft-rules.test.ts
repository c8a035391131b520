import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/catalog/reading/read.ts';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import { targetsJson } from '../../../src/releases/offer/draft-rules.ts';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { ALL, createScene } from '../publish/draft-scene.ts';

describe('drafts and the rules of channels', () => {
  let scene: Awaited<ReturnType<typeof createScene>>;
  beforeEach(async () => {
    scene = await createScene();
  });
  afterEach(() => scene.remove());

  describe('retire', () => {
    it('discards a draft: its version is free, and its files are in no later release', async () => {
      await scene.add('windows', { version: '1.4.0' });
      await scene.add('windows macos', { mode: 'draft', requires: '>=1.4.0' });
      const retired = await scene.change('retire');
      expect(retired).toMatchObject({ changed: true, discarded: ['stable'], listed: [] });
      expect(await scene.state()).toMatchObject({ last: 'retire', drafts: [] });
      expect(await scene.refusal(scene.change('retire'))).toMatch(/^unknown_version/);
      const again = await scene.add('linux');
      expect(again.release).toMatchObject({ requires: null, artifacts: [{ platform: 'linux' }] });
      expect((await scene.state()).offers).toEqual(['stable 1.4.0 1', 'stable 1.5.0 1']);
    });

    it('wins against a publisher that made its manifest before', async () => {
      await scene.add('windows macos', { mode: 'draft' });
      const { create } = scene.parts.store;
      let isFirst = true;
      const store = {
        ...scene.parts.store,
        create: async (...call: Parameters<typeof create>) => {
          if (call[0].includes('/catalog/') && isFirst) {
            isFirst = false;
            await scene.change('retire');
          }
          return create(...call);
        },
      };
      const artifacts = [await scene.build('linux')];
      await publish({ ...scene.parts, store }, { version: '1.5.0', artifacts, mode: 'draft' });
      expect((await scene.state()).drafts).toEqual(['stable 1.5.0 1 -']);
      await scene.open();
      expect((await scene.state()).offers).toEqual(['stable 1.5.0 1']);
    });

    it('takes a version from all channels, or the draft of one', async () => {
      await scene.add('windows', { channel: 'beta' });
      await scene.add('macos', { mode: 'draft' });
      await scene.change('retire', 'stable');
      expect(await scene.state()).toMatchObject({ offers: ['beta 1.5.0 1'], drafts: [] });
      await scene.add('macos', { mode: 'draft' });
      expect(await scene.change('retire')).toMatchObject({
        discarded: ['stable'],
        channels: ['beta'],
      });
      expect(await scene.state()).toMatchObject({ offers: [], drafts: [] });
      expect(await scene.refusal(scene.add('macos'))).toMatch(
        /^status_forbids: 1\.5\.0 was retired from beta/,
      );
    });
  });

  it('is named by every command that needs an offer, with the next commands', async () => {
    await scene.add('windows', { channel: 'beta', mode: 'draft' });
    const sentence =
      'status_forbids: 1.5.0 is a draft on beta: no client sees it yet. To offer it, run slipway publish 1.5.0 --channel beta. To discard it, run slipway retire 1.5.0 --channel beta.';
    for (const verb of ['pause', 'resume', 'yank'] as const) {
      expect(await scene.refusal(scene.change(verb))).toBe(sentence);
      expect(await scene.refusal(scene.change(verb, 'beta'))).toBe(sentence);
    }
    const request = { application: 'desktop', version: '1.5.0', channel: undefined, reason: null };
    expect(
      await scene.refusal(changeRollout(scene.parts, { ...request, action: { kind: 'complete' } })),
    ).toBe(sentence);
    expect(await scene.refusal(scene.promote('stable'))).toBe(sentence);
    expect(await showRelease(scene.parts, 'desktop', '1.5.0')).toMatchObject({
      listed: [],
      drafts: [{ channel: 'beta', missing: [] }],
      release: { artifacts: [{ platform: 'windows' }] },
    });
  });

  it('lends its files to no other channel', async () => {
    await scene.add('windows', { channel: 'beta' });
    await scene.add('macos', { mode: 'draft' });
    expect(await scene.refusal(scene.add('linux', { channel: 'beta' }))).toMatch(
      /^status_forbids: 1\.5\.0 is a draft on stable, and clients of beta would get its files\./,
    );
    // A job that runs again changes nothing.
    expect(await scene.add('windows', { channel: 'beta' })).toMatchObject({ changed: false });
    expect(await scene.refusal(scene.add('windows', { channel: 'alpha' }))).toMatch(
      /is a draft on stable/,
    );
    // What beta offers may be promoted, but not over the draft.
    await scene.promote('alpha');
    expect(await scene.refusal(scene.promote('stable'))).toMatch(
      /^status_forbids: 1\.5\.0 is a draft on stable/,
    );
    expect(await scene.state()).toMatchObject({ offers: ['alpha 1.5.0 1', 'beta 1.5.0 1'] });
  });

  it('obeys the rules of a channel when it is made and when it is opened', async () => {
    const beta = { version: '2.0.0-beta.1', allowPrerelease: false, mode: 'draft' } as const;
    expect(await scene.refusal(scene.add('windows', beta))).toMatch(/^prerelease_on_stable/);
    expect(await scene.refusal(scene.add('windows', { create: false, mode: 'draft' }))).toMatch(
      /^needs_create/,
    );
    await scene.add('windows', { ...beta, allowPrerelease: true });
    expect(await scene.refusal(scene.open({ version: beta.version }))).toMatch(
      /^prerelease_on_stable/,
    );
    await scene.add('windows', { version: '1.5.0+a', mode: 'draft' });
    expect(await scene.refusal(scene.add('windows', { version: '1.5.0+b' }))).toMatch(
      /^version_ambiguous/,
    );

    await scene.add('windows', { version: '1.0.0' });
    const stranding = { version: '3.0.0', requires: '>=2.0.0', mandatoryFor: '<2.0.0' };
    expect(await scene.refusal(scene.add('windows', { ...stranding, mode: 'draft' }))).toMatch(
      /^clients_stranded/,
    );
    await scene.add('windows', { ...stranding, mode: 'draft', allowStranded: true });
    expect(await scene.refusal(scene.open({ version: '3.0.0' }))).toMatch(/^clients_stranded/);
    const before = (await showRelease(scene.parts, 'desktop', '3.0.0')).manifest;
    expect((await scene.open({ version: '3.0.0', allowStranded: true })).manifest).toBe(before + 1);
  });

  it('cannot be opened when another channel yanked the version since', async () => {
    await scene.add('windows', { channel: 'beta' });
    await scene.add('macos', { mode: 'draft' });
    await scene.change('yank', 'beta');
    expect(await scene.refusal(scene.open())).toMatch(
      /^status_forbids: 1\.5\.0 was yanked from beta/,
    );
  });

  it('refuses a left-over file of a draft of another version', async () => {
    const fields = { platform: 'macos', arch: 'arm64', format: 'tar.gz' } as const;
    const stale = await makeArtifact(scene.directory.path, { ...fields, hasUnversionedName: true });
    await publish(scene.parts, { version: '1.5.0', artifacts: [stale], mode: 'draft' });
    expect(
      await scene.refusal(publish(scene.parts, { version: '1.6.0', artifacts: [stale] })),
    ).toMatch(/^invalid_artifact: .* is the file of 1\.5\.0, byte for byte/);
  });

  it('creates a channel that clients see only after its first offer', async () => {
    await scene.add('windows', { channel: 'nightly', mode: 'draft' });
    expect((await scene.signed()).channels.nightly).toMatchObject({
      hidden: true,
      inherits: 'stable',
    });
    await scene.open({ channel: 'nightly' });
    expect((await scene.signed()).channels.nightly).not.toHaveProperty('hidden');
  });

  it('is promoted only with the builds that the other channel expects', async () => {
    await scene.add('windows', { channel: 'beta' });
    await scene.set('stable', (channel) => ({ ...channel, expect: targetsJson(ALL.expect) }));
    expect(await scene.refusal(scene.promote('stable'))).toMatch(
      /^release_incomplete: 1\.5\.0 has no build for these expected targets on stable: linux-x64, macos-arm64\..*--release-partial/,
    );
    await scene.promote('stable', { releasePartial: true });
    expect((await scene.state()).offers).toContain('stable 1.5.0 1');
  });

  it('is checked by verify, and refused when its manifest is corrupt', async () => {
    await scene.add('windows', { mode: 'draft' });
    const verify = async () =>
      (
        await verifyCatalog(
          { ...scene.parts, onProgress: () => undefined },
          { application: 'desktop', deep: true },
        )
      ).applications[0];
    expect(await verify()).toMatchObject({ manifestsChecked: 1, filesChecked: 1, problems: [] });
    await scene.parts.store.delete('apps/desktop/releases/1.5.0/manifest/1.json');
    expect((await verify())?.problems).toEqual([
      expect.stringContaining('manifest/1.json is missing'),
    ]);
    expect(await scene.refusal(scene.open())).toMatch(/^document_corrupt/);
    expect(await scene.state()).toMatchObject({ offers: [], drafts: ['stable 1.5.0 1 -'] });
  });

  it('with a corrupt manifest is made again only when the publisher allows it', async () => {
    await scene.add('windows', { mode: 'draft' });
    const key = 'apps/desktop/releases/1.5.0/manifest/1.json';
    await scene.parts.store.delete(key);
    await scene.parts.store.create(key, Buffer.from('{'));
    expect(await scene.refusal(scene.add('macos', { mode: 'draft' }))).toMatch(
      /^document_corrupt: .*--skip-corrupt 1\b/s,
    );
    const allowed = { ...scene.parts, skipCorrupt: [1] };
    const artifacts = [await scene.build('macos')];
    await publish(allowed, { version: '1.5.0', artifacts, mode: 'draft' });
    expect((await scene.state()).drafts).toEqual(['stable 1.5.0 1 -']);
    await scene.open();
    expect((await scene.state()).offers).toEqual(['stable 1.5.0 1']);
  });

  it('names its manifest, which holds every file', async () => {
    await scene.add('windows', { mode: 'draft' });
    await scene.add('macos', { mode: 'draft' });
    const draft = (await scene.signed()).channels.stable?.drafts?.[0];
    if (draft === undefined) throw new Error('There is no draft.');
    const { release } = await readManifest(scene.parts, 'desktop', '1.5.0', draft.manifest);
    expect(release.artifacts.map(({ filename }) => filename)).toEqual(['App.zip', 'App.exe']);
  });
});
