import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import type { AppError } from '../../../src/core/errors.ts';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

describe('publishing', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let parts: ReturnType<typeof createParts>;

  const createParts = () => {
    const clock = createFixedClock();
    const store = createMemoryStore({ clock });
    return { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
  };

  beforeEach(async () => {
    directory = await makeTemporaryDirectory();
    parts = createParts();
  });

  afterEach(() => directory.remove());

  const windows = (content: string) => makeArtifact(`${directory.path}/${content}`, { content });
  const linux = (content: string) =>
    makeArtifact(`${directory.path}/${content}`, {
      content,
      filename: 'App.AppImage',
      platform: 'linux',
      format: 'appimage',
    });
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (reason: AppError) => reason,
    );
    return error?.code ?? 'nothing was refused';
  };
  const offers = async () => {
    const channels = (await readRevision(parts, 'desktop'))?.signed.channels ?? {};
    return Object.entries(channels).flatMap(([name, channel]) =>
      channel.offers.map(
        (offer) => `${name} ${offer.version} ${offer.status} #${offer.manifest.number}`,
      ),
    );
  };
  const change = (verb: StatusVerb, version: string, channel?: string) =>
    changeStatus(parts, verb, { application: 'desktop', version, channel, reason: null });

  it('refuses a left-over file of another version, unless its name states the version', async () => {
    const archive = (build: string, fields = {}) =>
      makeArtifact(`${directory.path}/${build}`, {
        platform: 'macos',
        arch: 'arm64',
        format: 'tar.gz',
        filename: 'App_aarch64.app.tar.gz',
        content: `archive of ${build}`,
        hasUnversionedName: true,
        ...fields,
      });
    const old = await archive('1.0.0');
    await publish(parts, { version: '1.0.0', artifacts: [old] });
    // The same again changes nothing.
    await publish(parts, { version: '1.0.0', artifacts: [old] });
    const stale = publish(parts, { version: '1.1.0', artifacts: [old] });
    await expect(stale).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(
        /is the file of 1\.0\.0, byte for byte, and not one of 1\.1\.0/,
      ),
    });
    expect(await offers()).toEqual(['stable 1.0.0 active #1']);
    await publish(parts, { version: '1.1.0', artifacts: [await archive('1.1.0')] });
    const named = { hasUnversionedName: false, filename: 'App_1.2.0_aarch64.app.tar.gz' };
    await publish(parts, { version: '1.2.0', artifacts: [await archive('1.0.0', named)] });
    expect(await offers()).toHaveLength(3);
  });

  describe('native builds', () => {
    const built = (arch: 'x64' | 'arm64', version: string) =>
      makeArtifact(`${directory.path}/${version}`, {
        arch,
        filename: `App-${version}-${arch}.exe`,
        content: `${version} ${arch}`,
      });
    const endsNative = [{ platform: 'windows', arch: 'arm64' }] as const;
    const left = async (work: ReturnType<typeof publish>) => (await work).leftBehind;

    beforeEach(async () => {
      const artifacts = [await built('x64', '1.0.0'), await built('arm64', '1.0.0')];
      expect(await left(publish(parts, { version: '1.0.0', artifacts }))).toEqual([]);
    });

    it('that a release lacks are reported by target, until it has them', async () => {
      const publish11 = async (arch: 'x64' | 'arm64') =>
        left(publish(parts, { version: '1.1.0', artifacts: [await built(arch, '1.1.0')] }));
      expect(await publish11('x64')).toEqual([{ platform: 'windows', arch: 'arm64' }]);
      expect(await publish11('x64')).toEqual([{ platform: 'windows', arch: 'arm64' }]);
      expect(await publish11('arm64')).toEqual([]);
    });

    it('end with a release, also with a later publish, and in all its later manifests', async () => {
      const artifacts = [await built('x64', '1.1.0')];
      await publish(parts, { version: '1.1.0', artifacts });
      const ended = await publish(parts, { version: '1.1.0', artifacts, endsNative });
      expect(ended).toMatchObject({ changed: true, leftBehind: [] });
      const added = [await linux('1.1.0')];
      expect(await publish(parts, { version: '1.1.0', artifacts: added })).toMatchObject({
        changed: true,
        leftBehind: [],
      });
      const revision = await readRevision(parts, 'desktop');
      const offer = revision?.signed.channels.stable?.offers.find(
        ({ version }) => version === '1.1.0',
      );
      expect(offer?.ends_native).toEqual([{ os: 'windows', arch: 'arm64' }]);
    });

    it('cannot be ended and published in one command; a later native build revokes the end', async () => {
      const artifacts = [await built('x64', '1.1.0'), await built('arm64', '1.1.0')];
      const both = publish(parts, { version: '1.1.0', artifacts, endsNative });
      await expect(both).rejects.toThrow(/has a native build for windows-arm64: App-1\.1\.0-arm64/);
      await publish(parts, { version: '1.1.0', artifacts: artifacts.slice(0, 1), endsNative });
      await publish(parts, { version: '1.1.0', artifacts: artifacts.slice(1) });
      const revision = await readRevision(parts, 'desktop');
      const [, offer] = revision?.signed.channels.stable?.offers ?? [];
      expect(offer).toMatchObject({ version: '1.1.0' });
      expect(offer?.ends_native).toBeUndefined();
    });

    it('stay ended in newer releases after the release that ended them is withdrawn', async () => {
      await publish(parts, {
        version: '1.1.0',
        artifacts: [await built('x64', '1.1.0')],
        endsNative,
      });
      const next = { version: '1.2.0', artifacts: [await built('x64', '1.2.0')] };
      expect(await left(publish(parts, next))).toEqual([]);
      await change('retire', '1.1.0');
      const revision = await readRevision(parts, 'desktop');
      const ends = revision?.signed.channels.stable?.offers.map((each) => each.ends_native);
      expect(ends).toEqual([undefined, [{ os: 'windows', arch: 'arm64' }]]);
      expect(await left(publish(parts, next))).toEqual([]);
    });

    it('of the stable channel count on a pre-release channel', async () => {
      const artifacts = [await built('x64', '1.1.0-beta.1')];
      const beta = { version: '1.1.0-beta.1', artifacts, channel: 'beta' };
      expect(await left(publish(parts, beta))).toEqual([{ platform: 'windows', arch: 'arm64' }]);
    });
  });

  it('needs --create for a new application or channel, and names the existing ones', async () => {
    const request = { version: '1.0.0', artifacts: [await windows('a')] };
    expect(await codeOf(publish(parts, { ...request, create: false }))).toBe('needs_create');
    await publish(parts, request);
    const beta = { ...request, version: '1.1.0-beta.1', channel: 'beta', create: false };
    await expect(publish(parts, beta)).rejects.toThrow(/Channels: stable/);
  });

  it('keeps pre-releases off stable, and equal versions apart', async () => {
    const artifacts = [await windows('a')];
    const request = { version: '1.0.0-rc.1', artifacts, allowPrerelease: false };
    expect(await codeOf(publish(parts, request))).toBe('prerelease_on_stable');
    await publish(parts, { version: '1.0.0+a', artifacts });
    expect(await codeOf(publish(parts, { version: '1.0.0+b', artifacts }))).toBe(
      'version_ambiguous',
    );
    expect(await codeOf(publish(parts, { version: 'v1.0.0', artifacts }))).toBe('invalid_version');
  });

  it.each(['>5 <4', '>=2.0.0', 'nonsense', ''])(
    'refuses a range that contains no client: %j',
    async (requires) => {
      const request = { version: '1.5.0', artifacts: [await windows('a')], requires };
      expect(await codeOf(publish(parts, request))).toBe('invalid_range');
      const mandatory = {
        version: '1.5.0',
        artifacts: [await windows('a')],
        mandatoryFor: requires,
      };
      expect(await codeOf(publish(parts, mandatory))).toBe('invalid_range');
      expect(await readRevision(parts, 'desktop')).toBeUndefined();
    },
  );

  it('adds platforms to one release, and changes nothing for the same bytes', async () => {
    const first = await publish(parts, { version: '1.0.0', artifacts: [await windows('a')] });
    const second = await publish(parts, { version: '1.0.0', artifacts: [await linux('b')] });
    expect(second).toMatchObject({ revision: 2, manifest: 2, changed: true });
    const again = await publish(parts, { version: '1.0.0', artifacts: [await windows('a')] });
    expect(again).toMatchObject({ revision: 2, changed: false });
    const { release } = await showRelease(parts, 'desktop', '1.0.0');
    expect(release.artifacts.map(({ filename }) => filename)).toEqual([
      'App.AppImage',
      'App-Setup.exe',
    ]);
    expect(first.changed).toBe(true);
  });

  it('keeps the notes that another publisher published during the uploads', async () => {
    const { store } = parts;
    let meanwhile: Promise<unknown> | undefined;
    const upload: typeof store.upload = async (key, source, options) => {
      // Another machine publishes all of its own while this upload goes on.
      meanwhile ??= windows('a').then((artifact) =>
        publish(parts, { version: '1.0.0', artifacts: [artifact], notes: { und: 'First.' } }),
      );
      await meanwhile;
      return store.upload(key, source, options);
    };
    const slow = { ...parts, store: { ...store, upload } };
    const notes = { de: 'Erste.' };
    await publish(slow, { version: '1.0.0', artifacts: [await linux('b')], notes });
    const { release } = await showRelease(parts, 'desktop', '1.0.0');
    expect(release.notes).toEqual({ und: 'First.', de: 'Erste.' });
    expect(release.artifacts).toHaveLength(2);
  });

  it('never replaces the bytes, names and ranges of an offered release', async () => {
    const base = { version: '1.0.0', requires: '<1.0.0', notes: { und: 'First.' } };
    await publish(parts, { ...base, artifacts: [await windows('a')] });
    const refused = async (fields: object) =>
      codeOf(publish(parts, { version: '1.0.0', artifacts: [await windows('a')], ...fields }));
    expect(await refused({ artifacts: [await windows('other')] })).toBe('release_differs');
    expect(await refused({ requires: '<0.9.0' })).toBe('release_differs');
    expect(await refused({ mandatoryFor: '<0.9.0' })).toBe('release_differs');
    expect(await refused({ notes: { und: 'Second.' } })).toBe('release_differs');
    expect(await refused({ requires: '<1.0.0', notes: { de: 'Erste.' } })).toBe(
      'nothing was refused',
    );
    expect((await showRelease(parts, 'desktop', '1.0.0')).release.notes).toEqual({
      und: 'First.',
      de: 'Erste.',
    });
    await change('retire', '1.0.0');
    // What was yanked before it was retired must not come back by another channel.
    expect(await refused({ channel: 'beta' })).toBe('status_forbids');
  });

  it('repairs a corrupt file when it is published again', async () => {
    const request = { version: '1.0.0', artifacts: [await windows('a')] };
    await publish(parts, request);
    const before = (await showRelease(parts, 'desktop', '1.0.0')).release.artifacts[0];
    const key = `apps/desktop/${before?.object}`;
    await parts.store.delete(key);
    await parts.store.create(key, Buffer.from('shorter, or longer'));
    expect(await publish(parts, request)).toMatchObject({ changed: true, manifest: 2 });
    const after = (await showRelease(parts, 'desktop', '1.0.0')).release.artifacts[0];
    expect(after?.object).not.toBe(before?.object);
    const healed = await parts.store.get(`apps/desktop/${after?.object}`);
    expect(Buffer.from(healed?.body ?? []).toString()).toBe('a');
    expect(await publish(parts, request)).toMatchObject({ changed: false });
  });

  it('refuses two artifacts of one name', async () => {
    await publish(parts, { version: '1.0.0', artifacts: [await windows('a')] });
    const arm = { ...(await windows('b')), arch: 'arm64' as const };
    expect(await codeOf(publish(parts, { version: '1.0.0', artifacts: [arm] }))).toBe(
      'release_differs',
    );
  });

  it('promotes the same manifest, and a second promotion adds later platforms', async () => {
    await publish(parts, { version: '1.0.0', channel: 'beta', artifacts: [await windows('a')] });
    const promote = (to = 'stable') =>
      promoteRelease(parts, {
        application: 'desktop',
        version: '1.0.0',
        to,
        create: true,
        allowPrerelease: false,
      });
    expect(await promote()).toMatchObject({ changed: true, channel: 'stable' });
    expect(await promote()).toMatchObject({ changed: false });
    await publish(parts, { version: '1.0.0', channel: 'beta', artifacts: [await linux('b')] });
    expect(await offers()).toEqual(['beta 1.0.0 active #2', 'stable 1.0.0 active #1']);
    expect(await promote()).toMatchObject({ changed: true });
    await change('pause', '1.0.0', 'beta');
    expect(await codeOf(promote('other'))).toBe('status_forbids');
    await change('yank', '1.0.0', 'beta');
    expect(await codeOf(promote('other'))).toBe('status_forbids');
  });

  it('keeps a paused release paused when a platform joins it', async () => {
    await publish(parts, { version: '1.0.0', artifacts: [await windows('a')] });
    await change('pause', '1.0.0');
    await publish(parts, { version: '1.0.0', artifacts: [await linux('b')] });
    expect(await offers()).toEqual(['stable 1.0.0 paused #2']);
  });

  it('changes a status once, on every channel, and a yank permanently', async () => {
    for (const channel of ['stable', 'beta']) {
      await publish(parts, { version: '1.0.0', channel, artifacts: [await windows('a')] });
    }
    expect(await change('pause', '1.0.0', 'beta')).toMatchObject({
      channels: ['beta'],
      changed: true,
    });
    expect(await change('yank', '1.0.0')).toMatchObject({
      channels: ['stable', 'beta'],
      revision: 4,
    });
    expect(await change('yank', '1.0.0')).toMatchObject({ changed: false });
    for (const verb of ['pause', 'resume'] as const) {
      expect(await codeOf(change(verb, '1.0.0'))).toBe('status_forbids');
    }
    expect(
      await codeOf(publish(parts, { version: '1.0.0', artifacts: [await windows('a')] })),
    ).toBe('status_forbids');
    await change('retire', '1.0.0');
    expect(await change('retire', '1.0.0')).toMatchObject({ changed: false });
    expect(await offers()).toEqual([]);
    expect(await codeOf(change('yank', '1.0.0'))).toBe('status_forbids');
    expect(await codeOf(change('yank', '9.9.9'))).toBe('unknown_version');
    expect(await codeOf(change('yank', '1.0.0', 'other'))).toBe('unknown_channel');
  });
});
