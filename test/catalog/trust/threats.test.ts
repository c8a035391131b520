import { beforeEach, describe, expect, it } from 'vitest';
import {
  delegationsKey,
  freshnessPrefix,
  revisionKey,
  rootKey,
} from '../../../src/catalog/documents/keys.ts';
import {
  type ChannelJson,
  type OfferJson,
  offerJsonOf,
  type RevisionJson,
} from '../../../src/catalog/documents/revision-document.ts';
import { readManifest, readRevision } from '../../../src/catalog/reading/read.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { renewFreshness } from '../../../src/catalog/writing/signing.ts';
import { signRoot } from '../../../src/features/trust/change-root.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import { describeWaiting } from '../../../src/releases/trust/sign-draft.ts';
import { listKeys } from '../../support/objects.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { contentOfRoot, FRESH_MS, keysOf } from '../../support/trust.ts';
import { offered, problemsOf, type World } from '../live/live-catalog.ts';
import {
  channelOf,
  ci,
  DAY_MS,
  DELEGATED,
  k1,
  k2,
  k3,
  look,
  must,
  offerIn,
  stranger,
  untilSavedRevision,
  useTrustedWorld,
} from './trusted-world.ts';

/** The first page of docs/operations/trust.md: each cell of its table is a test here. */

const trusted = await useTrustedWorld();
const { forge, newestNumber, offeredCold, present, publisher, publishStable, publishTo } = trusted;
const { deleteUnder, signDraft, start, yank } = trusted;
let world: World;

beforeEach(async () => {
  world = trusted.begin();
  await trusted.initDelegated();
});

describe('an attacker with the bucket', () => {
  it.each<[string, (offer: OfferJson, signed: RevisionJson) => void]>([
    ['publishes no release', (offer) => Object.assign(offer, { version: '9.0.0' })],
    ['relabels none', (offer) => Object.assign(offer, { requires: '>=5.0.0' })],
    [
      'raises no rollout',
      (offer) => Object.assign(offer, { status: 'active', rollout: undefined }),
    ],
    [
      'changes no inheritance',
      (_, signed) => Object.assign(channelOf(signed), { inherits: 'beta' }),
    ],
    [
      'changes no settings',
      (_, signed) => Object.assign(signed, { settings: { display_name: 'Evil' } }),
    ],
    ['removes no signature', (_, signed) => Object.assign(signed, { trust: undefined })],
  ])('%s', async (_name, edit) => {
    for (const signer of [undefined, stranger]) {
      const warm = await start();
      expect(await offered(warm)).toBe('1.1.0');
      const change = (signed: RevisionJson) => edit(offerIn(signed, 0), signed);
      await forge(change, signer === undefined ? {} : { signer });
      await look(warm);
      expect(await offered(warm)).toBe('1.1.0');
      expect(problemsOf(warm)).toMatch(/is not signed|no valid signature/);
      const cold = await start();
      // The newest revision may have been a withdrawal, so nobody answers from the one before it.
      await expect(offered(cold)).rejects.toThrow('could not be loaded');
      await Promise.all([warm.stop(), cold.stop()]);
      await expect(readRevision(publisher(), 'desktop')).rejects.toThrow(
        /not signed|no valid signature/,
      );
      await world.memory.delete(revisionKey('desktop', await newestNumber()));
    }
  });

  it('plants no application, and takes none out of the list', async () => {
    await trusted.publishUnsigned('evil', '1.0.0');
    const catalog = await start();
    expect(() => catalog.application('evil')).toThrow('There is no application "evil" here.');
    expect(problemsOf(catalog)).toContain('TRUST_ROOT has no root for evil');
    await world.tamper('applications/3.json', (all) => all);
    await deleteUnder('applications/');
    await deleteUnder('changes/');
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('takes back no process that saw more, also after a restart with its saved state', async () => {
    const state = await makeTemporaryDirectory();
    const warm = await start(state.path);
    const old = await newestNumber();
    await yank();
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
    await untilSavedRevision(world, state.path, old + 1);
    await world.memory.delete(revisionKey('desktop', old + 1));
    const [, newest] = (await listKeys(world.memory, freshnessPrefix('desktop'))).slice(-2);
    await world.memory.delete(String(newest));
    await world.clock.advance(200_000);
    expect(await offered(warm)).toBe('1.0.0');
    await warm.stop();
    expect(await offered(await start(state.path))).toBe('1.0.0');
    await state.remove();
  });

  it('shows a process without memory at most a state as old as an unexpired timestamp', async () => {
    const old = await newestNumber();
    const before = await listKeys(world.memory, freshnessPrefix('desktop'));
    await world.clock.advance(FRESH_MS - DAY_MS);
    await yank();
    await world.memory.delete(revisionKey('desktop', old + 1));
    // The timestamp names the deleted revision, and so does the hint.
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
    await deleteUnder('changes/');
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
    await deleteUnder(freshnessPrefix('desktop'), before);
    expect(await offeredCold()).toBe('1.1.0');
    await world.clock.advance(2 * DAY_MS);
    await expect(offeredCold()).rejects.toThrow(/not known to be new.*trust renew/);
  });

  it('keeps a restarted process at its saved state, if that state was confirmed within TRUST_FRESH', async () => {
    const state = await makeTemporaryDirectory();
    const old = await newestNumber();
    const before = await listKeys(world.memory, freshnessPrefix('desktop'));
    await world.clock.advance(FRESH_MS - DAY_MS);
    const first = await start(state.path);
    await untilSavedRevision(world, state.path, old);
    await first.stop();
    await yank();
    await world.memory.delete(revisionKey('desktop', old + 1));
    await deleteUnder('changes/');
    await deleteUnder(freshnessPrefix('desktop'), before);
    await world.clock.advance(2 * DAY_MS);
    await expect(offeredCold()).rejects.toThrow('not known to be new');
    const second = await start(state.path);
    expect(await offered(second)).toBe('1.1.0');
    await second.stop();
    await world.clock.advance(FRESH_MS);
    await expect(offered(await start(state.path))).rejects.toThrow('not known to be new');
    await state.remove();
  });

  it('makes no old state new: only an operator who has seen the state signs another timestamp', async () => {
    await world.clock.advance(FRESH_MS + 1);
    await expect(offeredCold()).rejects.toThrow('slipway trust renew');
    const state = await trusted.presentState();
    await expect(renewFreshness(publisher(stranger), 'desktop', state)).rejects.toThrow(
      'no operator',
    );
    await renewFreshness(publisher(ci), 'desktop', state);
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('brings back no removed key by deleting the newer root, where a timestamp names that root', async () => {
    await removeCi();
    const number = await newestNumber();
    await world.memory.delete(rootKey('desktop', 2));
    await world.memory.delete(delegationsKey('desktop', 2));
    await world.memory.delete(revisionKey('desktop', number));
    await forge(() => undefined, { signer: ci, number });
    await expect(offeredCold()).rejects.toThrow();
  });
});

/** Removes the key of CI from the operators and from beta. */
async function removeCi(): Promise<void> {
  const channels = { ...DELEGATED.channels, beta: keysOf(1, k1) };
  await trusted.changeRoot(DELEGATED, { ...DELEGATED, operators: [k1], channels }, k1, k2);
}

describe('an attacker with the bucket and the key of an operator', () => {
  it('adds no release to stable, and alters none', async () => {
    await publishTo('beta', '2.0.0-beta.1', ci);
    const beta = offerIn(await present(), 0, 'beta');
    for (const edit of [
      (offers: OfferJson[]) => offers.push(beta),
      (offers: OfferJson[]) =>
        Object.assign(must(offers[0]), { requires: null, mandatory_for: '*' }),
      (offers: OfferJson[]) =>
        void offers.map((offer) => Object.assign(offer, { manifest: beta.manifest })),
    ]) {
      await forge((signed) => edit(channelOf(signed).offers), { signer: ci });
      const cold = await start();
      expect(['1.0.0', '1.1.0', 'no_release']).toContain(await offered(cold));
      expect(problemsOf(cold)).toMatch(/is not offered on stable: too few keys/);
      await world.memory.delete(revisionKey('desktop', await newestNumber()));
    }
  });

  it.each([
    ['inherits', (stable: ChannelJson) => Object.assign(stable, { inherits: 'beta' })],
    [
      'allows downgrades',
      (stable: ChannelJson) => Object.assign(stable, { allow_downgrade: true }),
    ],
  ])('%s nothing on stable', async (_name, edit) => {
    const warm = await start();
    await forge((signed) => edit(channelOf(signed)), { signer: ci });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    expect(problemsOf(warm)).toContain('gives stable other settings than its keys signed');
    // The next change gives stable its settings back, so that a yank is possible.
    await yank();
    const { inherits, allow_downgrade: allows } = channelOf(await present());
    expect({ inherits, allows }).toEqual({ inherits: null, allows: undefined });
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
  });

  it('chooses among signed releases, also a yanked one', async () => {
    const warm = await start();
    await forge((signed) => Object.assign(offerIn(signed, 1), { status: 'yanked' }), {
      signer: ci,
    });
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
  });

  it('replaces a draft before people sign it, and no signature counts for another draft', async () => {
    await publishStable('1.2.0', k1);
    const draft = must(channelOf(await present()).drafts?.[0]);
    const { release } = await readManifest(publisher(), 'desktop', '1.2.0', draft.manifest);
    await forge(
      (signed) => {
        channelOf(signed).drafts = [
          {
            ...draft,
            ...offerStatement(release),
            requires: '>=0.1.0',
          },
        ];
      },
      { signer: ci },
    );
    await expect(signDraft('1.2.0', k2)).rejects.toThrow('states other facts');
  });

  it('promotes to stable only as a draft', async () => {
    await publishTo('beta', '2.0.0-beta.1', ci);
    const request = {
      application: 'desktop',
      version: '2.0.0-beta.1',
      to: 'stable',
      create: false,
      allowPrerelease: true,
    };
    const promoted = await promoteRelease(publisher(ci), request);
    expect(promoted.status).toBe('draft');
    expect(await offeredCold()).toBe('1.1.0');
    expect(await signDraft('2.0.0-beta.1', k1)).toBe(false);
    expect(await signDraft('2.0.0-beta.1', k3)).toBe(true);
    expect(await offeredCold()).toBe('2.0.0-beta.1');
  });
});

function offerStatement(release: Parameters<typeof offerJsonOf>[0]) {
  const { version, artifacts } = offerJsonOf(release, { number: 1, digest: '0'.repeat(64) });
  return { version, artifacts };
}

describe('an attacker with the key of one person of three', () => {
  it('offers nothing on stable', async () => {
    await publishStable('1.2.0', k1);
    expect(await signDraft('1.2.0', k1)).toBe(false);
    const waiting = await describeWaiting(publisher(), await present());
    expect(waiting.get('1.2.0 stable')).toMatch(
      /^waits for 1 of these signatures: \w{12}, \w{12}\./,
    );
    const result = await publishTo('stable', '1.3.0', k1);
    expect(result.status).toBe('draft');
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('changes no key', async () => {
    const content = contentOfRoot(world.parts, {
      people: keysOf(1, k1),
      operators: [k1],
      firstRevision: 9,
    });
    const previous = contentOfRoot(world.parts, { people: keysOf(2, k1, k2, k3) });
    await expect(signRoot({ ...content, version: 2 }, previous, [k1])).rejects.toThrow(
      'needs signatures by 2 of',
    );
    // A root that only this key signed is not trusted, and stops nothing.
    const { rootBytes } = await signRoot({ ...content, version: 2 }, undefined, [k1]);
    await world.memory.create(rootKey('desktop', 2), rootBytes);
    const catalog = await start();
    expect(await offered(catalog)).toBe('1.1.0');
    expect(problemsOf(catalog)).toContain('is not signed by enough keys of root 1');
  });
});

describe('operators', () => {
  it('pause and yank while every key of a person is out of reach', async () => {
    await yank();
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('sign nothing more once their key is removed', async () => {
    await removeCi();
    expect(await offeredCold()).toBe('1.1.0');
    const yanked = yank();
    await expect(yanked).rejects.toThrow('is no operator');
    const warm = await start();
    await forge((signed) => Object.assign(offerIn(signed, 1), { status: 'yanked' }), {
      signer: ci,
    });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
  });

  it('sign each number that they try once: a lost race signs again, a retry sends the same bytes', async () => {
    const signed: number[] = [];
    let number = await newestNumber();
    const counting = {
      ...ci,
      sign: (bytes: Uint8Array) => {
        signed.push(number + 1);
        return ci.sign(bytes);
      },
    };
    let attempts = 0;
    await changeCatalog(publisher(counting), 'desktop', async (channels) => {
      attempts++;
      if (attempts === 1) {
        await publishTo('beta', '2.0.0-beta.1', ci);
        number++;
      }
      return {
        plan: undefined,
        edit: {
          change: { kind: 'pause', version: '1.0.0', channels: [], reason: null },
          channels,
        },
      };
    });
    // One for each of two numbers, and two for the timestamp and the snapshot.
    expect(attempts).toBe(2);
    expect(signed.length).toBe(4);
  });
});
