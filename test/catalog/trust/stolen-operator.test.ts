import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { WriterDeps } from '../../../src/catalog/change.ts';
import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import {
  delegationsKey,
  freshnessKey,
  freshnessPrefix,
  hintKey,
  revisionKey,
  roleKey,
} from '../../../src/catalog/keys.ts';
import { readLastRevisionNumber, readRevision } from '../../../src/catalog/read.ts';
import { createFreshness, type FreshRevision } from '../../../src/catalog/trust/freshness.ts';
import {
  digestOfSigned,
  renderMetadata,
  signMetadata,
} from '../../../src/catalog/trust/metadata.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { commitRoot, signRoot } from '../../../src/features/trust/change-root.ts';
import { checkTrust } from '../../../src/features/trust/check-trust.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import {
  contentOfRoot,
  FRESH_MS,
  keysOf,
  makeSigner,
  type RootOptions,
} from '../../support/trust.ts';
import { offered, problemsOf, type World } from '../memory/live-catalog.ts';
import { channelOf, ci, DAY_MS, k1, k2, k3, look, must, useTrustedWorld } from './trusted-world.ts';

/**
 * Campaigns of a thief who has the bucket and the key of an operator, until the people remove the key. The people use
 * their own keys alone, and delete no object.
 */

const trusted = await useTrustedWorld();
const { deleteAfter, deleteUnder, forge, init, newestNumber, offeredCold, present } = trusted;
const { publisher, publishTo, start, yank } = trusted;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
/** The key of a service, which is no key of a channel. */
const svc = makeSigner('svc');
const ci2 = makeSigner('ci2');
let world: World;

const OPTIONS: RootOptions = {
  people: keysOf(2, k1, k2, k3),
  operators: [svc, k1],
  channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci) },
  roles: {},
};
const WITHOUT_SVC = { ...OPTIONS, operators: [k1] };
const WITHOUT_CI = {
  ...OPTIONS,
  channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci2) },
};

/** Changes the root as `slipway trust remove`, `add` and `rotate` do, with --skip-corrupt. */
async function changeKeys(
  before: RootOptions,
  after: RootOptions,
  { removed = [], skip = [] }: { removed?: readonly Signer[]; skip?: readonly number[] } = {},
) {
  const people = [k1, k2, ...(after === WITHOUT_CI ? [ci2] : [])];
  const deps = { ...publisher(...people), skipCorrupt: skip };
  const distrusted = new Set(removed.map(({ key }) => key.id));
  const known = must(deps.trust.of('desktop'));
  const { version } = await known.newestRoot();
  known.distrust(distrusted);
  const newest = await readRevision(deps, 'desktop');
  const firstRevision = (await readLastRevisionNumber(deps, 'desktop')) + 1;
  const roles = newest?.signed.trust?.channels ?? {};
  const next = { ...contentOfRoot(world.parts, { ...after, firstRevision, roles }) };
  const previous = { ...contentOfRoot(world.parts, before), version };
  const signed = await signRoot({ ...next, version: version + 1 }, previous, people);
  const change = (given: WriterDeps) => {
    const trust = deps.trust.signingWith(people, given.store);
    trust.of('desktop')?.distrust(distrusted);
    return commitRoot(given, signed, { trust, reason: 'root' });
  };
  return change(deps);
}

async function settings(channel: string, given: object, ...signers: readonly Signer[]) {
  const action = { kind: 'set', settings: given } as const;
  const request = { application: 'desktop', channel, action, reason: null };
  const deps = { ...publisher(...signers), ensureConforming: async () => undefined };
  await changeChannel(deps, request as never);
}

const names = (signed: RevisionJson) => must(must(signed.trust).channels);

/** A role of a channel that says what its present role says, with another version and other signatures. */
async function storeRole(
  channel: string,
  edit: (signed: Record<string, unknown>) => object,
  ...signers: readonly Signer[]
) {
  const named = must(names(await present())[channel]);
  const stored = JSON.parse(must(await readText(world.memory, roleKey('desktop', channel, named))));
  const signed = { ...stored.signed, ...edit(stored.signed) };
  const reference = { version: Number(signed.version), digest: digestOfSigned(signed) };
  const metadata = await signMetadata(signed, signers);
  await world.memory.create(roleKey('desktop', channel, reference), renderMetadata(metadata));
  return reference;
}

const isWhole = (state: Partial<FreshRevision>): state is FreshRevision =>
  Object.keys(state).length === 3;

/** Signs a timestamp with any content. */
async function signTimestamp(
  signer: Signer,
  given: Partial<FreshRevision>,
  after = 0,
  freshMs = FRESH_MS,
) {
  const { store, clock } = world.parts;
  return createFreshness(
    { store, clock, application: 'desktop' },
    {
      state: isWhole(given) ? given : { ...(await trusted.presentState()), ...given },
      signer,
      after,
      now: clock.now(),
      freshMs,
    },
  );
}

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  );

/** The numbers that a message tells the operator to skip. */
const printedSkips = (message: string): number[] =>
  [...message.matchAll(/--skip-corrupt (\d+)/g)].map(([, number]) => Number(number));

beforeEach(async () => {
  world = trusted.begin();
  await init(OPTIONS, k1, k2);
  await publishTo('stable', '1.0.0', k1, k2);
  await publishTo('beta', '1.3.0', ci);
  await publishTo('stable', '1.1.0', k2, k3, k1);
});

describe('an attacker with the bucket and the key of an operator: cannot stop a channel for good', () => {
  const LAST = 2 ** 53 - 1;
  const NOWHERE = 'a'.repeat(64);
  it.each<[string, Signer, (number: number) => Promise<object>]>([
    [
      'the last version of a role',
      svc,
      async () => ({ stable: await storeRole('stable', () => ({ version: LAST })) }),
    ],
    [
      'the last version of a role, signed by the channel',
      ci,
      async () => ({ beta: await storeRole('beta', () => ({ version: LAST }), ci) }),
    ],
    [
      'a version above the number of the revision',
      ci,
      async (number) => ({ beta: await storeRole('beta', () => ({ version: number + 2 }), ci) }),
    ],
    [
      'a version that no key signed',
      svc,
      async (number) => ({ stable: await storeRole('stable', () => ({ version: number })) }),
    ],
    [
      'a version that one key of two signed',
      k3,
      async (number) => ({ stable: await storeRole('stable', () => ({ version: number }), k3) }),
    ],
    ['a role that never existed', svc, async () => ({ stable: { version: 3, digest: NOWHERE } })],
    [
      'a role that nobody can read',
      ci,
      async () => ({
        beta: await storeRole('beta', () => ({ version: 2, x_slipway_channel: 5 }), ci),
      }),
    ],
    [
      'the role of another channel',
      ci,
      async () => ({
        beta: await storeRole('beta', () => ({ version: 2, x_slipway_channel: 'stable' }), ci),
      }),
    ],
    ['a channel without keys', svc, async () => ({ nightly: { version: 1, digest: NOWHERE } })],
  ])('with %s', async (_name, thief, roles) => {
    const warm = await start();
    const number = (await newestNumber()) + 1;
    const named = await roles(number);
    const edit = (signed: RevisionJson) => Object.assign(names(signed), named);
    await forge(edit, { signer: thief });
    // The second step follows from the first one.
    await forge(() => undefined, { signer: thief });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    expect(problemsOf(warm)).toContain(`Revision ${number} of desktop`);
    const skip = printedSkips(await messageOf(yank('1.3.0', k1)));
    expect(skip).toEqual([number, number + 1]);
    const isCi = thief === ci;
    const after = isCi ? WITHOUT_CI : WITHOUT_SVC;
    await changeKeys(OPTIONS, after, { removed: [thief], skip });
    await look(warm);
    expect([await offered(warm), await offeredCold()]).toEqual(['1.1.0', '1.1.0']);
    await publishTo('stable', '1.2.0', k1, k2);
    await publishTo('beta', '1.4.0', isCi ? ci2 : ci, k1);
    await look(warm);
    expect([await offered(warm), await offeredCold()]).toEqual(['1.2.0', '1.2.0']);
    if (thief !== k3) {
      await forge((signed) => void channelOf(signed).offers.splice(0), { signer: thief });
      await look(warm);
      expect(await offered(warm)).toBe('1.2.0');
      await expect(yank('1.2.0', k1)).rejects.toThrow('has no valid signature by an operator');
    }
  });

  it.each([
    [
      'a hint far above the others',
      (signed: RevisionJson) => Object.assign(signed, { hint: LAST }),
    ],
    [
      'a draft that a later revision discarded',
      (signed: RevisionJson) =>
        Object.assign(channelOf(signed, 'beta'), {
          discarded: [{ version: '1.4.0', revision: LAST, at: '2026-11-21T09:00:00.000Z' }],
        }),
    ],
  ])('with %s', async (_name, edit) => {
    await forge(edit, { signer: svc });
    await world.memory.create(hintKey(LAST + 1), Buffer.from('{}'));
    await world.memory.create(hintKey(LAST), Buffer.from('{}'));
    const skip = printedSkips(await messageOf(yank('1.3.0', k1)));
    await changeKeys(OPTIONS, WITHOUT_SVC, { removed: [svc], skip });
    await publishTo('beta', '1.4.0', ci);
    await publishTo('stable', '1.2.0', k1, k2);
    expect(await offeredCold()).toBe('1.2.0');
  });

  it('with numbers that it jumps to, and with garbage', async () => {
    const warm = await start();
    const seconds = Math.floor(world.clock.now() / 1000);
    const lying = { revision: seconds - 900, digest: NOWHERE };
    // An operator may sign this one: it says that it was made from a revision that the store lacks.
    await forge((signed) => Object.assign(signed, { revision: seconds, previous: lying }), {
      signer: svc,
      number: seconds,
    }).catch(() => undefined);
    for (const each of [seconds + 1, 9_999_999_999]) {
      await world.tamper(revisionKey('desktop', each), () => '{}');
    }
    await world.clock.advance(10_000);
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    const skip = printedSkips(await messageOf(yank('1.3.0', k1)));
    expect(skip.every((each) => each <= seconds + 1)).toBe(true);
    await changeKeys(OPTIONS, WITHOUT_SVC, { removed: [svc], skip });
    await publishTo('stable', '1.2.0', k1, k2);
    expect(await newestNumber()).toBeLessThan(20);
    expect(await offeredCold()).toBe('1.2.0');
  });

  it.each([
    ['names a missing root', { trust: { root: { version: 7, digest: NOWHERE } } }],
    ['names a later revision', { revision: 150, digest: NOWHERE }],
    ['names another revision of this number', { digest: NOWHERE }],
    ['names a revision far above', { revision: LAST, digest: NOWHERE }],
  ])('with a timestamp that %s', async (_name, state) => {
    const warm = await start();
    const soon = Math.floor(world.clock.now() / 1000) + 290;
    const { version } = await signTimestamp(svc, state, soon, 89 * DAY_MS);
    const message = await messageOf(yank('1.3.0', k1));
    expect(message).toContain(
      _name.includes('another') ? 'timestamp' : freshnessKey('desktop', version),
    );
    if (_name.includes('root') || _name.includes('far')) {
      expect(message).toContain(`delete this object: ${freshnessKey('desktop', version)}`);
      expect(printedSkips(message)).toEqual([]);
    }
    await changeKeys(OPTIONS, WITHOUT_SVC, { removed: [svc] });
    await publishTo('stable', '1.2.0', k1, k2);
    await world.clock.advance(400_000);
    await look(warm);
    expect([await offered(warm), await offeredCold()]).toEqual(['1.2.0', '1.2.0']);
  });

  it('with a timestamp that never expires, or that is from the future', async () => {
    await signTimestamp(svc, {}, 0, 400 * DAY_MS);
    await yank('1.3.0', k1);
    await world.clock.advance(8 * DAY_MS);
    await expect(offeredCold()).rejects.toThrow('not known to be new');
  });
});

describe('an attacker with the bucket and the key of an operator: settings that people took back', () => {
  /** Beta has 9.0.0, and stable inherits beta until people take that back. */
  async function takeBack(): Promise<{ old: RevisionJson; number: number }> {
    await publishTo('beta', '9.0.0', ci);
    await settings('beta', { inherits: null }, ci);
    await settings('stable', { inherits: 'beta' }, k1, k2);
    const old = await present();
    expect(await offeredCold()).toBe('9.0.0');
    await settings('stable', { inherits: null }, k1, k2);
    expect(await offeredCold()).toBe('1.1.0');
    return { old, number: await newestNumber() };
  }
  /** Deletes the newest revisions, and signs the old state again. */
  async function bringBack(old: RevisionJson, number: number, root = old.trust?.root) {
    await deleteAfter(number - 1);
    await deleteUnder(freshnessPrefix('desktop'));
    const trust = { ...must(old.trust), root: must(root) };
    const edit = (signed: RevisionJson) =>
      Object.assign(signed, { channels: old.channels, trust, revision: number });
    await forge(edit, { signer: svc });
    const { digest } = JSON.parse(
      must(await readText(world.memory, revisionKey('desktop', number))),
    );
    await signTimestamp(svc, { revision: number, digest, trust });
  }

  it('cannot be brought back to a process that has the newest root', async () => {
    const { old, number } = await takeBack();
    const before = trusted.root();
    const { root } = await changeKeys(OPTIONS, OPTIONS);
    trusted.install(root);
    const { trust } = await present();
    await bringBack(old, number + 1, must(trust).root);
    expect(await messageOf(offeredCold())).toContain('could not be loaded');
    await expect(yank('1.3.0', k1)).rejects.toThrow('the root of trust states version');
    // A process with the old root reads the newer one, and holds the revision to it.
    trusted.install(before);
    expect(await messageOf(offeredCold())).toContain('could not be loaded');
    trusted.install(root);
    await changeKeys(OPTIONS, WITHOUT_SVC, { removed: [svc], skip: [number + 1] });
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('cannot be brought back to a process that runs, before people rotate', async () => {
    const { old, number } = await takeBack();
    const warm = await start();
    await bringBack(old, number);
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    await deleteAfter(number - 1);
    await bringBack(old, number + 1).catch(() => undefined);
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
  });

  it('stay, when a revision that is lost or corrupt stops no process', async () => {
    const { number } = await takeBack();
    await changeKeys(OPTIONS, OPTIONS);
    for (const junk of [undefined, '{}', 'x']) {
      for (let each = number - 3; each <= number; each++) {
        await world.tamper(revisionKey('desktop', each), () => junk);
      }
      expect(await offeredCold()).toBe('1.1.0');
    }
    const deps = publisher(k1);
    const { problems } = await checkTrust(deps, must(deps.trust.of('desktop')));
    expect(problems.join()).toContain(revisionKey('desktop', number));
    await yank('1.1.0', k1);
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('stay, when the targets metadata of the root are gone for a while', async () => {
    const { old, number } = await takeBack();
    const { root } = await changeKeys(OPTIONS, OPTIONS);
    trusted.install(root);
    const { trust } = await present();
    await bringBack(old, number + 1, must(trust).root);
    const key = delegationsKey('desktop', 2);
    const text = must(await readText(world.memory, key));
    await world.memory.delete(key);
    const warm = await start();
    expect(await messageOf(offered(warm))).toContain('could not be loaded');
    await world.memory.create(key, Buffer.from(text));
    for (let each = 0; each < 3; each++) {
      await world.clock.advance(70_000);
      await look(warm);
    }
    expect(await messageOf(offered(warm))).not.toBe('9.0.0');
  });
});

describe('a store that fails once at each write of trust', () => {
  const WRITES = /\/(trust|releases)\//;
  /** Runs the work with the fault at the first, second, third … such write, until there are no more. */
  async function atEachWrite(when: 'before' | 'after', work: (round: number) => Promise<unknown>) {
    for (let target = 1; ; target++) {
      let count = 0;
      world.store.setPlan(({ method, key }) => {
        if (method !== 'create' || !WRITES.test(key)) return undefined;
        return ++count === target ? { when, reason: '503' } : undefined;
      });
      await work(target);
      world.store.setPlan(undefined);
      if (count < target) return target - 1;
    }
  }
  const faulty = (...signers: readonly Signer[]) => {
    const deps = publisher(...signers);
    const trust = deps.trust.signingWith(signers, world.store);
    return { ...deps, store: world.store, trust };
  };

  it.each(['before', 'after'] as const)('(%s the write) does what it was asked', async (when) => {
    const releases = await atEachWrite(when, async (round) => {
      const parts = { ...world.parts, ...faulty(ci) };
      const version = `3.${round}.0`;
      const artifact = await makeArtifact(temporary.path, { content: `${when} ${round}` });
      await publish(parts, { version, channel: 'beta', artifacts: [artifact] });
      expect(channelOf(await present(), 'beta').offers.at(-1)?.version).toBe(version);
    });
    expect(releases).toBeGreaterThan(2);
    const roots = await atEachWrite(when, async () => {
      const deps = faulty(k1, k2);
      const known = must(deps.trust.of('desktop'));
      const { version } = await known.lookForRoots();
      const firstRevision = (await newestNumber()) + 1;
      const roles = names(await present());
      const next = contentOfRoot(world.parts, { ...OPTIONS, firstRevision, roles });
      const previous = { ...contentOfRoot(world.parts, OPTIONS), version };
      const signed = await signRoot({ ...next, version: version + 1 }, previous, [k1, k2]);
      await commitRoot(deps, signed, { trust: deps.trust, reason: 'root' });
      expect(must((await present()).trust).root.version).toBe(version + 1);
    });
    expect(roots).toBeGreaterThan(2);
    expect(await offeredCold()).toBe('1.1.0');
  });
});
