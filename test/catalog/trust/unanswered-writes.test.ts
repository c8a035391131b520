import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createTrust } from '../../../src/catalog/trust/create-trust.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { renewFreshness } from '../../../src/catalog/writing/signing.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import { readWaiting, signWaiting } from '../../../src/releases/trust/sign-draft.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import type { World } from '../live/live-catalog.ts';
import { ci, DELEGATED, k1, k2, k3, must, useTrustedWorld } from './trusted-world.ts';

/** One 503, reset or lost answer on a write of trust: the command does what it was asked to. */

const trusted = await useTrustedWorld();
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const program = await makeArtifact(temporary.path, { filename: 'App.exe', content: 'program' });
let world: World;

/** Lets the time pass in which a command tries again, until it is done: signing takes real time. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  while (!isDone) {
    await world.clock.advance(20);
    await setImmediate();
  }
  return work;
}

/** Fails each write below these keys once: before the object is stored, or after it. @returns the keys of the writes */
function failOnce(place: RegExp, when: 'before' | 'after'): string[] {
  const failed: string[] = [];
  world.store.setPlan(({ method, key }) => {
    if (method !== 'create' || !place.test(key) || failed.includes(key)) return undefined;
    failed.push(key);
    return { when, code: 'store_unavailable' };
  });
  return failed;
}

/** A publisher whose writes fail as the plan says, also the writes of trust. */
function publisher(...signers: readonly Signer[]) {
  const deps = trusted.publisher(...signers);
  const { store } = world;
  const roots = new Map([['desktop', trusted.root()]]);
  const trust = createTrust({
    store,
    clock: world.clock,
    roots,
    unsigned: new Set(),
    signers: async () => signers,
    freshMs: deps.trust.freshMs,
  });
  return { ...deps, store, trust };
}

beforeEach(async () => {
  world = trusted.begin();
  await trusted.init(DELEGATED, k1, k2);
});

describe.each(['before', 'after'] as const)(
  'a write that fails once, %s the object is stored',
  (when) => {
    it('of a role, and of the timestamp of a publish', async () => {
      const failed = failOnce(/\/trust\//, when);
      const release = { version: '2.0.0-beta.1', channel: 'beta', artifacts: [program] };
      const published = await patiently(publish(publisher(ci), release));
      expect(published.status).toBe('active');
      expect(failed).toContainEqual(expect.stringContaining('/channels/beta/'));
      expect(failed).toContainEqual(expect.stringContaining('/timestamp/'));
      const fresh = await trusted.publisher().trust.of('desktop')?.freshness();
      expect(fresh?.revision.revision).toBe(await trusted.newestNumber());
    });

    it('of signatures, and of the role that they complete', async () => {
      await trusted.publishTo('stable', '1.0.0', ci);
      const failed = failOnce(/\/trust\/(signatures|channels)\//, when);
      const draft = { channel: 'stable', version: '1.0.0' };
      for (const person of [k1, k3]) {
        const deps = publisher(person);
        const trust = must(deps.trust.of('desktop'));
        const waiting = must(await readWaiting(deps, trust, draft));
        const { role } = await patiently(signWaiting(deps, trust, waiting, [person]));
        expect(role === undefined).toBe(person === k1);
        if (role === undefined) continue;
        const opening = { ...deps, signedRoles: { stable: role } };
        await patiently(
          openDraft(opening, { ...draft, application: 'desktop', allowPrerelease: true }),
        );
      }
      expect(failed.filter((key) => key.includes('/signatures/'))).toHaveLength(2);
      expect(failed.filter((key) => key.includes('/channels/stable/'))).toHaveLength(1);
      world.store.setPlan(undefined);
      expect(await trusted.offeredCold()).toBe('1.0.0');
    });

    it('of a renewed timestamp', async () => {
      const state = await trusted.presentState();
      await world.clock.advance(5_000);
      const failed = failOnce(/\/timestamp\//, when);
      const { version } = await patiently(renewFreshness(publisher(ci), 'desktop', state));
      expect(failed).toEqual([expect.stringContaining(String(version))]);
    });

    it('of a root and its delegations', async () => {
      const failed = failOnce(/\/trust\/(root|targets)\//, when);
      const changed = await patiently(trusted.changeRoot(DELEGATED, DELEGATED, k1, k2));
      expect(changed.root.version).toBe(2);
      expect(failed).toHaveLength(2);
    });
  },
);

it('a timestamp of other bytes means the next number', async () => {
  const state = await trusted.presentState();
  const first = await renewFreshness(publisher(ci), 'desktop', state);
  const second = await renewFreshness(publisher(k1), 'desktop', state);
  expect(second.version).toBe(first.version + 1);
});
