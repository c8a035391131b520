import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { artifactsPrefix } from '../../../src/catalog/documents/keys.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { collectGarbage } from '../../../src/releases/verify/collect-garbage.ts';
import { publish } from '../../support/release.ts';
import { createScene, MINUTE } from './draft-scene.ts';

const DAY_MS = 24 * 60 * MINUTE;

/** Release 1.5.0 after other channels offered it, retired it, discarded a draft of it, or were removed. */
describe('a version that other channels had', () => {
  let scene: Awaited<ReturnType<typeof createScene>>;
  beforeEach(async () => {
    scene = await createScene();
  });
  afterEach(() => scene.remove());

  const remove = (channel: string) =>
    changeChannel(
      { ...scene.parts, ensureConforming: async () => {} },
      {
        application: 'desktop',
        channel,
        reason: null,
        action: { kind: 'remove', force: true },
      },
    );
  /** Another channel drafts a build and discards it. */
  const draftAndDiscard = async (name: string) => {
    await scene.add(name, { channel: 'gamma', mode: 'draft' });
    await scene.change('retire', 'gamma');
  };
  const revision = async () => (await scene.signed()).revision;

  it('keeps the files that a removed channel offered', async () => {
    await scene.add('windows');
    await scene.add('linux', { channel: 'alpha' });
    await remove('alpha');
    const before = await revision();
    expect(await scene.refusal(scene.add('linux:2'))).toMatch(
      /^release_differs: 1\.5\.0 was published with another linux-x64-appimage: .* never replaced/,
    );
    expect(await revision()).toBe(before);
    expect(await scene.add('linux')).toMatchObject({ changed: true });
    expect((await scene.state()).offers).toEqual(['stable 1.5.0 2']);
  });

  it('keeps those files too when the channel is removed while another publisher uploads', async () => {
    await scene.add('windows');
    const artifacts = [await scene.build('linux', 'linux:2')];
    const { upload } = scene.parts.store;
    let isFirst = true;
    const store = {
      ...scene.parts.store,
      upload: async (...call: Parameters<typeof upload>) => {
        if (isFirst) {
          isFirst = false;
          await scene.add('linux', { channel: 'alpha' });
          await remove('alpha');
        }
        return upload(...call);
      },
    };
    const late = publish({ ...scene.parts, store }, { version: '1.5.0', artifacts });
    expect(await scene.refusal(late)).toMatch(/^release_differs: .* never replaced/);
    expect([isFirst, (await scene.state()).offers]).toEqual([false, ['stable 1.5.0 1']]);
  });

  it('takes no more files when a channel retired it and a draft of it was discarded', async () => {
    await scene.add('windows');
    await scene.add('linux', { channel: 'alpha' });
    await scene.change('retire', 'alpha');
    await draftAndDiscard('macos');
    const before = await revision();
    expect(await scene.refusal(scene.add('linux:2'))).toMatch(
      /^release_differs: .* never replaced/,
    );
    expect(await revision()).toBe(before);
    // The job that published the offered files may run again.
    expect((await scene.add('windows')).changed).toBe(false);
    expect((await scene.state()).offers).toEqual(['stable 1.5.0 1']);
  });

  it('takes no more files when its channel was removed and a draft of it was discarded', async () => {
    await scene.add('windows');
    await scene.add('linux', { channel: 'alpha' });
    await draftAndDiscard('macos');
    await remove('alpha');
    expect(await scene.refusal(scene.add('linux:2'))).toMatch(
      /^release_differs: .* never replaced/,
    );
    expect((await scene.state()).offers).toEqual(['stable 1.5.0 1']);
  });

  it.each(['retire', 'remove'])(
    'takes no other files after its notes were corrected: %s',
    async (how) => {
      await scene.add('windows', { notes: { en: 'A' } });
      await scene.add('linux', { channel: 'alpha' });
      if (how === 'retire') await scene.change('retire', 'alpha');
      else await remove('alpha');
      await correctNotes(scene.parts, {
        application: 'desktop',
        version: '1.5.0',
        reason: null,
        set: { en: 'B' },
        remove: [],
      });
      expect(await scene.refusal(scene.add('linux:2'))).toMatch(
        /^release_differs: .* never replaced/,
      );
      expect((await scene.add('macos')).changed).toBe(true);
    },
  );

  it.each(['retire', 'remove'])(
    'takes no other files when another publisher was first: %s',
    async (how) => {
      await scene.add('windows');
      const artifacts = [await scene.build('linux', 'linux:2')];
      const { create } = scene.parts.store;
      let isFirst = true;
      const store: typeof scene.parts.store = {
        ...scene.parts.store,
        create: async (...call) => {
          if (isFirst && call[0].includes('/catalog/')) {
            isFirst = false;
            const mine = [await scene.build('linux')];
            await publish(scene.parts, { version: '1.5.0', artifacts: mine, channel: 'alpha' });
            if (how === 'retire') await scene.change('retire', 'alpha');
            else await remove('alpha');
          }
          return create(...call);
        },
      };
      const late = publish({ ...scene.parts, store }, { version: '1.5.0', artifacts });
      expect(await scene.refusal(late)).toMatch(/^release_differs: .* never replaced/);
    },
  );

  it('keeps the files of a removed channel from gc although a draft was discarded', async () => {
    await scene.add('windows', { version: '1.4.0' });
    await scene.add('linux', { channel: 'alpha' });
    await draftAndDiscard('macos');
    scene.parts.clock.advance(8 * DAY_MS);
    await remove('alpha');
    const { results } = await collectGarbage(scene.parts, { application: 'desktop' });
    const stored: string[] = [];
    for await (const { key } of scene.parts.store.list(artifactsPrefix('desktop'))) {
      stored.push(key);
    }
    expect(results).toMatchObject([{ refusal: undefined }]);
    expect(stored).toContainEqual(expect.stringContaining('App.AppImage'));
  });

  it('finds nothing to do when an opened draft is opened again after another platform was added elsewhere', async () => {
    await scene.add('windows', { mode: 'draft' });
    const { manifest } = await scene.open();
    await scene.add('macos', { channel: 'beta' });
    expect(await scene.open()).toMatchObject({ changed: false, status: 'active', manifest });
    expect((await scene.state()).offers).toEqual(['beta 1.5.0 2', 'stable 1.5.0 1']);
  });

  it('finds nothing to do when an opened draft is opened again after another channel discarded one', async () => {
    await scene.add('windows', { mode: 'draft' });
    const { manifest } = await scene.open();
    await draftAndDiscard('macos');
    const before = await revision();
    expect(await scene.open()).toMatchObject({ changed: false, status: 'active', manifest });
    expect(await revision()).toBe(before);
  });

  it('is drafted again by a job that runs again after its notes were corrected twice elsewhere', async () => {
    await scene.add('windows', { channel: 'beta', notes: { en: 'A' } });
    await scene.add('macos', { mode: 'draft' });
    for (const en of ['B', 'A']) {
      await correctNotes(scene.parts, {
        application: 'desktop',
        version: '1.5.0',
        reason: null,
        set: { en },
        remove: [],
      });
    }
    const again = await scene.add('macos', { mode: 'draft' });
    expect(again).toMatchObject({ status: 'draft', release: { notes: { en: 'A' } } });
    expect(await scene.add('macos', { mode: 'draft' })).toMatchObject({
      changed: false,
      manifest: again.manifest,
    });
    expect(await scene.open()).toMatchObject({ changed: true, release: { notes: { en: 'A' } } });
    expect((await scene.state()).offers).toEqual(['beta 1.5.0 1', 'stable 1.5.0 2']);
  });
});
