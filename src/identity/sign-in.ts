import { AppError, isAppError } from '../errors.ts';
import type { AppendDeps } from '../sequence/append.ts';
import {
  accountIdOf,
  changeAccount,
  createAccount,
  normalizeEmail,
  readAccount,
} from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { type ProofDeps, provePassword } from './passwords/prove-password.ts';
import type { VerifiedIdentity } from './providers/identity-provider.ts';
import type { ClientPlatform } from './sessions/session-document.ts';
import {
  accountLocked,
  type Device,
  type OpenSession,
  type Sessions,
} from './sessions/sessions.ts';

export interface SignInDeps extends AppendDeps, ProofDeps {
  readonly sessions: Sessions;
}

export interface SignIn {
  readonly email: string;
  readonly password: string;
  readonly platform: ClientPlatform;
  readonly device: Device;
}

/**
 * Begins a session for whoever knows the password.
 *
 * An unknown address and a wrong password are told apart by nobody, neither by the answer nor by its
 * time; that an account is locked is told only to those who know its password.
 *
 * @throws AppError `invalid_credentials`, `too_many_requests`, `account_locked`, `email_not_verified`,
 *   `identity_provider_unavailable`, and the store's
 */
export async function signIn(deps: SignInDeps, request: SignIn): Promise<OpenSession> {
  const { sessions, clock } = deps;
  const startedAt = clock.now();
  const { email, password } = request;
  const identity = await provePassword(deps, { email: normalizeEmail(email), password });
  const account = await openAccount(deps, identity);
  if (account.locked !== null) throw accountLocked();
  return sessions.begin(account, request.platform, request.device, startedAt);
}

/** The account of somebody the provider vouches for, brought up to date with what it says. */
async function openAccount(deps: SignInDeps, identity: VerifiedIdentity): Promise<Account> {
  const { provider, store } = deps;
  const id = accountIdOf(provider.name, identity.subject);
  const known = await readAccount(store, id);
  if (known === undefined) {
    await createAccount(deps, {
      provider: provider.name,
      subject: identity.subject,
      email: normalizeEmail(identity.email),
      emailVerified: identity.emailVerified,
      name: identity.name,
      providerTier: identity.tier,
      password: null,
    });
  } else if (!isOutdated(known, identity)) {
    return known;
  }
  return changeAccount(deps, id, (account) =>
    isOutdated(account, identity)
      ? {
          change: 'updated by the provider',
          email: normalizeEmail(identity.email),
          emailVerified: identity.emailVerified,
          providerTier: identity.tier,
        }
      : undefined,
  ).catch((error: unknown) => {
    // Erased a moment ago: until the last of it is gone, nobody signs in to it.
    if (isAppError(error, 'ended') || isAppError(error, 'unknown_account')) {
      throw new AppError(
        'invalid_credentials',
        'This account was deleted. Try again in two hours.',
      );
    }
    throw error;
  });
}

function isOutdated(account: Account, identity: VerifiedIdentity): boolean {
  return (
    account.email !== normalizeEmail(identity.email) ||
    account.emailVerified !== identity.emailVerified ||
    account.providerTier !== identity.tier
  );
}
