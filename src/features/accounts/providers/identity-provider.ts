import type { PasswordHasher } from '../passwords/password-hasher.ts';

/** Verifies passwords and registers users. With every provider, this service manages the sessions itself. */
export interface IdentityProvider {
  readonly name: 'embedded' | 'gotrue';
  /**
   * Creates an account for the address if the address has no account. In both cases, the provider does the same work,
   * or takes the same time.
   *
   * The service must not send the result to the client: the result reveals which addresses are registered.
   *
   * @throws AppError `weak_password`, `not_configured` when the provider does not register users,
   *   `identity_provider_unavailable`, `too_many_requests`
   */
  register(person: NewPerson): Promise<Registered>;
  /**
   * Verifies a password.
   *
   * @returns undefined for an unknown address and for a wrong password, after the same time
   * @throws AppError `email_not_verified` when the password is right; `identity_provider_unavailable`,
   *   `too_many_requests`
   */
  verifyPassword(credentials: Credentials): Promise<VerifiedIdentity | undefined>;
  /**
   * Asks the provider to send a mail if the address has an account. The result is the same for an address without an
   * account.
   *
   * @throws AppError `not_configured` when the provider sends no mail, `identity_provider_unavailable`
   */
  requestMail(kind: 'verification' | 'reset', email: string): Promise<void>;
  /** Undefined when the provider keeps the passwords. */
  readonly passwords: PasswordHasher | undefined;
  /** Asks the provider for any answer, for the status page. The promise rejects when the provider does not answer. */
  probe(signal: AbortSignal): Promise<void>;
}

/**
 * The outcome of a registration. `accepted`: the provider does not tell whether the account is new. `not accepted`: the
 * provider refused for a reason that depends on the address.
 */
type Registered = 'created' | 'exists' | 'accepted' | 'not accepted';

export interface Credentials {
  /** See `normalizeEmail`. */
  readonly email: string;
  readonly password: string;
  /** The signal is aborted when the client leaves. The provider then does not have to check the password. */
  readonly signal?: AbortSignal | undefined;
}

export interface NewPerson extends Credentials {
  readonly name: string | null;
}

export interface VerifiedIdentity {
  /** The provider's identifier of the user. The account's id follows from it: see `accountIdOf`. */
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** The tier that the provider's operator set; null for none. Users must not be able to write it. */
  readonly tier: string | null;
}
