import { AppError } from '../../core/errors.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { readAccount } from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { type ChangeDeps, changeAccount, requireOpenAccount } from './accounts/change-account.ts';
import { revokeAllDeveloperKeys } from './developer-keys/developer-keys.ts';
import { notSignedIn, unknownAccount } from './identity-errors.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import { checkPassword } from './passwords/password-rule.ts';
import { type OwnerProof, type ProofDeps, proveOwner } from './prove-password.ts';
import { endAllSessions } from './sessions/end-session.ts';

/**
 * Sets a password, for an admin. It ends every session and revokes every developer key of the account. After an error
 * of the store, the new password may be valid.
 *
 * @throws AppError `unknown_account`, `weak_password`, `not_configured` where the provider keeps the password
 */
export async function setPassword(
  deps: AppendDeps & { readonly passwords: PasswordHasher },
  id: string,
  password: string,
): Promise<Account> {
  const account = await readAccount(deps.store, id);
  if (account === undefined) throw unknownAccount();
  if (account.provider !== 'embedded') {
    throw new AppError(
      'not_configured',
      `The identity provider ${account.provider} keeps the password of this account. Change it there.`,
    );
  }
  await checkPassword(password, account.email);
  return commitPassword(deps, id, await deps.passwords.hash(password));
}

interface PasswordChange extends OwnerProof {
  readonly account: string;
  /** The session that requests the change. The change does not end this session. */
  readonly session: string;
  readonly newPassword: string;
}

/**
 * Changes the password for the account's owner. The owner proves the old password. The change ends every other session
 * and revokes every developer key. After an error of the store, the new password may be valid.
 *
 * @throws AppError `not_configured` where the provider keeps the password, `weak_password`, `not_signed_in`,
 *   `invalid_credentials`, `too_many_requests`
 */
export async function changeOwnPassword(
  deps: ChangeDeps & ProofDeps,
  { account: id, session, password, newPassword, signal }: PasswordChange,
): Promise<void> {
  const { passwords } = deps.provider;
  if (passwords === undefined) {
    throw new AppError(
      'not_configured',
      'This service does not keep your password. Request a mail with a link to choose a new one.',
    );
  }
  const account = await requireOpenAccount(deps, id);
  await checkPassword(newPassword, account.email, '/new_password');
  await proveOwner(deps, account, { password, signal });
  const hash = await passwords.hash(newPassword, signal);
  await commitPassword(deps, id, hash, { session, proven: account.password });
}

/**
 * @param own only for a change by the owner: the owner's session, and the hash of the password that the owner proved
 */
async function commitPassword(
  deps: ChangeDeps,
  id: string,
  hash: string,
  own?: { readonly session: string; readonly proven: string | null },
): Promise<Account> {
  const before = new Date(deps.clock.now()).toISOString();
  const except = own?.session ?? null;
  const account = await changeAccount(deps, id, (current) => {
    // Another writer has changed the password since the owner proved the old password.
    if (own !== undefined && current.password !== own.proven) throw notSignedIn();
    return {
      change: 'password',
      password: hash,
      sessionsEnded: { before, except },
      // An attacker who knew the old password may have created developer keys.
      keysNotBefore: before,
    };
  });
  await endAllSessions(deps, id, 'signed_out_everywhere', except);
  await revokeAllDeveloperKeys(deps, id);
  return account;
}
