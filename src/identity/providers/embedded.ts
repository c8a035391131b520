import { AppError } from '../../errors.ts';
import type { AppendDeps } from '../../sequence/append.ts';
import { accountIdOf, createAccount, readAccount } from '../accounts/account.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import { checkPassword } from '../passwords/password-rule.ts';
import type { IdentityProvider } from './identity-provider.ts';

/** What registering takes at the least, whatever the store has to do. */
const REGISTER_MS_MIN = 200;

/** Accounts in the store itself: no mail, active at once, passwords reset by admins. */
export function createEmbeddedProvider(
  deps: AppendDeps & { readonly passwords: PasswordHasher },
): IdentityProvider {
  const { store, clock, passwords } = deps;
  return {
    name: 'embedded',
    passwords,
    register: async ({ email, password, name }) => {
      await checkPassword(password, email);
      const due = clock.sleep(REGISTER_MS_MIN);
      // Hashed and offered to the store whether or not the address is taken: it costs us the same, and
      // the store a little less when it is.
      const created = createAccount(deps, {
        provider: 'embedded',
        subject: email,
        email,
        emailVerified: false,
        name,
        providerTier: null,
        password: await passwords.hash(password),
      });
      const [outcome] = await Promise.allSettled([created, due]);
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    },
    verifyPassword: async ({ email, password }) => {
      const account = await readAccount(store, accountIdOf('embedded', email));
      const isRight = await passwords.verify(account?.password ?? null, password);
      if (!isRight || account === undefined) return undefined;
      const { subject, emailVerified, name } = account;
      return { subject, email: account.email, emailVerified, name, tier: null };
    },
    requestMail: async () => {
      throw new AppError(
        'not_configured',
        'This service sends no mail about accounts. Ask its operator, who can set a new password.',
      );
    },
    // Its accounts are where the store is.
    probe: async () => {
      await readAccount(store, accountIdOf('embedded', ''));
    },
  };
}
