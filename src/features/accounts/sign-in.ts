import { AppError, isAppError } from '../../core/errors.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { accountIdOf, createAccount, normalizeEmail, readAccount } from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { changeAccount } from './accounts/change-account.ts';
import { accountLocked } from './identity-errors.ts';
import { type ProofDeps, provePassword } from './prove-password.ts';
import type { Credentials, VerifiedIdentity } from './providers/identity-provider.ts';
import type { Device } from './sessions/begin-session.ts';
import type { OpenSession } from './sessions/open-session.ts';
import type { ClientPlatform } from './sessions/session-document.ts';
import type { Sessions } from './sessions/sessions.ts';

export interface SignInDeps extends AppendDeps, ProofDeps {
  readonly sessions: Sessions;
}

interface SignIn extends Credentials {
  readonly platform: ClientPlatform;
  readonly device: Device;
}

/**
 * Begins a session for a client that sends the right password.
 *
 * An unknown address and a wrong password get the same answer after the same time. Only a client with the
 * right password learns that the account is locked.
 *
 * @throws AppError `invalid_credentials`, `too_many_requests`, `account_locked`, `email_not_verified`,
 *   `identity_provider_unavailable`
 */
export async function signIn(deps: SignInDeps, request: SignIn): Promise<OpenSession> {
  const { sessions, clock } = deps;
  const startedAt = clock.now();
  const { email, password, signal } = request;
  const identity = await provePassword(deps, { email: normalizeEmail(email), password, signal });
  const account = await openAccount(deps, identity);
  if (account.locked !== null) throw accountLocked();
  return sessions.begin(account, request.platform, request.device, startedAt);
}

/** The account of a verified identity. The service creates or updates the account from the provider's answer. */
async function openAccount(deps: SignInDeps, identity: VerifiedIdentity): Promise<Account> {
  const { provider, store } = deps;
  const id = accountIdOf(provider.name, identity.subject);
  const claims = {
    email: normalizeEmail(identity.email),
    emailVerified: identity.emailVerified,
    providerTier: identity.tier,
  };
  const isCurrent = (account: Account): boolean =>
    account.email === claims.email &&
    account.emailVerified === claims.emailVerified &&
    account.providerTier === claims.providerTier;
  const known = await readAccount(store, id);
  if (known !== undefined && isCurrent(known)) return known;
  if (known === undefined) {
    const { subject, name } = identity;
    await createAccount(deps, {
      provider: provider.name,
      subject,
      name,
      password: null,
      ...claims,
    });
  }
  return changeAccount(deps, id, (account) =>
    isCurrent(account) ? undefined : { change: 'updated by the provider', ...claims },
  ).catch((error: unknown) => {
    // The account was erased, and its end marker is still there.
    if (isAppError(error, 'ended') || isAppError(error, 'unknown_account')) {
      throw new AppError(
        'invalid_credentials',
        'This account was deleted. You can register again in two hours.',
      );
    }
    throw error;
  });
}
