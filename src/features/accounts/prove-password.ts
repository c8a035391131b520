import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { accountIdOf } from './accounts/account.ts';
import type { Account } from './accounts/account-document.ts';
import { startPadding } from './pad-response-time.ts';
import type { Lockout } from './passwords/lockout.ts';
import type {
  Credentials,
  IdentityProvider,
  VerifiedIdentity,
} from './providers/identity-provider.ts';

export interface ProofDeps {
  readonly provider: IdentityProvider;
  readonly lockout: Lockout;
  readonly clock: Clock;
}

/**
 * The minimum response time of a failure, in milliseconds. Reading an account with many changes takes longer, and this
 * time hides the difference.
 */
export const FAILURE_MS_MIN = 500;

/**
 * Lets the provider verify a password, and limits the tries.
 *
 * @throws AppError `invalid_credentials`, `too_many_requests`, `email_not_verified`, `identity_provider_unavailable`,
 *   `overloaded`
 */
export async function provePassword(
  { provider, lockout, clock }: ProofDeps,
  { email, password, signal }: Credentials,
  message = 'The mail address or the password is wrong.',
): Promise<VerifiedIdentity> {
  const waitOutRest = startPadding(clock, FAILURE_MS_MIN);
  // The limit uses an id that is derived from the address: the provider's identifier of the user is not known yet.
  const limited = accountIdOf(provider.name, email);
  await lockout.admit(limited);
  const identity = await provider.verifyPassword({ email, password, signal });
  if (identity === undefined) {
    await lockout.noteFailure(limited);
    await waitOutRest();
    throw new AppError('invalid_credentials', message);
  }
  await lockout.noteSuccess(limited);
  return identity;
}

/** The proof that the owner of an account sends. */
export type OwnerProof = Pick<Credentials, 'password' | 'signal'>;

/**
 * Verifies the password of an account's owner again, before a change that a stolen token alone must not make.
 *
 * @throws AppError `invalid_credentials`, `too_many_requests`, `email_not_verified`, `identity_provider_unavailable`,
 *   `overloaded`
 */
export async function proveOwner(
  deps: ProofDeps,
  account: Account,
  { password, signal }: OwnerProof,
): Promise<void> {
  const message = 'The password is wrong.';
  const { email } = account;
  const { subject } = await provePassword(deps, { email, password, signal }, message);
  if (subject === account.subject) return;
  // Meanwhile, the provider has given the address to another user.
  throw new AppError('invalid_credentials', message);
}
