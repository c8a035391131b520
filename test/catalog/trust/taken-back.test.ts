import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  delegationsKey,
  freshnessPrefix,
  revisionKey,
} from '../../../src/catalog/documents/keys.ts';
import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { commitRoot, signRoot } from '../../../src/features/trust/change-root.ts';
import { checkTrust } from '../../../src/features/trust/check-trust.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { contentOfRoot } from '../../support/trust.ts';
import { offered, type World } from '../live/live-catalog.ts';
import { messageOf, names, OPTIONS, svc, useStolenKey, WITHOUT_SVC } from './stolen-key.ts';
import { channelOf, ci, k1, k2, k3, look, must, useTrustedWorld } from './trusted-world.ts';

/** Campaigns of a thief who brings settings back that people took back; and a store that fails at each write of trust. */

const trusted = await useTrustedWorld();
const { deleteAfter, deleteUnder, forge, init, newestNumber, offeredCold, present } = trusted;
const { publisher, publishTo, start, yank } = trusted;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
let world: World;
const { changeKeys, signTimestamp } = useStolenKey(trusted, () => world);

async function settings(channel: string, given: object, ...signers: readonly Signer[]) {
  const action = { kind: 'set', settings: given } as const;
  const request = { application: 'desktop', channel, action, reason: null };
  const deps = { ...publisher(...signers), ensureConforming: async () => undefined };
  await changeChannel(deps, request as never);
}

beforeEach(async () => {
  world = trusted.begin();
  await init(OPTIONS, k1, k2);
  await publishTo('stable', '1.0.0', k1, k2);
  await publishTo('beta', '1.3.0', ci);
  await publishTo('stable', '1.1.0', k2, k3, k1);
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
