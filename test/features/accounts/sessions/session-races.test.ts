import { describe, it } from 'vitest';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { createSeededRandomness } from '../../../support/clock.ts';
import { ENDINGS, type Ending, locksAfterChange, raceRefresh, raceSignIn } from './session-race.ts';
import { inSomeOrders } from './turns.ts';

/** Some orders of each race. `session-races.system.test.ts` has every order. */

const ORDERS = 25;
const { fraction } = createSeededRandomness(20_261_121);

const ALL: readonly (readonly [string, Ending])[] = [
  ...ENDINGS,
  ['a lock after a change', locksAfterChange],
  ['an erasure', (deps, account) => eraseAccount(deps, account)],
];

describe('in some orders', () => {
  it.each(ALL)('a refresh racing %s leaves nothing that can be refreshed', async (_, end) => {
    await inSomeOrders(ORDERS, fraction, (turns, name) => raceRefresh(turns, name, end));
  });

  it.each(ALL.slice(2))(
    'a sign-in racing %s leaves no session that can be refreshed',
    async (_, end) => {
      await inSomeOrders(ORDERS, fraction, async (turns, name) => {
        await raceSignIn(turns, name, end);
      });
    },
  );
});
