import { AppError } from '../../../core/errors.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { accountIdOf, createAccount, readAccount } from '../accounts/account.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import { checkPassword } from '../passwords/password-rule.ts';
import type { IdentityProvider } from './identity-provider.ts';

/** Keeps accounts in the store. The provider sends no mail: accounts are active at once, and admins reset passwords. */
export function createEmbeddedProvider(
  deps: AppendDeps & { readonly passwords: PasswordHasher },
): IdentityProvider {
  const { store, passwords } = deps;
  return {
    name: 'embedded',
    passwords,
    register: async ({ email, password, name, signal }) => {
      await checkPassword(password, email);
      // Does the same work for registered and unknown addresses: hashing and creating take most of the time.
      return createAccount(deps, {
        provider: 'embedded',
        subject: email,
        email,
        emailVerified: false,
        name,
        providerTier: null,
        password: await passwords.hash(password, signal),
      });
    },
    verifyPassword: async ({ email, password, signal }) => {
      const account = await readAccount(store, accountIdOf('embedded', email));
      const isRight = await passwords.verify(account?.password ?? null, password, signal);
      if (!isRight || account === undefined) return undefined;
      const { subject, emailVerified, name } = account;
      return { subject, email: account.email, emailVerified, name, tier: null };
    },
    requestMail: async () => {
      throw new AppError(
        'not_configured',
        'This service sends no mail about accounts. Ask its operator to set a new password.',
      );
    },
    // This provider is available when the store is available.
    probe: async () => {
      await readAccount(store, accountIdOf('embedded', ''));
    },
  };
}
