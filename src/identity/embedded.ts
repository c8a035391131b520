import { AppError } from '../errors.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { accountIdOf, createAccount, readAccount } from './account.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { checkPassword, type PasswordHasher } from './password.ts';

/** Accounts in the store itself: no mail, active at once, passwords reset by staff. */
export function createEmbeddedProvider(
  deps: AppendDeps & { readonly passwords: PasswordHasher },
): IdentityProvider {
  const { store, passwords } = deps;
  return {
    name: 'embedded',
    register: async ({ email, password, name }) => {
      checkPassword(password);
      // Hashed and offered to the store whether or not the address is taken: it costs the same.
      await createAccount(deps, {
        provider: 'embedded',
        subject: email,
        email,
        emailVerified: false,
        name,
        providerTier: null,
        password: await passwords.hash(password),
      });
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
