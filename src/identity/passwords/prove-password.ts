import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { accountIdOf } from '../accounts/account.ts';
import type { Account } from '../accounts/account-document.ts';
import { startPadding } from '../pad-response-time.ts';
import type {
  Credentials,
  IdentityProvider,
  VerifiedIdentity,
} from '../providers/identity-provider.ts';
import type { Lockout } from './lockout.ts';

export interface ProofDeps {
  readonly provider: IdentityProvider;
  readonly lockout: Lockout;
  readonly clock: Clock;
}

/** An account with a history takes longer to read than none: every failure takes as long as the longest. */
export const FAILURE_MS_MIN = 500;

/**
 * Has the provider prove a password, within the limits on tries.
 *
 * @throws AppError `invalid_credentials`, `too_many_requests`, `email_not_verified`,
 *   `identity_provider_unavailable`, `overloaded`, and the store's
 */
export async function provePassword(
  { provider, lockout, clock }: ProofDeps,
  { email, password }: Credentials,
  sentence = 'The address or the password is wrong.',
): Promise<VerifiedIdentity> {
  const waitOutRest = startPadding(clock, FAILURE_MS_MIN);
  // Known before the provider has said anything: by the address, whoever it belongs to.
  const guarded = accountIdOf(provider.name, email);
  await lockout.admit(guarded);
  const identity = await provider.verifyPassword({ email, password });
  if (identity === undefined) {
    await lockout.noteFailure(guarded);
    await waitOutRest();
    throw new AppError('invalid_credentials', sentence);
  }
  await lockout.noteSuccess(guarded);
  return identity;
}

/**
 * Has the owner of an account prove their password once more, for what a stolen token must not do.
 *
 * @throws AppError those of {@link provePassword}
 */
export async function proveOwner(
  deps: ProofDeps,
  account: Account,
  password: string,
): Promise<void> {
  const sentence = 'The password is wrong.';
  const { subject } = await provePassword(deps, { email: account.email, password }, sentence);
  if (subject === account.subject) return;
  // The address is another user's at the provider by now.
  throw new AppError('invalid_credentials', sentence);
}
