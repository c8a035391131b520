import type { Log } from '../../core/log.ts';
import type { Secret } from '../../core/secret.ts';
import type { AppendDeps } from '../../store/sequence/append.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-token.ts';
import type { SigningKeys } from './access-tokens/signing-keys.ts';
import {
  createDeveloperKeyVerifier,
  type DeveloperKeyVerifier,
} from './developer-keys/developer-key-verifier.ts';
import { createLockout, type Lockout } from './passwords/lockout.ts';
import type { IdentityProvider } from './providers/identity-provider.ts';
import type { Registration } from './register.ts';
import { createRefreshTokens } from './sessions/refresh-token.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';

/** The parts of accounts that a running service needs. */
export interface Identity extends AppendDeps {
  readonly provider: IdentityProvider;
  readonly registration: Registration;
  readonly lockout: Lockout;
  readonly sessions: Sessions;
  readonly accessTokens: AccessTokens;
  readonly signingKeys: SigningKeys;
  readonly developerKeys: DeveloperKeyVerifier;
}

interface IdentityOptions
  extends AppendDeps,
    Pick<Identity, 'provider' | 'registration' | 'signingKeys'> {
  readonly log: Log;
  readonly sessionSecret: Secret;
  /** See `AccessTokenOptions`. */
  readonly issuer: string;
}

export function createIdentity(options: IdentityOptions): Identity {
  const { store, clock, randomness, log, provider, registration, signingKeys, issuer } = options;
  const deps = { store, clock, randomness };
  return {
    ...deps,
    provider,
    registration,
    lockout: createLockout(deps),
    sessions: createSessions({ ...deps, log, tokens: createRefreshTokens(options.sessionSecret) }),
    accessTokens: createAccessTokens({ signingKeys, clock, randomness, issuer }),
    signingKeys,
    developerKeys: createDeveloperKeyVerifier({ ...deps, log }),
  };
}
