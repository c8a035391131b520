import { beforeAll, describe, expect, it } from 'vitest';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { checkPassword } from '../../../../src/features/accounts/passwords/password-rule.ts';
import { createSeededRandomness } from '../../../support/clock.ts';
import { rounds } from '../../../support/rounds.ts';
import { ENDINGS, type Ending, locksAfterChange, raceRefresh, raceSignIn } from './session-race.ts';
import { inEveryOrder, inSomeOrders, type Turns } from './turns.ts';

/** Thousands of orders, each with many store requests, on a machine that runs other tests as well. */
const TIMEOUT_MS = 300_000;

/** All of thousands of orders in the soak; in CI, a random part of them. */
async function inManyOrders(
  race: (turns: Turns, name: string) => Promise<void>,
  order?: 'first' | 'last',
): Promise<number> {
  const times = rounds(300, Number.POSITIVE_INFINITY);
  if (!Number.isFinite(times)) return inEveryOrder(race, order);
  return inSomeOrders(times, createSeededRandomness(20_261_124).fraction, race);
}

// The first call loads the list of common passwords. Loading takes another time in every run, and so makes another order.
beforeAll(() => checkPassword('a password that is not common', 'ada@example.com'));

describe('a refresh racing', { timeout: TIMEOUT_MS }, () => {
  it.each([...ENDINGS, ['a lock after a change', locksAfterChange] as const])(
    '%s leaves nothing that can be refreshed, in every order',
    async (what, end) => {
      const race = (turns: Turns, name: string) => raceRefresh(turns, name, end);
      const isLong = end === locksAfterChange;
      const orders = isLong ? await inManyOrders(race) : await inEveryOrder(race);
      console.log(`a refresh racing ${what}: ${orders} orders, 0 sessions left`);
      expect(orders).toBeGreaterThan(100);
    },
  );

  it('an erasure leaves nothing that can be refreshed', async () => {
    const race = (turns: Turns, name: string) => raceRefresh(turns, name, eraseAccount);
    const every = (await inManyOrders(race, 'first')) + (await inManyOrders(race, 'last'));
    const some = await inSomeOrders(
      rounds(50, 1_000),
      createSeededRandomness(20_261_121).fraction,
      race,
    );
    console.log(`a refresh racing an erasure: ${every + some} orders, 0 sessions left`);
    expect(every).toBeGreaterThan(500);
  });
});

describe('a sign-in racing', { timeout: TIMEOUT_MS }, () => {
  const raceOf = (end: Ending) => {
    const counts = { signedIn: 0 };
    const race = async (turns: Turns, name: string): Promise<void> => {
      if (await raceSignIn(turns, name, end)) counts.signedIn += 1;
    };
    return { counts, race, fraction: createSeededRandomness(20_261_121).fraction };
  };

  it.each<readonly [string, Ending]>([
    ...ENDINGS.slice(2),
    ['a lock after a change', locksAfterChange],
  ])('%s leaves no session that can be refreshed', async (what, end) => {
    const { race, counts, fraction } = raceOf(end);
    const every = await inManyOrders(race, 'first');
    const orders = every + (await inSomeOrders(rounds(50, 500), fraction, race));
    console.log(
      `a sign-in racing ${what}: ${orders} orders, ${counts.signedIn} let in first, 0 left`,
    );
    expect(every).toBeGreaterThan(100);
    expect(counts.signedIn).toBeGreaterThan(0);
  });

  it('an erasure leaves no session that can be refreshed', async () => {
    const { race, counts } = raceOf(eraseAccount);
    const orders = await inManyOrders(race, 'first');
    console.log(
      `a sign-in racing an erasure: ${orders} orders, ${counts.signedIn} let in first, 0 left`,
    );
    expect(counts.signedIn).toBeGreaterThan(0);
  });
});
