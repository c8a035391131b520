import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestKey } from '../../../src/catalog/documents/keys.ts';
import { channelIn, type RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { readManifest } from '../../../src/catalog/reading/read.ts';
import { findMakers } from '../../../src/catalog/trust/manifest-signature.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { keysOf, makeSigner } from '../../support/trust.ts';
import type { World } from '../live/live-catalog.ts';
import { ci, k1, k2, must, useTrustedWorld } from './trusted-world.ts';

/**
 * A command that signs for a channel takes over only what a key of that channel made. `svc` is the key with which a
 * service renews timestamps: an operator's key, and no key of a channel.
 */

const trusted = await useTrustedWorld();
const { publisher } = trusted;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const svc = makeSigner('svc');
const ROOT = {
  people: keysOf(2, k1, k2),
  operators: [svc],
  channels: { beta: keysOf(1, ci), stable: keysOf(1, k1) },
};
const program = await makeArtifact(temporary.path, {
  filename: 'Tool.AppImage',
  content: 'tool',
  platform: 'linux',
  format: 'appimage',
});
const windows = await makeArtifact(temporary.path, { filename: 'Tool.exe', content: 'setup' });
const evil = await makeArtifact(temporary.path, {
  filename: 'Evil-setup.exe',
  content: 'evil',
  arch: 'arm64',
});
let world: World;

type Request = Parameters<typeof publish>[1];

/** Publishes to beta, if the request names no other channel. */
const by = (signer: Signer, request: Request) =>
  publish(publisher(signer), { channel: 'beta', ...request });
const open = (signer: Signer, version: string, more: object = {}) =>
  openDraft(publisher(signer), {
    application: 'desktop',
    channel: 'beta',
    version,
    allowPrerelease: true,
    ...more,
  });
const discard = (version: string) =>
  changeStatus(publisher(ci), 'retire', {
    application: 'desktop',
    version,
    channel: undefined,
    reason: null,
  });

/** The files of a release that a channel offers to clients. */
async function offeredFiles(version: string, channel = 'beta'): Promise<readonly string[]> {
  const { channels } = await trusted.present();
  const offer = must(channelIn(channels, channel)?.offers.find((each) => each.version === version));
  const { release } = await readManifest(publisher(), 'desktop', version, offer.manifest);
  return release.artifacts.map(({ filename }) => filename).sort();
}

beforeEach(async () => {
  world = trusted.begin();
  await trusted.init(ROOT, k1, k2);
  await by(ci, { version: '1.0.0', artifacts: [program] });
});

describe('an attacker with the bucket and the key of an operator', () => {
  /** What the attacker puts into a draft of beta. */
  const plantDraft = (version: string) =>
    by(svc, {
      version,
      artifacts: [evil],
      mode: 'draft',
      notes: { und: 'Run me' },
      mandatoryFor: '>=1.0.0 <1.4.0',
      requires: '>=1.0.0',
    });

  it('puts no file and no statement into a release that CI publishes', async () => {
    await plantDraft('1.4.0');
    const { release, leftOut } = await by(ci, { version: '1.4.0', artifacts: [program] });
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage']);
    expect(release).toMatchObject({ notes: {}, mandatoryFor: null, requires: null });
    expect(leftOut).toEqual({ manifest: 1, filenames: ['Evil-setup.exe'] });
  });

  it('has no draft opened that no key of the channel made', async () => {
    await plantDraft('1.4.0');
    await expect(open(ci, '1.4.0')).rejects.toThrow('slipway sign 1.4.0 --channel beta');
    await expect(open(ci, '1.4.0', { releasePartial: true })).rejects.toMatchObject({
      code: 'key_required',
    });
    expect(channelIn((await trusted.present()).channels, 'beta')?.offers).toHaveLength(1);
  });

  it('puts nothing between two jobs of CI, which keep their files', async () => {
    await by(ci, { version: '1.4.0', artifacts: [program], mode: 'draft' });
    await by(svc, { version: '1.4.0', artifacts: [evil] });
    const { leftOut } = await by(ci, { version: '1.4.0', artifacts: [windows] });
    expect(leftOut).toEqual({ manifest: 2, filenames: ['Evil-setup.exe'] });
    await open(ci, '1.4.0');
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage', 'Tool.exe']);
  });

  it('gets no file into an offered release with corrected notes, or with more builds', async () => {
    await by(svc, { version: '1.0.0', artifacts: [evil] });
    const set = { und: 'Better' };
    const notes = { application: 'desktop', version: '1.0.0', set, remove: [], reason: null };
    const { leftOut } = await correctNotes(publisher(ci), notes);
    expect(leftOut).toEqual([{ channel: 'beta', manifest: 2 }]);
    expect(await offeredFiles('1.0.0')).toEqual(['Tool.AppImage']);
    await by(ci, { version: '1.0.0', artifacts: [windows] });
    expect(await offeredFiles('1.0.0')).toEqual(['Tool.AppImage', 'Tool.exe']);
  });

  it('neither shortens the list of expected builds nor chooses the rollout', async () => {
    const both = [
      { platform: 'linux', arch: 'x64' },
      { platform: 'windows', arch: 'x64' },
    ] as const;
    await by(svc, {
      version: '1.4.0',
      artifacts: [evil],
      mode: 'draft',
      expect: [],
      rollout: { text: '1%', freezeWindows: [] } as never,
    });
    const first = await by(ci, { version: '1.4.0', artifacts: [program], expect: both });
    expect(first.status).toBe('draft');
    const second = await by(ci, { version: '1.4.0', artifacts: [windows], expect: both });
    expect(second.status).toBe('active');
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage', 'Tool.exe']);
    const beta = channelIn((await trusted.present()).channels, 'beta');
    expect(beta?.offers.find(({ version }) => version === '1.4.0')?.rollout).toBeUndefined();
  });

  it('uses no manifest of one channel on another one', async () => {
    // The key of beta is stolen. The key of stable publishes the same version.
    await by(ci, { version: '1.5.0', artifacts: [evil], mode: 'draft' });
    const { manifest } = must(channelIn((await trusted.present()).channels, 'beta')?.drafts?.[0]);
    const named = await readManifest(publisher(), 'desktop', '1.5.0', manifest);
    expect(await findMakers(ROOT.channels.beta.keys, 'beta', named)).toEqual([ci.key.id]);
    expect(await findMakers(ROOT.channels.beta.keys, 'stable', named)).toEqual([]);
    await trusted.forge(
      (signed: RevisionJson) => {
        const { beta } = signed.channels;
        signed.channels.stable = { inherits: null, retired: [], offers: [], drafts: beta?.drafts };
        delete must(beta).drafts;
      },
      { signer: svc },
    );
    await by(k1, { version: '1.5.0', artifacts: [program], channel: 'stable' });
    await open(k1, '1.5.0', { channel: 'stable' });
    expect(await offeredFiles('1.5.0', 'stable')).toEqual(['Tool.AppImage']);
  });

  it('has no stored manifest used again that says the same', async () => {
    await by(svc, { version: '1.4.0', artifacts: [program], mode: 'draft' });
    const { manifest } = await by(ci, { version: '1.4.0', artifacts: [program] });
    expect(manifest).toBe(2);
    const stored = JSON.parse(
      String(await readText(world.memory, manifestKey('desktop', '1.4.0', 2))),
    );
    expect(stored.signatures).toMatchObject([{ key_id: ci.key.id }]);
  });
});

describe('jobs of CI need no person', () => {
  it('three at once, each of which is run again', async () => {
    const jobs = [program, windows].map((artifact) => ({
      version: '1.4.0',
      artifacts: [artifact],
      expect: [
        { platform: 'linux', arch: 'x64' },
        { platform: 'windows', arch: 'x64' },
      ] as const,
    }));
    await Promise.all([...jobs, ...jobs].map((job) => by(ci, job)));
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage', 'Tool.exe']);
  });

  it('a job that is killed between manifest and revision, and run again', async () => {
    await by(ci, { version: '1.4.0', artifacts: [program], mode: 'draft' });
    world.store.setPlan(({ method, key }) =>
      method === 'create' && key.includes('/catalog/')
        ? { when: 'before', code: 'store_denied' }
        : undefined,
    );
    const dying = { ...publisher(ci), store: world.store };
    const job = { version: '1.4.0', artifacts: [windows], channel: 'beta' };
    await expect(publish(dying, job)).rejects.toThrow();
    await by(ci, job);
    await open(ci, '1.4.0');
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage', 'Tool.exe']);
  });

  it('a discarded draft lends nothing to the next one', async () => {
    await by(ci, { version: '1.4.0', artifacts: [windows], mode: 'draft' });
    await discard('1.4.0');
    await by(svc, { version: '1.4.0', artifacts: [evil], mode: 'draft' });
    await by(ci, { version: '1.4.0', artifacts: [program] });
    expect(await offeredFiles('1.4.0')).toEqual(['Tool.AppImage']);
  });
});
