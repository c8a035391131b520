import { AppError } from '../errors.ts';
import { notSignedIn } from './access-tokens/access-token.ts';
import { type ChangeDeps, changeAccount, readAccount } from './accounts/account.ts';
import { revokeAllDeveloperKeys } from './developer-keys/developer-keys.ts';
import { checkPassword } from './passwords/password-rule.ts';
import { type ProofDeps, proveOwner } from './passwords/prove-password.ts';
import { endAllSessions } from './sessions/list-sessions.ts';

export interface PasswordChange {
  readonly account: string;
  /** The session that asks, and goes on. */
  readonly session: string;
  readonly password: string;
  readonly newPassword: string;
}

/**
 * A new password, as its owner asks with the old one. It ends every other session and every developer key.
 *
 * @throws AppError `not_configured` where the provider keeps the password, `weak_password`,
 *   `not_signed_in`, those of `proveOwner` and `changeAccount`, and the store's: the new password may be
 *   in force then
 */
export async function changeOwnPassword(
  deps: ChangeDeps & ProofDeps,
  { account: id, session, password, newPassword }: PasswordChange,
): Promise<void> {
  const { passwords } = deps.provider;
  if (passwords === undefined) {
    throw new AppError(
      'not_configured',
      'This service does not keep your password. Ask for a mail to choose a new one.',
    );
  }
  const account = await readAccount(deps.store, id);
  if (account === undefined) throw notSignedIn();
  await deps.guard?.(account);
  await checkPassword(newPassword, account.email, '/new_password');
  await proveOwner(deps, account, password);
  const hash = await passwords.hash(newPassword);
  const now = new Date(deps.clock.now()).toISOString();
  await changeAccount(deps, id, (current) => {
    // What was proven is not the password any more.
    if (current.password !== account.password) throw notSignedIn();
    return {
      change: 'password',
      password: hash,
      sessionsNotBefore: now,
      sessionKept: session,
      keysNotBefore: now,
    };
  });
  await endAllSessions(deps, id, 'logged_out_everywhere', session);
  await revokeAllDeveloperKeys(deps, id);
}
