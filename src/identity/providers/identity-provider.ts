import type { PasswordHasher } from '../passwords/password-hasher.ts';

/** Who proves who somebody is. The session is this service's own, whoever proved it. */
export interface IdentityProvider {
  readonly name: 'embedded' | 'gotrue';
  /**
   * Makes an account for the address unless there is one; takes the same time either way.
   *
   * @returns which of the two; where the provider does not tell, whether it accepted the registration.
   *   Never for a stranger to know
   * @throws AppError `weak_password`, `not_configured` when nobody may register,
   *   `identity_provider_unavailable`, `too_many_requests`, and the store's
   */
  register(person: NewPerson): Promise<Registered>;
  /**
   * Undefined for an unknown address and for a wrong password, after the same time.
   *
   * @throws AppError `email_not_verified`: the password was right;
   *   `identity_provider_unavailable`, `too_many_requests`, and the store's
   */
  verifyPassword(credentials: Credentials): Promise<VerifiedIdentity | undefined>;
  /**
   * Has the provider send a mail, when there is somebody to send it to; nobody learns whether.
   *
   * @throws AppError `not_configured` when the provider sends no mail, `identity_provider_unavailable`
   */
  requestMail(kind: 'verification' | 'reset', email: string): Promise<void>;
  /** Hashes passwords where this service keeps them; undefined where the provider does. */
  readonly passwords: PasswordHasher | undefined;
  /** Whether it answers, for the status page. @throws AppError when it does not */
  probe(signal: AbortSignal): Promise<void>;
}

export type Registered = 'created' | 'exists' | 'accepted' | 'not accepted';

export interface Credentials {
  /** Normalized. */
  readonly email: string;
  readonly password: string;
}

export interface NewPerson extends Credentials {
  readonly name: string | null;
}

export interface VerifiedIdentity {
  /** What the account is found under; see `accountIdOf`. */
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** The provider's claim about the tier; null for none. Never what users may write themselves. */
  readonly tier: string | null;
}
