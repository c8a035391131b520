import { beforeEach, describe, expect, it } from 'vitest';
import { freshnessKey, hintKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { offered, problemsOf, type World } from '../live/live-catalog.ts';
import {
  ci2,
  messageOf,
  names,
  OPTIONS,
  printedSkips,
  svc,
  useStolenKey,
  WITHOUT_CI,
  WITHOUT_SVC,
} from './stolen-key.ts';
import { channelOf, ci, DAY_MS, k1, k2, k3, look, useTrustedWorld } from './trusted-world.ts';

/**
 * Campaigns of a thief who has the bucket and the key of an operator, until the people remove the key. The people use
 * their own keys alone, and delete no object.
 */

const trusted = await useTrustedWorld();
const { forge, init, newestNumber, offeredCold, publishTo, start, yank } = trusted;
let world: World;
const { changeKeys, signTimestamp, storeRole } = useStolenKey(trusted, () => world);

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
    const after = thief === ci ? WITHOUT_CI : WITHOUT_SVC;
    await changeKeys(OPTIONS, after, { removed: [thief], skip });
    await publishTo('stable', '1.2.0', k1, k2);
    await look(warm);
    expect([await offered(warm), await offeredCold()]).toEqual(['1.2.0', '1.2.0']);
    if (thief !== ci) return;
    await publishTo('beta', '1.4.0', ci2);
    await forge((signed) => void channelOf(signed).offers.splice(0), { signer: thief });
    await look(warm);
    expect(await offered(warm)).toBe('1.2.0');
    await expect(yank('1.2.0', k1)).rejects.toThrow('has no valid signature by an operator');
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
