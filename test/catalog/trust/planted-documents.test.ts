import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import type { OfferJson, RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { readManifest, readRevision } from '../../../src/catalog/reading/read.ts';
import { createTrust } from '../../../src/catalog/trust/create-trust.ts';
import { commitRoot, signRoot } from '../../../src/features/trust/change-root.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import { readWaiting, signWaiting } from '../../../src/releases/trust/sign-draft.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { contentOfRoot, FRESH_MS, keysOf } from '../../support/trust.ts';
import { createWorld, offered, type World } from '../live/live-catalog.ts';
import {
  channelOf,
  ci,
  DELEGATED,
  k1,
  k2,
  k3,
  look,
  must,
  offerIn,
  useTrustedWorld,
} from './trusted-world.ts';

/**
 * An attacker plants documents, and waits for people who sign them with a change of their own. Each of these attacks of a
 * hostile reader worked once.
 */

const trusted = await useTrustedWorld();
const { changeRoot, forge, init, offeredCold, present, publisher, publishTo } = trusted;
const { start, yank } = trusted;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
let world: World;

/** Two of three people decide about stable and beta, and the key of CI about alpha. */
const THREE_CHANNELS = {
  ...DELEGATED,
  channels: {
    stable: keysOf(2, k1, k2, k3),
    beta: keysOf(2, k1, k2, k3),
    alpha: keysOf(1, ci),
  },
};

async function begin(options = DELEGATED): Promise<void> {
  await init(options, k1, k2, ci);
  await publishTo('stable', '1.0.0', k1, k2);
}

/** Plants a manifest of a version, with a build for another platform. */
async function plant(version: string, number = 2): Promise<OfferJson> {
  const elsewhere = createWorld();
  const build = { filename: 'Planted.AppImage', platform: 'linux', format: 'appimage' } as const;
  await publish(elsewhere.parts, {
    version,
    artifacts: [await makeArtifact(temporary.path, build)],
  });
  const revision = must(await readText(elsewhere.memory, revisionKey('desktop', 1)));
  for (const key of await listKeys(elsewhere.memory, 'apps/desktop/artifacts/')) {
    await world.memory.create(key, must(await elsewhere.memory.get(key)).body);
  }
  const planted = must(await readText(elsewhere.memory, manifestKey('desktop', version, 1)));
  const { signed, ...rest } = JSON.parse(planted);
  signed.number = number;
  const digest = digestOf(signed);
  const document = JSON.stringify({ ...rest, signed, digest });
  await world.memory.create(manifestKey('desktop', version, number), Buffer.from(document));
  return { ...offerIn(JSON.parse(revision).signed, 0), manifest: { number, digest } };
}

async function filesOf(version: string, channel = 'stable'): Promise<readonly string[]> {
  const offer = must(
    channelOf(await present(), channel).offers.find((each) => each.version === version),
  );
  const { release } = await readManifest(publisher(), 'desktop', version, offer.manifest);
  return release.artifacts.map(({ filename }) => filename);
}

const draftOf = ({
  status: _status,
  reason: _reason,
  rollout: _rollout,
  ...stated
}: OfferJson) => ({
  ...stated,
  since: '2026-11-21T09:00:00.000Z',
  opens: 'when_signed' as const,
});
const PROMOTE = {
  application: 'desktop',
  version: '1.5.0',
  to: 'stable',
  create: false,
  allowPrerelease: true,
};
const NOTES = { application: 'desktop', reason: null, set: { und: 'x' }, remove: [] };

beforeEach(() => {
  world = trusted.begin();
});

describe('an attacker with the bucket', () => {
  it('cannot add a build to a release by a manifest that no revision names', async () => {
    await begin();
    await plant('2.0.0-beta.1', 1);
    await publishTo('beta', '2.0.0-beta.1', ci);
    expect(await filesOf('2.0.0-beta.1', 'beta')).toEqual(['App-2.0.0-beta.1.exe']);
  });

  it('cannot make people sign it with a release of their own', async () => {
    await begin();
    await plant('1.1.0', 1);
    await publishTo('stable', '1.1.0', k1, k2);
    expect(await filesOf('1.1.0')).toEqual(['App-1.1.0.exe']);
    expect(await offeredCold()).toBe('1.1.0');
  });
});

describe('an attacker with the bucket and the key of an operator', () => {
  it('cannot make people promote what its channel does not offer', async () => {
    await begin(THREE_CHANNELS);
    await publishTo('beta', '1.5.0', k1, k2);
    const planted = await plant('1.5.0');
    const replace = (signed: RevisionJson) => {
      channelOf(signed, 'beta').offers.splice(0, 1, planted);
    };
    await forge(replace, { signer: ci });
    await expect(promoteRelease(publisher(k1, k2), PROMOTE)).rejects.toThrow(
      'slipway sign 1.5.0 --channel beta',
    );
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('cannot make people sign an offer on stable when they promote to beta or correct notes', async () => {
    await begin(THREE_CHANNELS);
    await publishTo('alpha', '1.5.0', ci);
    const planted = await plant('1.5.0');
    await forge((signed) => channelOf(signed).offers.push(planted), { signer: ci });
    await promoteRelease(publisher(k1, k2), { ...PROMOTE, to: 'beta', create: true });
    expect(await filesOf('1.5.0', 'beta')).toEqual(['App-1.5.0.exe']);
    await expect(correctNotes(publisher(k1, k2), { ...NOTES, version: '1.5.0' })).rejects.toThrow(
      'Too few keys of stable signed 1.5.0',
    );
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('cannot make people offer a planted draft when they correct notes', async () => {
    await begin();
    const planted = await plant('1.0.0');
    const edit = (signed: RevisionJson) => {
      Object.assign(channelOf(signed), { drafts: [draftOf(planted)] });
    };
    await forge(edit, { signer: ci });
    const { waiting } = await correctNotes(publisher(k1, k2), { ...NOTES, version: '1.0.0' });
    expect(waiting).toEqual(['stable']);
    expect(await filesOf('1.0.0')).toEqual(['App-1.0.0.exe']);
    const held = await publishTo('stable', '1.0.0', k1, k2);
    expect(held.held).not.toBeNull();
    expect(await filesOf('1.0.0')).toEqual(['App-1.0.0.exe']);
  });

  it('cannot replace a draft between what people see and what they offer', async () => {
    await begin();
    await publishTo('stable', '1.1.0', ci);
    const deps = publisher(k1, k2);
    const trust = must(deps.trust.of('desktop'));
    const waiting = must(await readWaiting(deps, trust, { channel: 'stable', version: '1.1.0' }));
    const planted = await plant('1.1.0');
    const edit = (signed: RevisionJson) => {
      Object.assign(channelOf(signed), { drafts: [draftOf(planted)] });
    };
    await forge(edit, { signer: ci });
    const role = must((await signWaiting(deps, trust, waiting, [k1, k2])).role);
    const opening = {
      application: 'desktop',
      channel: 'stable',
      version: '1.1.0',
      allowPrerelease: true,
    };
    const signing = { ...deps, signedRoles: { stable: role }, signsNoRole: true };
    expect((await openDraft(signing, opening)).held).not.toBeNull();
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('cannot make people sign an inherited channel with another setting', async () => {
    await begin(THREE_CHANNELS);
    await publishTo('alpha', '9.0.0', ci);
    const inherit = (signed: RevisionJson) =>
      Object.assign(channelOf(signed), { inherits: 'alpha' });
    await forge(inherit, { signer: ci });
    const settings = { allowsDowngrade: true };
    const change = {
      application: 'desktop',
      channel: 'stable',
      action: { kind: 'set', settings },
      reason: null,
    } as const;
    await changeChannel({ ...publisher(k1, k2), ensureConforming: async () => undefined }, change);
    expect(channelOf(await present()).inherits).toBeNull();
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('cannot make people sign what it listed when they give a channel its first keys', async () => {
    const without = { ...DELEGATED, channels: { stable: keysOf(2, k1, k2, k3) } };
    await begin(without);
    const planted = await plant('9.0.0', 1);
    const edit = (signed: RevisionJson) => {
      signed.channels.beta = { inherits: null, retired: [], offers: [planted] };
    };
    await forge(edit, { signer: ci });
    const { signs, lost } = await changeRoot(without, DELEGATED, k1, k2, ci);
    expect(signs).toEqual([]);
    expect(lost).toContainEqual({ channel: 'beta', version: '9.0.0' });
    expect((await present()).trust?.channels).not.toHaveProperty('beta');
  });

  it.each([
    [
      'an older role',
      (signed: RevisionJson, old: RevisionJson) => Object.assign(signed, { trust: old.trust }),
    ],
    [
      'no role',
      (signed: RevisionJson) => Object.assign(signed, { trust: { root: must(signed.trust).root } }),
    ],
    [
      'another predecessor',
      (signed: RevisionJson) =>
        Object.assign(signed, { previous: { revision: 2, digest: '0'.repeat(64) } }),
    ],
  ])(
    'cannot stop a yank for ever with %s: everybody refuses it, and people leave it out',
    async (_name, edit) => {
      await begin();
      const old = await present();
      await publishTo('stable', '1.1.0', k1, k2);
      const warm = await start();
      await forge((signed) => void edit(signed, old), { signer: ci });
      await expect(yank('1.1.0', k1)).rejects.toThrow('--skip-corrupt 4');
      await look(warm);
      expect(await offered(warm)).toBe('1.1.0');
      const skipping = { ...publisher(k1), skipCorrupt: [4] };
      expect((await readRevision(skipping, 'desktop'))?.signed.revision).toBe(3);
      await changeStatus(skipping, 'yank', {
        application: 'desktop',
        version: '1.1.0',
        channel: undefined,
        reason: 'x',
      });
      await look(warm);
      expect(await offered(warm)).toBe('1.0.0');
      expect(await offeredCold()).toBe('1.0.0');
    },
  );
});

it('a publisher who was first stops a change of the root, which names the next revision', async () => {
  await begin();
  const previous = contentOfRoot(world.parts, DELEGATED);
  const content = { ...contentOfRoot(world.parts, { ...DELEGATED, firstRevision: 3 }), version: 2 };
  const signed = await signRoot(content, previous, [k1, k2]);
  await yank('1.0.0');
  const deps = publisher(k1, k2);
  const trust = deps.trust.signingWith([k1, k2], world.memory);
  await expect(commitRoot(deps, signed, { trust, reason: 'root 2' })).rejects.toThrow('meanwhile');
  await expect(changeRoot(DELEGATED, DELEGATED, k1, k2)).resolves.toBeDefined();
});

it('two people who sign at the same time see each other', async () => {
  await begin();
  await publishTo('stable', '1.1.0', ci);
  const signAs = async (person: typeof k1) => {
    const deps = publisher(person);
    const trust = must(deps.trust.of('desktop'));
    const waiting = must(await readWaiting(deps, trust, { channel: 'stable', version: '1.1.0' }));
    return () => signWaiting(deps, trust, waiting, [person]);
  };
  const first = await signAs(k1);
  const second = await signAs(k2);
  const one = await first();
  const two = await second();
  expect(one.role ?? two.role).toBeDefined();
});

it('all given keys sign, so removing one of them loses no release', async () => {
  await init(DELEGATED, k1, k2);
  await publishTo('stable', '1.0.0', k1, k2, k3);
  const without = { ...DELEGATED, channels: { stable: keysOf(2, k2, k3), beta: keysOf(1, ci) } };
  expect((await changeRoot(DELEGATED, without, k1, k2)).lost).toEqual([]);
  expect(await offeredCold()).toBe('1.0.0');
});

it('an installed root counts more than the setting that reads an application unverified', async () => {
  await begin();
  const root = trusted.root();
  const trust = createTrust({
    store: world.memory,
    clock: world.clock,
    roots: new Map([['desktop', root]]),
    unsigned: new Set(['desktop']),
    signers: async () => [],
    freshMs: FRESH_MS,
  });
  await forge((signed) => Object.assign(offerIn(signed, 0), { status: 'paused' }), { number: 2 });
  await expect(readRevision({ ...world.parts, trust }, 'desktop')).rejects.toThrow(
    'is not the one that the signed timestamp names',
  );
});
