import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  delegationsKey,
  freshnessKey,
  freshnessPrefix,
  revisionKey,
  roleKey,
  roleSignatureKey,
  rootKey,
} from '../../../src/catalog/documents/keys.ts';
import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { createFreshnessWatch } from '../../../src/catalog/live/watch-freshness.ts';
import { createTrust } from '../../../src/catalog/trust/create-trust.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { renewFreshness } from '../../../src/catalog/writing/signing.ts';
import { AppError } from '../../../src/core/errors.ts';
import { listApplications } from '../../../src/releases/applications/list-applications.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { FRESH_MS, keysOf, makeSigner } from '../../support/trust.ts';
import { offered, problemsOf, useCatalogs, type World } from '../live/live-catalog.ts';
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
  OPERATORS_DECIDE,
  offerIn,
  untilSavedRevision,
  useTrustedWorld,
} from './trusted-world.ts';

/** Attacks that a hostile reader of the code found. Each of them worked once. */

const trusted = await useTrustedWorld();
const { changeRoot, deleteAfter, deleteUnder, forge, init, newestNumber, offeredCold } = trusted;
const { initDelegated, plantRelease, present, presentState, publisher, publishStable } = trusted;
const { publishTo, publishUnsigned, readDraft, signDraft, start, yank } = trusted;
const catalogs = useCatalogs();
const other = makeSigner('other');
let world: World;

async function begin(options = OPERATORS_DECIDE): Promise<void> {
  await init(options, k1, ci);
  await publishTo('stable', '1.0.0', ci);
  await publishTo('stable', '1.1.0', ci);
}

const timestamps = () => listKeys(world.memory, freshnessPrefix('desktop'));

/** Watches the timestamps as a service does. */
function watchFreshness(signer: Signer) {
  const log = pino({ level: 'silent' });
  const deps = { ...publisher(signer), clock: world.clock, log, application: 'desktop' };
  return must(createFreshnessWatch(deps));
}

const NESTED = `{"signatures":[],"signed":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
const JUNK = [
  ['a large object', Buffer.alloc(5_000_001, ' ')],
  ['a deeply nested object', Buffer.from(NESTED)],
  ['an empty object', Buffer.from('{}')],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
] as const;

beforeEach(() => {
  world = trusted.begin();
});

describe('where operators decide, an attacker with the bucket', () => {
  it('cannot put a release into the history before the first root', async () => {
    await publishUnsigned('desktop', '1.0.0');
    await publishUnsigned('desktop', '1.1.0');
    await init({ ...OPERATORS_DECIDE, firstRevision: 3 }, k1, ci);
    await publishTo('stable', '1.2.0', ci);
    const planted = await plantRelease('9.0.0');
    await deleteAfter(2);
    await deleteUnder(freshnessPrefix('desktop'));
    await forge((signed) => channelOf(signed).offers.push(planted), { number: 2 });
    await expect(offeredCold()).rejects.toThrow('not known to be new');
    // The next signed change would make the planted release a signed one.
    await expect(publishTo('stable', '1.2.1', ci)).rejects.toThrow(rootKey('desktop', 1));
  });

  it('cannot put a release into the history before the installed root', async () => {
    await begin();
    const old = await timestamps();
    await world.clock.advance(DAY_MS);
    const { root } = await changeRoot(OPERATORS_DECIDE, OPERATORS_DECIDE, k1, ci);
    trusted.install(root);
    await publishTo('stable', '1.2.0', ci);
    expect(await offeredCold()).toBe('1.2.0');
    const planted = await plantRelease('9.0.0');
    await deleteAfter(root.firstRevision - 1);
    await deleteUnder(freshnessPrefix('desktop'), old);
    const edit = (signed: RevisionJson) => {
      Object.assign(signed, { trust: undefined });
      channelOf(signed).offers.push(planted);
    };
    await forge(edit, { number: root.firstRevision - 1 });
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
    await expect(publishTo('stable', '1.2.1', ci)).rejects.toThrow(rootKey('desktop', 2));
  });

  it.each(JUNK)(
    'cannot stop a process with %s as the next root and as timestamps',
    async (_name, junk) => {
      await begin();
      const warm = await start();
      const seconds = Math.floor(world.clock.now() / 1000);
      await world.memory.create(rootKey('desktop', 2), junk);
      await world.memory.create(freshnessKey('desktop', seconds + 200), junk);
      await yank();
      await world.clock.advance(200_000);
      await look(warm);
      expect([await offered(warm), await offeredCold()]).toEqual(['1.0.0', '1.0.0']);
      expect(problemsOf(warm)).toContain(rootKey('desktop', 2));
    },
  );

  it('cannot hide the newest timestamp behind timestamps of the future', async () => {
    await begin();
    for (let each = 9_999_999_900; each < 9_999_999_925; each++) {
      await world.memory.create(freshnessKey('desktop', each), Buffer.from('{}'));
    }
    await renewFreshness(publisher(ci), 'desktop', await presentState());
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('cannot make an old state new by a service that starts from an old saved state', async () => {
    await begin();
    const old = must(await publisher().trust.of('desktop')?.freshness());
    const state = await presentState();
    const before = await timestamps();
    await yank();
    await deleteAfter(state.revision);
    await deleteUnder(freshnessPrefix('desktop'), before);
    await world.clock.advance(DAY_MS + 1_000);
    const watch = watchFreshness(ci);
    watch.restore(old);
    await watch.look();
    expect(watch.refusal()).toBeUndefined();
    await watch.renew(state);
    expect(watch.newest()).toEqual(old);
    expect(await timestamps()).toEqual(before);
  });

  it('cannot make the operator sign that an earlier revision is the newest', async () => {
    await begin();
    const before = await presentState();
    await yank();
    const renewed = renewFreshness(publisher(ci), 'desktop', before);
    await expect(renewed).rejects.toThrow('it is not the newest state');
    // The yank stays a floor.
    await deleteAfter(before.revision);
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
  });

  it('cannot stop commands with an application that nobody signed', async () => {
    await begin();
    await publishUnsigned('evil', '1.0.0');
    const listed = await listApplications(publisher(), undefined);
    expect(listed.map(({ application }) => application)).toEqual(['desktop']);
    expect(listed).toMatchObject([{ newest: { version: '1.1.0' } }]);
  });

  it('and a removed key cannot change what a running process offers, while the new root is deleted', async () => {
    const options = { ...OPERATORS_DECIDE, operators: [ci, other] };
    await begin(options);
    const warm = await start();
    const { revision } = await changeRoot(options, OPERATORS_DECIDE, k1, ci);
    await world.memory.delete(rootKey('desktop', 2));
    await world.memory.delete(revisionKey('desktop', revision));
    const edit = (signed: RevisionJson) => Object.assign(offerIn(signed, 1), { status: 'yanked' });
    await forge(edit, { signer: other });
    await world.clock.advance(200_000);
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    expect(problemsOf(warm)).toContain('Root 2 of desktop is missing');
  });
});

describe('a signer of a service', () => {
  it('goes on after an outage of hours', async () => {
    await begin();
    const state = await presentState();
    let isDown = false;
    const sign: Signer['sign'] = async (bytes) => {
      if (isDown) throw new AppError('signer_failed', 'The token is locked.');
      return ci.sign(bytes);
    };
    const watch = watchFreshness({ ...ci, sign });
    const run = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        await world.clock.advance(3_600_000);
        await watch.look();
        await watch.renew(state);
      }
    };
    await watch.look();
    await run(1);
    const before = must(watch.newest());
    isDown = true;
    await run(5);
    expect(watch.newest()).toEqual(before);
    isDown = false;
    await run(24 * 8);
    expect(watch.problems()).toEqual([]);
    expect(must(watch.newest()).signedAt).toBe(world.clock.now());
  });

  it('that hangs does not stop the saving of a yank, which counts after a restart', async () => {
    await begin();
    const directory = await makeTemporaryDirectory();
    let asked = 0;
    const sign = () => {
      asked++;
      return new Promise<Uint8Array>(() => undefined);
    };
    const warm = await start(directory.path, { ...ci, sign });
    const number = await newestNumber();
    await untilSavedRevision(world, directory.path, number);
    // Now a renewal is due.
    await world.clock.advance(3_700_000);
    expect(asked).toBe(1);
    const before = await timestamps();
    await yank();
    await untilSavedRevision(world, directory.path, number + 1);
    expect(await offered(warm)).toBe('1.0.0');
    await warm.stop();
    await deleteAfter(number);
    await deleteUnder(freshnessPrefix('desktop'), before);
    expect(await offered(await start(directory.path))).toBe('1.0.0');
    await directory.remove();
  });
});

describe('where people sign, an attacker with the bucket', () => {
  beforeEach(initDelegated);

  it('cannot make CI sign an old state anew', async () => {
    const old = await newestNumber();
    const before = await timestamps();
    await yank();
    await world.clock.advance(90 * DAY_MS);
    await renewFreshness(publisher(ci), 'desktop', await presentState());
    expect(await offeredCold()).toBe('1.0.0');
    await deleteAfter(old);
    // The timestamps name the deleted yank.
    const beta = () => publishTo('beta', '2.0.0-beta.1', ci);
    await expect(beta()).rejects.toThrow(freshnessPrefix('desktop'));
    await deleteUnder(freshnessPrefix('desktop'), before);
    await expect(beta()).rejects.toThrow('is not known to be the newest');
    await expect(offeredCold()).rejects.toThrow('not known to be new');
  });

  it('cannot take the versions of a role back by deleting it', async () => {
    await publishStable('1.2.0', k1, k3);
    const warm = await start();
    const roles = await listKeys(world.memory, 'apps/desktop/trust/channels/stable/');
    const newest = String(roles.at(-1));
    const text = await readText(world.memory, newest);
    await deleteUnder('apps/desktop/trust/channels/stable/');
    await expect(publishTo('stable', '1.3.0', k1, k2)).rejects.toThrow(`${newest} is missing`);
    await look(warm);
    expect(await offered(warm)).toBe('1.2.0');
    await world.memory.create(newest, Buffer.from(String(text)));
    await publishTo('stable', '1.3.0', k1, k2);
    expect((await present()).trust?.channels?.stable?.version).toBe(4);
    expect(await offeredCold()).toBe('1.3.0');
  });

  it('and the key of CI cannot put a role in the place of the delegations', async () => {
    await publishTo('beta', '9.0.0', ci);
    const [role] = await listKeys(world.memory, 'apps/desktop/trust/channels/stable/1.');
    const text = await readText(world.memory, String(role));
    await world.tamper(delegationsKey('desktop', 1), () => text);
    await expect(publishTo('stable', '1.2.0', ci)).rejects.toThrow(
      'it is not the targets metadata',
    );
    const planted = offerIn(await present(), 0, 'beta');
    await forge((signed) => channelOf(signed).offers.push(planted), { signer: ci });
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
  });

  it('cannot make a catalog unreadable with junk in the place of the next role', async () => {
    await publishStable('1.2.0');
    const { digest, next } = await readDraft('1.2.0');
    const key = roleKey('desktop', 'stable', { version: Number(next.version), digest });
    for (const junk of ['{}', JSON.stringify({ signed: next, signatures: [] })]) {
      await world.tamper(key, () => junk);
      await expect(signDraft('1.2.0', k1, k2)).rejects.toThrow('Delete this object');
      expect(await offeredCold()).toBe('1.1.0');
    }
    await world.memory.delete(key);
    expect(await signDraft('1.2.0', k1)).toBe(true);
    expect(await offeredCold()).toBe('1.2.0');
  });

  it('cannot stop people from signing with junk in the place of a signature', async () => {
    await publishStable('1.2.0');
    const { digest } = await readDraft('1.2.0');
    const key = roleSignatureKey('desktop', digest, k2.key.id);
    for (const junk of [' '.repeat(5_000), '{', JSON.stringify({ keyid: k2.key.id, sig: 'ab' })]) {
      await world.tamper(key, () => junk);
      expect((await readDraft('1.2.0')).signatures).toEqual([]);
      await expect(signDraft('1.2.0', k2)).rejects.toThrow('Delete it, and sign again');
    }
    expect(await signDraft('1.2.0', k1)).toBe(false);
    expect(await signDraft('1.2.0', k3)).toBe(true);
    expect(await offeredCold()).toBe('1.2.0');
  });
});

describe('where people sign, an attacker with the bucket and the key of CI', () => {
  it('cannot make people sign a planted release when they change the root', async () => {
    await initDelegated();
    await publishTo('beta', '9.0.0', ci);
    const planted = offerIn(await present(), 0, 'beta');
    await forge((signed) => channelOf(signed).offers.push(planted), { signer: ci });
    const { lost } = await changeRoot(DELEGATED, DELEGATED, k1, k2);
    expect(lost).toEqual([{ channel: 'stable', version: '9.0.0' }]);
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('cannot make people sign other settings when they change the root', async () => {
    await initDelegated();
    await publishTo('beta', '9.0.0', ci);
    const settings = { inherits: 'beta', allow_downgrade: true };
    await forge((signed) => Object.assign(channelOf(signed), settings), { signer: ci });
    await changeRoot(DELEGATED, DELEGATED, k1, k2);
    const { inherits, allow_downgrade: allows } = channelOf(await present());
    expect({ inherits, allows }).toEqual({ inherits: null, allows: undefined });
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('cannot choose the settings that the first role of a channel signs', async () => {
    await init(DELEGATED, k1, k2);
    await publishTo('beta', '9.0.0', ci);
    const chosen = { inherits: 'beta', allow_downgrade: true, offers: [], retired: [] };
    await forge((signed) => Object.assign(signed.channels, { stable: chosen }), { signer: ci });
    const first = publishTo('stable', '1.0.0', k1, k2);
    await expect(first).rejects.toThrow('inherits from beta and allows downgrades');
    expect(await offeredCold()).not.toBe('9.0.0');
  });

  it('cannot stop a yank with other settings, which the people can set themselves', async () => {
    await initDelegated();
    const chosen = { allow_downgrade: true };
    await forge((signed) => Object.assign(channelOf(signed), chosen), { signer: ci });
    await yank('1.1.0', k1);
    expect(channelOf(await present()).allow_downgrade).toBeUndefined();
    expect(await offeredCold()).toBe('1.0.0');
    const action = { kind: 'set', settings: { allowsDowngrade: true } } as const;
    const request = { application: 'desktop', channel: 'stable', action, reason: null };
    const ensureConforming = async () => undefined;
    const change = (...signers: Signer[]) =>
      changeChannel({ ...publisher(...signers), ensureConforming }, request);
    await expect(change(ci)).rejects.toThrow('needs signatures by 2 of');
    await change(k1, k2);
    expect(channelOf(await present()).allow_downgrade).toBe(true);
    expect(await offeredCold()).toBe('1.0.0');
  });
});

describe('a change of the root', () => {
  it.each([
    ['removes the only key that signed a role', keysOf(1, k1, other), keysOf(1, other), [other]],
    ['raises a threshold', keysOf(1, k1), keysOf(2, k1, other), [k1, other]],
  ] as const)(
    'that %s lists the releases that nobody sees any more',
    async (_name, before, after, able) => {
      const options = { people: keysOf(1, k3), operators: [ci], channels: { stable: before } };
      await init(options, k3, ci);
      await publishTo('stable', '1.0.0', k1, ci);
      await publishTo('stable', '1.1.0', k1, ci);
      const { lost } = await changeRoot(
        options,
        { ...options, channels: { stable: after } },
        k3,
        ci,
      );
      const versions = lost.map(({ channel, version }) => `${channel} ${version}`).sort();
      expect(versions).toEqual(['stable 1.0.0', 'stable 1.1.0']);
      expect(await offeredCold()).toBe('no_release');
      await yank();
      expect(offerIn(await present(), 1)).toMatchObject({ version: '1.1.0', status: 'yanked' });
      await publishTo('stable', '1.2.0', ...able, ci);
      expect(await offeredCold()).toBe('1.2.0');
    },
  );

  it.each([
    ['the delegations', delegationsKey('desktop', 2)],
    ['the root', rootKey('desktop', 2)],
    ['its first revision', 'apps/desktop/catalog/'],
  ])('that stops before it stores %s does not stop the others', async (_name, stopsAt) => {
    await initDelegated();
    const warm = await start();
    world.store.setPlan(({ method, key }) => {
      if (method === 'create' && key.startsWith(stopsAt)) throw new Error('killed');
      return undefined;
    });
    await expect(changeRoot(DELEGATED, DELEGATED, k1, k2)).rejects.toThrow('killed');
    world.store.setPlan(undefined);
    expect(await offeredCold()).toBe('1.1.0');
    await yank();
    await publishStable('1.2.0', k1, k3);
    await yank('1.2.0');
    await look(warm);
    expect([await offered(warm), await offeredCold()]).toEqual(['1.0.0', '1.0.0']);
  });
});

it('after the root has expired, nobody publishes or signs, and a yank is possible', async () => {
  await initDelegated();
  await publishStable('1.2.0', k1);
  await world.clock.advance(366 * DAY_MS);
  await renewFreshness(publisher(ci), 'desktop', await presentState());
  const expired = 'Root 1 of desktop expired';
  await expect(publishTo('beta', '2.0.0-beta.1', ci)).rejects.toThrow(expired);
  await expect(publishTo('stable', '1.3.0', ci)).rejects.toThrow(expired);
  await expect(signDraft('1.2.0', k2)).rejects.toThrow(expired);
  expect(await offeredCold()).toBe('1.1.0');
  await yank();
  expect(await offeredCold()).toBe('1.0.0');
});

it('an application that the operator names as unsigned is read without verification', async () => {
  await init(OPERATORS_DECIDE, k1, ci);
  await publishTo('stable', '1.0.0', ci);
  await forge((signed) => Object.assign(signed, { trust: undefined }));
  const trust = createTrust({
    store: world.memory,
    clock: world.clock,
    roots: new Map([['other', trusted.root()]]),
    unsigned: new Set(['desktop']),
    signers: async () => [],
    freshMs: FRESH_MS,
  });
  expect(await offered(await catalogs.start(world, { trust }))).toBe('1.0.0');
});
