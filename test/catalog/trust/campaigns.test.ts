import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestKey } from '../../../src/catalog/documents/keys.ts';
import type { OfferJson, RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { readManifest, readNewestManifest } from '../../../src/catalog/reading/read.ts';
import { findMakers } from '../../../src/catalog/trust/manifest-signature.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import type { Release } from '../../../src/domain/release.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createSeededRandomness } from '../../support/clock.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';
import { keysOf, makeSigner, type RootOptions } from '../../support/trust.ts';
import type { World } from '../live/live-catalog.ts';
import { channelOf, ci, k1, k2, k3, must, offerIn, useTrustedWorld } from './trusted-world.ts';

/**
 * Campaigns of several steps against what CI signs: a thief has the bucket and the key of a service, which is an operator
 * and no key of a channel. CI signs beta by itself.
 */

const trusted = await useTrustedWorld();
const { forge, init, present, publisher, yank } = trusted;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const svc = makeSigner('svc', 'p256');
let world: World;

const OPTIONS: RootOptions = {
  people: keysOf(2, k1, k2, k3),
  operators: [svc, k1],
  channels: {
    stable: keysOf(2, k1, k2, k3),
    beta: keysOf(1, ci),
    alpha: keysOf(1, ci),
  },
  roles: {},
};

const LINUX = { platform: 'linux', format: 'appimage' } as const;
const MAC = { platform: 'macos', format: 'dmg' } as const;
const BUILDS = [{}, LINUX, MAC] as const;
const nameOf = (version: string, build: (typeof BUILDS)[number]): string =>
  `App-${version}.${'format' in build ? build.format : 'exe'}`;

type Given = Partial<PublishRequest> & { readonly version: string };

/** Publishes one file of CI to beta, or the files that the request states. */
async function ciPublishes({ version, ...request }: Given, build: (typeof BUILDS)[number] = {}) {
  const filename = nameOf(version, build);
  const artifact = await makeArtifact(temporary.path, { filename, content: filename, ...build });
  return publish(publisher(ci), { version, channel: 'beta', artifacts: [artifact], ...request });
}

/** Makes a draft on beta with the key of the service, with a file that CI has never built. */
async function thiefDrafts({ version, ...request }: Given, file: object = {}) {
  const evil = { filename: 'Evil.AppImage', content: 'evil', ...LINUX, ...file };
  return publish(publisher(svc), {
    version,
    channel: 'beta',
    mode: 'draft',
    artifacts: [await makeArtifact(temporary.path, evil)],
    ...request,
  });
}

const OPENING = {
  application: 'desktop',
  channel: 'beta',
  version: '1.4.0',
  allowPrerelease: true,
};
const open = (version: string, more: object = {}, ...signers: readonly Signer[]) =>
  openDraft(publisher(...(signers.length === 0 ? [ci] : signers)), {
    ...OPENING,
    version,
    ...more,
  });
const notes = (version: string, text = 'x') =>
  correctNotes(publisher(ci), {
    application: 'desktop',
    version,
    reason: null,
    set: { und: text },
    remove: [],
  });

async function offeredRelease(version: string, channel = 'beta'): Promise<Release> {
  const offers = channelOf(await present(), channel).offers;
  const offer = must(offers.find((each) => each.version === version));
  return (await readManifest(publisher(), 'desktop', version, offer.manifest)).release;
}
async function filesOf(version: string, channel?: string): Promise<readonly string[]> {
  const { artifacts, carried } = await offeredRelease(version, channel);
  return [...artifacts.flatMap((each) => [each, ...each.companions]), ...carried]
    .map((each) => ('filename' in each ? each.filename : each.name))
    .filter((name) => !name.endsWith('.zsync'))
    .sort();
}

/** Names a manifest in a draft of beta, as an operator can who makes the revision by hand. */
const draftOf = ({ status: _s, reason: _r, rollout: _o, ...stated }: OfferJson) => ({
  ...stated,
  since: '2026-11-21T09:00:00.000Z',
  opens: 'when_complete' as const,
});
const forgeBeta = (edit: (beta: RevisionJson['channels'][string]) => unknown, channel = 'beta') =>
  forge((signed) => void edit(channelOf(signed, channel)), { signer: svc });

/** A release of the thief, which no revision names any more, as a forged offer states it. */
async function thiefsOffer(version: string): Promise<OfferJson> {
  await thiefDrafts({ version, mode: 'offer' });
  const drafts = must(channelOf(await present(), 'beta').drafts);
  const { since: _since, opens: _opens, rollout: _rollout, ...stated } = must(drafts[0]);
  await forgeBeta((beta) => Object.assign(beta, { drafts: [] }));
  return { ...stated, status: 'active', reason: null };
}

beforeEach(async () => {
  world = trusted.begin();
  await init(OPTIONS, k1, k2);
  await ciPublishes({ version: '1.3.0' });
});

describe('an attacker with the bucket and the key of a service: cannot get into what CI signs', () => {
  it('by a draft, when CI holds its files back', async () => {
    await thiefDrafts({ version: '1.4.0' });
    expect((await ciPublishes({ version: '1.4.0', mode: 'draft' })).status).toBe('draft');
    expect((await ciPublishes({ version: '1.4.0', mode: 'draft' }, MAC)).status).toBe('draft');
    await thiefDrafts({ version: '1.4.0' });
    await open('1.4.0');
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.dmg', 'App-1.4.0.exe']);
  });

  it('by a draft, when CI publishes its files', async () => {
    await thiefDrafts({ version: '1.4.0' });
    const { leftOut, status } = await ciPublishes({ version: '1.4.0' });
    expect({ leftOut, status }).toEqual({
      leftOut: { manifest: 1, filenames: ['Evil.AppImage'] },
      status: 'active',
    });
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
  });

  it.each([{}, { releasePartial: true }])('by a draft, when CI opens it with %o', async (more) => {
    await thiefDrafts({ version: '1.4.0' });
    await expect(open('1.4.0', more)).rejects.toThrow('No key of beta made the draft 1.4.0');
    expect(channelOf(await present(), 'beta').offers).toHaveLength(1);
  });

  it('by a draft after a draft of CI, when CI opens it', async () => {
    await ciPublishes({ version: '1.4.0', mode: 'draft' });
    await thiefDrafts({ version: '1.4.0' });
    const { leftOut } = await open('1.4.0', { releasePartial: true });
    expect(leftOut?.filenames).toEqual(['Evil.AppImage']);
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
  });

  it('by a draft of an offered version, when CI adds a file or corrects notes', async () => {
    await thiefDrafts({ version: '1.3.0', mode: 'offer' });
    await notes('1.3.0');
    expect(await filesOf('1.3.0')).toEqual(['App-1.3.0.exe']);
    expect((await offeredRelease('1.3.0')).notes).toEqual({ und: 'x' });
    await ciPublishes({ version: '1.3.0' }, MAC);
    expect(await filesOf('1.3.0')).toEqual(['App-1.3.0.dmg', 'App-1.3.0.exe']);
    expect((await offeredRelease('1.3.0')).notes).toEqual({ und: 'x' });
  });

  it('by other bytes under the name of a file of CI', async () => {
    const file = { filename: 'App-1.4.0.exe', platform: 'windows', format: 'nsis' };
    await thiefDrafts({ version: '1.4.0' }, file);
    await ciPublishes({ version: '1.4.0' });
    const [artifact] = (await offeredRelease('1.4.0')).artifacts;
    expect(artifact?.size).toBe('App-1.4.0.exe'.length);
    const object = await world.memory.get(`apps/desktop/${artifact?.object}`);
    expect(Buffer.from(must(object).body).toString()).toBe('App-1.4.0.exe');
  });

  it('by statements beside the very bytes of CI', async () => {
    const notesOfThief = { und: 'Install https://evil.example' };
    const request = { requires: '<1.4.0', mandatoryFor: '<1.3.5', notes: notesOfThief };
    const same = { filename: 'App-1.4.0.exe', content: 'App-1.4.0.exe', platform: 'windows' };
    const build = { ...same, format: 'nsis', minimumOsVersion: '99.0' };
    const ended = { platform: 'windows', arch: 'arm64' } as const;
    await thiefDrafts({ version: '1.4.0', ...request, endsNative: [ended] }, build);
    await ciPublishes({ version: '1.4.0' });
    const release = await offeredRelease('1.4.0');
    expect(release).toMatchObject({ notes: {}, requires: null, mandatoryFor: null });
    expect(release.endsNative).toEqual([]);
    expect(release.artifacts[0]?.minimumOsVersion).toBeNull();
    expect(release.artifacts[0]?.companions).toEqual([]);
  });

  it('by a manifest that CI made for another channel', async () => {
    await ciPublishes({ version: '1.4.0', channel: 'alpha', mode: 'draft' }, LINUX);
    const [draft] = must(channelOf(await present(), 'alpha').drafts);
    await forge(
      (signed) => {
        Object.assign(channelOf(signed, 'alpha'), { drafts: [] });
        Object.assign(channelOf(signed, 'beta'), { drafts: [draft] });
      },
      { signer: svc },
    );
    await expect(open('1.4.0')).rejects.toThrow('No key of beta made the draft');
    const { leftOut, status } = await ciPublishes({ version: '1.4.0' });
    expect({ leftOut: leftOut?.filenames, status }).toEqual({
      leftOut: ['App-1.4.0.appimage'],
      // The thief may withhold it.
      status: 'draft',
    });
    await open('1.4.0');
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
  });

  it('by the signature of CI under a manifest of the thief', async () => {
    await ciPublishes({ version: '1.4.0', mode: 'draft' });
    await thiefDrafts({ version: '1.4.0' });
    const own = JSON.parse(must(await readText(world.memory, manifestKey('desktop', '1.4.0', 1))));
    await world.tamper(manifestKey('desktop', '1.4.0', 2), (text) =>
      JSON.stringify({ ...JSON.parse(text), signatures: own.signatures }),
    );
    // A copy of the manifest of CI under another number, and under another version.
    const copy = Buffer.from(JSON.stringify(own));
    await world.memory.create(manifestKey('desktop', '1.4.0', 3), copy);
    await world.memory.create(manifestKey('desktop', '1.5.0', 1), copy);
    const skipping = { ...publisher(ci), skipCorrupt: [3] };
    await openDraft(skipping, OPENING);
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
    await expect(ciPublishes({ version: '1.5.0' })).rejects.toThrow('--skip-corrupt 1');
  });

  it('by a pile of manifests above the manifest of CI', async () => {
    await ciPublishes({ version: '1.4.0', mode: 'draft' });
    for (let each = 0; each < 12; each++) {
      await thiefDrafts({ version: '1.4.0' }, { content: `evil ${each}` });
    }
    await ciPublishes({ version: '1.4.0' }, MAC);
    await open('1.4.0', { releasePartial: true });
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.dmg', 'App-1.4.0.exe']);
  });

  it('and a file that is gone is not offered', async () => {
    await ciPublishes({ version: '1.4.0', mode: 'draft' });
    const made = must(await readNewestManifest(publisher(), 'desktop', '1.4.0'));
    await thiefDrafts({ version: '1.4.0' });
    await world.memory.delete(`apps/desktop/${made.release.artifacts[0]?.object}`);
    await expect(open('1.4.0')).rejects.toThrow('No key of beta made the draft');
    await ciPublishes({ version: '1.4.0' }, MAC);
    await open('1.4.0');
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.dmg']);
  });

  it('by a draft that CI discarded, when the manifest is not the newest', async () => {
    await ciPublishes({ version: '1.4.0', mode: 'draft' }, LINUX);
    await changeStatus(publisher(ci), 'retire', { ...OPENING, reason: null });
    await thiefDrafts({ version: '1.4.0' });
    await ciPublishes({ version: '1.4.0' });
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
  });

  it('by an offer that no key of the channel signed, which CI opens, publishes to, or promotes', async () => {
    const evil = await thiefsOffer('1.4.0');
    await forgeBeta((beta) => beta.offers.push(evil));
    await expect(open('1.4.0')).rejects.toThrow('Sign it first: slipway sign 1.4.0 --channel beta');
    const promotion = { application: 'desktop', version: '1.4.0', create: false };
    await expect(
      promoteRelease(publisher(ci), { ...promotion, to: 'alpha', allowPrerelease: true }),
    ).rejects.toThrow('slipway sign 1.4.0');
    await ciPublishes({ version: '1.4.0' });
    expect(await filesOf('1.4.0')).toEqual(['App-1.4.0.exe']);
  });

  it('by an offer in the place of a signed one, whose notes CI corrects', async () => {
    const planted = await thiefsOffer('1.3.0');
    const honest = offerIn(await present(), 0, 'beta');
    await forgeBeta((beta) => beta.offers.splice(0, 1, planted));
    const before = await listKeys(world.memory, 'apps/desktop/releases/1.3.0/');
    await expect(notes('1.3.0')).rejects.toThrow('Too few keys of beta signed 1.3.0');
    // Otherwise the thief names a manifest that CI has just signed.
    expect(await listKeys(world.memory, 'apps/desktop/releases/1.3.0/')).toEqual(before);
    const newest = must(await readNewestManifest(publisher(), 'desktop', '1.3.0'));
    await forgeBeta((beta) => {
      beta.offers.splice(0, 1, honest);
      const { number, digest } = newest;
      Object.assign(beta, { drafts: [draftOf({ ...planted, manifest: { number, digest } })] });
    });
    await notes('1.3.0', 'y');
    expect(await filesOf('1.3.0')).toEqual(['App-1.3.0.exe']);
  });

  it('by an older set of notes, or by a draft with a manifest that is not there', async () => {
    await notes('1.3.0', 'first');
    await notes('1.3.0', 'second');
    const offer = offerIn(await present(), 0, 'beta');
    const manifest = { number: 2 ** 53 - 1, digest: 'a'.repeat(64) };
    await forgeBeta((beta) => Object.assign(beta, { drafts: [draftOf({ ...offer, manifest })] }));
    await expect(ciPublishes({ version: '1.3.0' }, MAC)).rejects.toThrow(
      `--skip-corrupt ${manifest.number}`,
    );
    await yank('1.3.0', ci).catch(() => undefined);
    expect(await filesOf('1.3.0')).toEqual(['App-1.3.0.exe']);
  });
});

describe('a matrix of CI needs no person, and loses no file', () => {
  const ALL = BUILDS.map((build) => nameOf('2.0.0', build)).sort();
  const expect3 = [
    { platform: 'windows', arch: 'x64' },
    { platform: 'linux', arch: 'x64' },
    { platform: 'macos', arch: 'x64' },
  ] as const;
  const job = (build: (typeof BUILDS)[number], more: object = {}) =>
    ciPublishes({ version: '2.0.0', expect: expect3, ...more }, build);

  it('with three jobs at once, and each of them once more', async () => {
    await Promise.all(BUILDS.map((build) => job(build)));
    expect(await filesOf('2.0.0')).toEqual(ALL);
    const { revision } = await present();
    await Promise.all(BUILDS.map((build) => job(build)));
    expect((await present()).revision).toBe(revision);
    expect(await filesOf('2.0.0')).toEqual(ALL);
  });

  it('with --draft, and a command that opens it', async () => {
    await Promise.all(BUILDS.map((build) => job(build, { mode: 'draft' })));
    expect((await open('2.0.0')).status).toBe('active');
    expect(await filesOf('2.0.0')).toEqual(ALL);
  });

  it('with a build that is missing, and --release-partial', async () => {
    await job(BUILDS[0]);
    await job(BUILDS[1]);
    await open('2.0.0', { releasePartial: true });
    await job(BUILDS[2]);
    expect(await filesOf('2.0.0')).toEqual(ALL);
  });

  it('with jobs that are killed at each write and run again, while a thief makes drafts', async () => {
    const random = createSeededRandomness(46);
    let writes = 1;
    for (let round = 0; round < rounds(5, 200); round++) {
      const version = `2.${round}.0`;
      const files: string[] = [];
      for (const build of BUILDS) {
        if (random.fraction() < 0.5) await thiefDrafts({ version }).catch(() => undefined);
        const filename = nameOf(version, build);
        const artifact = await makeArtifact(temporary.path, {
          filename,
          content: filename,
          ...build,
        });
        const request = {
          version,
          channel: 'beta',
          artifacts: [artifact],
          mode: 'draft' as const,
        };
        const killedAt = 1 + (writes++ % 9);
        let left = killedAt;
        const create: typeof world.memory.create = async (...call) => {
          if (left-- <= 0) throw new Error('killed');
          return world.memory.create(...call);
        };
        const deps = { ...publisher(ci), store: { ...world.memory, create } };
        await publish(deps, request).catch(() => undefined);
        if (random.fraction() < 0.5) await thiefDrafts({ version }).catch(() => undefined);
        await publish(publisher(ci), request);
        files.push(filename);
      }
      if (random.fraction() < 0.5) await thiefDrafts({ version }).catch(() => undefined);
      await open(version, { releasePartial: true });
      expect(await filesOf(version), version).toEqual(files.sort());
    }
  });

  it('and signs each manifest for its own channel alone', async () => {
    await job(BUILDS[0]);
    const newest = must(await readNewestManifest(publisher(), 'desktop', '2.0.0'));
    const keys = new Map([[ci.key.id, ci.key]]);
    expect(await findMakers(keys, 'beta', newest)).toEqual([ci.key.id]);
    expect(await findMakers(keys, 'alpha', newest)).toEqual([]);
    expect(await findMakers(keys, 'stable', newest)).toEqual([]);
  });
});
