import { accountIdOf, createAccount, readAccount } from '../../src/identity/accounts/account.ts';
import type { Account } from '../../src/identity/accounts/account-document.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';

/** Creates an account without a password, which a benchmark can issue tokens and sessions for. */
export async function makeAccount(store: ObjectStore): Promise<Account> {
  const deps = { store, clock: systemClock, randomness: systemRandomness };
  const email = 'ada@example.org';
  await createAccount(deps, {
    provider: 'embedded',
    subject: email,
    email,
    emailVerified: false,
    name: null,
    providerTier: null,
    password: null,
  });
  const account = await readAccount(store, accountIdOf('embedded', email));
  if (account === undefined) throw new Error('The account was not created.');
  return account;
}
