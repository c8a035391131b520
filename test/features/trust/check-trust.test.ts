import { expect, it } from 'vitest';
import { revisionKey } from '../../../src/catalog/documents/keys.ts';
import { checkTrust } from '../../../src/features/trust/check-trust.ts';
import { createSharedClock } from '../../../src/store/shared-clock.ts';
import {
  ci,
  DAY_MS,
  k1,
  must,
  OPERATORS_DECIDE,
  useTrustedWorld,
} from '../../catalog/trust/trusted-world.ts';
import { trusting } from '../../support/trust.ts';

/** `slipway trust check`, on a machine whose clock may be wrong. */

const trusted = await useTrustedWorld();

/** Checks from a machine whose clock is behind the store's by this time, in milliseconds. */
async function checkFrom(behindMs: number, world: ReturnType<typeof trusted.begin>) {
  const store = { ...world.memory, clockOffsetMs: () => behindMs };
  const own = { ...world.clock, now: () => world.clock.now() - behindMs };
  const clock = createSharedClock(own, store);
  const trust = trusting({ store, clock }, [trusted.root()], ci);
  const deps = { ...trusted.publisher(ci), store, clock, trust };
  return checkTrust(deps, must(trust.of('desktop')));
}

it('judges by the clock of the store, and names the clock of a machine that is far off', async () => {
  const world = trusted.begin();
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
  expect((await checkFrom(0, world)).problems).toEqual([]);
  await world.clock.advance(8 * DAY_MS);
  const { problems } = await checkFrom(8 * DAY_MS, world);
  expect(problems).toContainEqual(
    expect.stringMatching(/clock of this machine is 691200 s behind/),
  );
  expect(problems).toContainEqual(expect.stringMatching(/no valid timestamp|timestamp expired/));
  const ahead = await checkFrom(-6 * 60_000, world);
  expect(ahead.problems.join()).toContain('360 s ahead of');
  expect((await checkFrom(4 * 60_000, world)).problems.join()).not.toContain('clock');
});

it('names a revision that is missing below the newest one', async () => {
  const world = trusted.begin();
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) await trusted.publishTo('stable', version, ci);
  await world.memory.delete(revisionKey('desktop', 3));
  const { problems } = await checkFrom(0, world);
  expect(problems).toEqual([
    `Revision 4 of desktop was made from ${revisionKey('desktop', 3)}, which is missing or corrupt. It was compared with revision 2 instead. Restore ${revisionKey('desktop', 3)} from a backup.`,
  ]);
  expect(await trusted.offeredCold()).toBe('1.2.0');
});
